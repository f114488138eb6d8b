"""More pages wait for a verdict than there are database connections: the others are served as if nobody waited."""

import time
from concurrent.futures import ThreadPoolExecutor

import samples
from product import Product, Visitor

WAITING = 40  # the pool of the web process has 16
HTMX = {"HX-Request": "true"}
STARTED_SECONDS = 1.5  # by then every poll has looked at its row
AT_ONCE_SECONDS = 3.0  # a pool without a free connection answers after five


def test_it_serves_others_while_many_pages_wait(product: Product, visitor: Visitor) -> None:
    visitor.form()
    with product.away("score"), ThreadPoolExecutor(WAITING) as pages:
        address = visitor.post(samples.AI)
        polls = [pages.submit(visitor.http.get, f"{address}status", headers=HTMX) for _ in range(WAITING)]
        time.sleep(STARTED_SECONDS)  # not a wait for something: the polls must be waiting when we look
        begin = time.monotonic()
        front = Visitor(product).http.get("/")
        taken = time.monotonic() - begin
        assert not any(poll.done() for poll in polls), "they wait"
        assert front.status_code == 200
        assert taken < AT_ONCE_SECONDS
        assert {poll.result().status_code for poll in polls} == {200}
    assert visitor.verdict(address).label == "ai"
