"""A part stays away for a while: pages say so or go on, and what was taken meanwhile is done when it is back."""

import time

import pytest
import samples
from product import Product, Visitor

QUICK_SECONDS = 6.0  # the page's own first wait for a verdict, and a loaded machine


def test_while_the_database_is_away_pages_say_when_to_come_back(product: Product, visitor: Visitor) -> None:
    form = visitor.form() | {"text": samples.HUMAN}
    with product.away("postgres"):
        for answer in (visitor.http.get("/"), visitor.http.post("/check", data=form)):
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert "Nothing is lost" in answer.text
        assert visitor.http.get("/healthz").status_code == 200, "the page's process itself is well"
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
