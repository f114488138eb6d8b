"""A part stays away for a while: pages say so or go on, and what was taken meanwhile is done when it is back."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import samples
from product import Product, Visitor, eventually

WAITING_PAGES = 40  # more than the pool has connections
QUICK_SECONDS = 6.0  # the page's own first wait for a verdict, and a loaded machine


def test_while_the_database_is_away_pages_say_when_to_come_back(product: Product, visitor: Visitor) -> None:
    form = visitor.form() | {"text": samples.HUMAN}
    with product.away("postgres"):
        for answer in (visitor.http.get("/"), visitor.http.post("/check", data=form)):
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert "Nothing is lost" in answer.text
        assert visitor.http.get("/healthz").status_code == 200, "the page's process itself is well"
    eventually(lambda: visitor.page("/"))  # the pool of connections tries again after a pause
    assert visitor.check(samples.HUMAN).label == "human"


@pytest.mark.parametrize("part", ["redis", "score"])
def test_a_text_taken_meanwhile_gets_its_verdict_later(product: Product, visitor: Visitor, part: str) -> None:
    visitor.form()
    with product.away(part):
        begin = time.monotonic()
        address = visitor.post(samples.AI)
        assert time.monotonic() - begin < QUICK_SECONDS
        assert "Checking your text" in visitor.page(address)
    assert visitor.verdict(address).label == "ai"


def test_many_waiting_pages_leave_room_for_others(product: Product, visitor: Visitor) -> None:
    """Each waiting page asks the database now and then; none may keep a connection of the pool meanwhile."""
    with ThreadPoolExecutor(WAITING_PAGES) as everybody:
        with product.away("score"):
            address = visitor.post(samples.HUMAN)
            waiting = [everybody.submit(wait_beside, visitor, address) for _ in range(WAITING_PAGES)]
            for _ in range(5):
                begin = time.monotonic()
                assert visitor.http.get("/").status_code == 200
                assert time.monotonic() - begin < QUICK_SECONDS
            assert not any(page.done() for page in waiting)
        assert all("section" in page.result() for page in waiting)
    assert visitor.verdict(address).label == "human"


def wait_beside(visitor: Visitor, address: str) -> str:
    """One more open result page of the same person, waiting as htmx does."""
    cookies = dict(visitor.http.cookies)
    answer = httpx.get(f"{address}status", headers={"HX-Request": "true"}, cookies=cookies, timeout=60)
    assert answer.status_code == 200
    return answer.text
