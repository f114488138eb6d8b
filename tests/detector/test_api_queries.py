"""What a request of the API asks of the database: a number of statements, which no change raises unseen."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import samples
from api_calls import Caller

from billing.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

Statements = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def caller(alice: User) -> Caller:
    """Has asked before: its key's last use is written once a minute, its meter once a month."""
    found = Caller(alice)
    found.check(f"{samples.HUMAN} And before.")
    return found


def batch(caller: Caller, name: str, count: int) -> None:
    texts = [{"text": f"{samples.HUMAN} It is number {number} of {name}."} for number in range(count)]
    assert caller.post("/detections/batch", {"texts": texts}).status_code == 202


def test_usage_asks_for_the_key_and_the_meter(caller: Caller, django_assert_num_queries: Statements) -> None:
    with django_assert_num_queries(2):
        assert caller.get("/usage").status_code == 200


def test_a_page_of_a_list_asks_for_its_rows_and_the_words_left(
    caller: Caller, django_assert_num_queries: Statements
) -> None:
    for number in range(3):
        caller.check(f"{samples.HUMAN} It is number {number}.")
    with django_assert_num_queries(3):
        assert len(caller.get("/detections").json()["items"]) == 4


def test_a_create_takes_eleven_statements(caller: Caller, django_assert_num_queries: Statements) -> None:
    """Key, model, begin, known?, meter, its guarded update, reservation, row, who listens, commit; words left."""
    with django_assert_num_queries(11):
        caller.check(f"{samples.HUMAN} And now.")


def test_fifty_texts_of_a_batch_take_no_more_than_five(
    caller: Caller, django_assert_max_num_queries: Statements
) -> None:
    for name, count in (("few", 5), ("many", 50)):
        with django_assert_max_num_queries(25):
            batch(caller, name, count)
