"""kill -9 of any part in mid-check: the check ends with its verdict all the same, once, and is charged once.

The supervisor starts the part again, as it does under `make run`.
"""

import pytest
import samples
from product import Product, Visitor, eventually, number_of

LONG = samples.long_text(99_000)  # more than a second of scoring on a fast machine


def meter(product: Product) -> tuple[int, int]:
    """Used and held checks of visitors."""
    return product.rows("SELECT sum(used)::int, sum(held)::int FROM billing_meter WHERE unit = 'checks'")[0]


def is_being_scored(product: Product, number: str) -> bool:
    query = "SELECT r.status FROM detector_submission s JOIN gpujobs_gpurun r ON r.id = s.run_id WHERE s.id = %s"
    return product.rows(query, number) == [("running",)]


@pytest.mark.parametrize("part", ["score", "web", "redis", "postgres"])
def test_a_check_survives_the_death_of(product: Product, visitor: Visitor, part: str) -> None:
    visitor.check(samples.HUMAN)  # whoever was killed before is back at work
    used, held = meter(product)
    assert held == 0
    with product.paused("score"):  # a fast machine would be done before the post answers
        address = visitor.post(LONG)
    number = number_of(address)
    eventually(lambda: is_being_scored(product, number))
    product.kill(part, meanwhile=lambda: (visitor.page(address), visitor.page("/"), visitor.page("/history/")))

    found = visitor.verdict(address)

    assert found.label in ("human", "mixed", "ai")
    assert visitor.statuses <= {200, 503}, "a page that says so, whatever is away"
    ((status, attempts, reservation),) = product.rows(
        "SELECT s.status, s.attempts, r.status FROM detector_submission s JOIN billing_reservation r"
        " ON r.id = s.reservation_id WHERE s.id = %s",
        number,
    )
    assert (status, reservation) == ("done", "settled")
    assert attempts == (2 if part == "score" else attempts) <= 3
    assert product.rows("SELECT count(*) FROM detector_verdict WHERE submission_id = %s", number) == [(1,)]
    assert meter(product) == (used + 1, 0)
    assert visitor.check(samples.AI).label == "ai", "and the next one works as before"
