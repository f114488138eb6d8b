"""Lists: newest first, stable under inserts, and a page that costs the same however many rows there are."""

import json
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import factories
import pytest
import samples
from api_calls import Caller
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing.models import User
from detector.models import Submission
from gpujobs.models import ModelVersion

pytestmark = pytest.mark.django_db

LONG_AGO = datetime(2026, 1, 1, tzinfo=factories.NOW.tzinfo)


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


@pytest.fixture
def rows(caller: Caller, champion: ModelVersion):
    """rows(500): so many finished checks of hers, three of which always share a moment."""

    def made(count: int, since: datetime = LONG_AGO) -> None:
        Submission.objects.bulk_create(
            Submission(
                account=caller.account,
                source="api",
                digest=f"{n:064}",
                text="x",
                characters=1,
                words=60,
                language="en",
                model_version=champion,
                status="failed",
                accepted_at=since + timedelta(minutes=n // 3),
                deadline_at=since,
            )
            for n in range(count)
        )

    return made


def walked(caller: Caller, query: str) -> list[str]:
    """The ids of every page, by the addresses that pages give."""
    found: list[str] = []
    address = f"/detections?{query}"
    while address:
        page = caller.get(address).json()
        found += [row["id"] for row in page["items"]]
        address = page["next"] and f"/detections?{urlsplit(page['next']).query}"
    return found


def test_every_row_comes_once_and_newest_first(caller: Caller, rows) -> None:
    rows(50)
    expected = Submission.objects.order_by("-accepted_at", "pk").values_list("pk", flat=True)
    assert walked(caller, "limit=7") == [str(pk) for pk in expected]


def test_a_page_stands_whatever_is_added_meanwhile(caller: Caller, rows) -> None:
    rows(20)
    before = walked(caller, "limit=20")
    first = caller.get("/detections?limit=10").json()
    rows(5, since=timezone.now())
    second = caller.get(f"/detections?limit=10&cursor={first['next_cursor']}").json()
    assert [row["id"] for page in (first, second) for row in page["items"]] == before


def test_a_page_says_what_the_list_is_for_and_no_more(caller: Caller, champion: ModelVersion) -> None:
    factories.checked(factories.owner(caller.key.account.personal_of), samples.AI)
    (row,) = caller.get("/detections").json()["items"]
    assert (row["verdict"], row["probability"], row["source"], row["live"]) == ("ai", 0.99, "page", True)
    assert row["usage"]["words_charged"] == row["words"]
    assert not {"segments", "cleaned", "left_out", "rate_card", "text"} & row.keys()


def test_a_page_takes_as_many_queries_for_a_hundred_rows_as_for_one(caller: Caller, rows) -> None:
    rows(120)
    caller.get("/detections")  # the first of a minute writes down that the key was used
    counts = set()
    for limit in (1, 100):
        with CaptureQueriesContext(connection) as asked:
            assert len(caller.get(f"/detections?limit={limit}").json()["items"]) == limit
        counts.add(len(asked))
    assert len(counts) == 1


def test_no_page_reads_more_rows_than_it_shows(caller: Caller, rows) -> None:
    """Read off the plan of the very query: the index carries the order, so nothing is sorted or thrown away."""
    rows(4_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE detector_submission")
    cursor_of_the_middle = None
    for _ in range(5):
        following = f"&cursor={cursor_of_the_middle}" if cursor_of_the_middle else ""
        cursor_of_the_middle = caller.get(f"/detections?limit=100{following}").json()["next_cursor"]
    with CaptureQueriesContext(connection) as asked:
        caller.get(f"/detections?limit=25&cursor={cursor_of_the_middle}")
    (query,) = [q["sql"] for q in asked if "ORDER BY" in q["sql"] and "detector_submission" in q["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
        plan = cursor.fetchone()[0]
    plan = plan if isinstance(plan, list) else json.loads(plan)
    scans = [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == "detector_submission"]
    assert {node["Index Name"] for node in scans} == {"submission_history"}
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans) <= 25 + 10


def nodes(plan: dict) -> list[dict]:
    """A plan and all that is below it."""
    return [plan, *(inner for below in plan.get("Plans", ()) for inner in nodes(below))]


def test_a_colleagues_page_holds_nothing_of_hers(caller: Caller, rows, bob: User) -> None:
    rows(3)
    assert Caller(bob).get("/detections").json() == {"items": [], "next": None, "next_cursor": None}
