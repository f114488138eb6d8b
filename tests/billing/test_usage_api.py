"""GET /usage and the ledger of words: the account's own, in pages that stay where they are."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing import keys, ledger, quota
from billing.accounts import Owner, account_of, allowance_of
from billing.models import User, WordEntry

USAGE, ENTRIES = "/api/v1/usage", "/api/v1/usage/entries"
MadeKey = Callable[..., keys.Issued]


def note(user: User, kind: str = "charged", words: int = 0) -> uuid.UUID:
    check = uuid.uuid4()
    ledger.note(account_of(user), check, ledger.Kind(kind), words)
    return check


def ids(page: dict) -> list[str]:
    return [entry["id"] for entry in page["items"]]


def test_everything_is_left_at_first(api: Client) -> None:
    words = api.get(USAGE).json()["words"]
    assert (words["limit"], words["used"], words["held"], words["left"]) == (10_000, 0, 0, 10_000)


def test_it_tells_used_from_held(api: Client, alice: User) -> None:
    allowance = allowance_of(Owner(account=account_of(alice)), timezone.now())
    quota.settle(quota.reserve(allowance=allowance, amount=300, now=timezone.now()))
    quota.reserve(allowance=allowance, amount=50, now=timezone.now())
    answer = api.get(USAGE)
    found = answer.json()
    assert (found["words"]["used"], found["words"]["held"], found["words"]["left"]) == (300, 50, 9_650)
    assert '"words";r=9650' in answer["RateLimit"]
    assert found["plan"] == "free"
    assert found["requests"]["limit"] == 60
    assert found["requests"]["left"] == 59


def test_a_test_key_says_that_it_is_one(alice: User, key_of: MadeKey) -> None:
    token = key_of(alice, live=False).token
    assert Client().get(USAGE, headers={"Authorization": f"Bearer {token}"}).json()["live"] is False


def test_each_check_has_one_line_whoever_ends_it_twice(api: Client, alice: User) -> None:
    check = note(alice, words=120)
    ledger.note(account_of(alice), check, ledger.Kind.FAILED)
    (line,) = api.get(ENTRIES).json()["items"]
    assert (line["detection"], line["kind"], line["words"]) == (str(check), "charged", 120)


def test_each_replay_is_a_line_of_its_own(api: Client, alice: User) -> None:
    check = note(alice, words=120)
    for _n in range(2):
        ledger.note(account_of(alice), check, ledger.Kind.REPLAYED)
    lines = api.get(f"{ENTRIES}?detection={check}").json()["items"]
    assert sorted((line["kind"], line["words"]) for line in lines) == [
        ("charged", 120), ("replayed", 0), ("replayed", 0)
    ]  # fmt: skip


def test_visitors_have_no_ledger(db: None) -> None:
    ledger.note(None, uuid.uuid4(), ledger.Kind.CHARGED, 10)
    assert not WordEntry.objects.exists()


def test_it_shows_lines_of_one_kind(api: Client, alice: User) -> None:
    note(alice, "failed")
    note(alice, "cached")
    assert [line["kind"] for line in api.get(f"{ENTRIES}?kind=failed").json()["items"]] == ["failed"]


def test_nobody_sees_the_lines_of_others(api: Client, bob: User) -> None:
    check = note(bob)
    assert api.get(ENTRIES).json()["items"] == []
    assert api.get(f"{ENTRIES}?detection={check}").json()["items"] == []


def test_pages_stay_where_they_are_while_lines_are_added(api: Client, alice: User) -> None:
    for _n in range(7):
        note(alice)
    # Three of them at the same moment: a batch.
    same = WordEntry.objects.order_by("at").values("pk")[2:5]
    WordEntry.objects.filter(pk__in=same).update(at=timezone.now() - timedelta(minutes=1))
    before = [str(pk) for pk in WordEntry.objects.order_by("-at", "pk").values_list("pk", flat=True)]
    page = api.get(f"{ENTRIES}?limit=2").json()
    found = ids(page)
    while page["next"]:
        note(alice)
        page = api.get(page["next"]).json()
        found += ids(page)
    assert found == before
    assert page["next_cursor"] is None


def test_a_page_costs_the_same_number_of_queries_anywhere(api: Client, alice: User, django_assert_num_queries) -> None:
    for _n in range(5):
        note(alice)
    page = api.get(f"{ENTRIES}?limit=2").json()
    with django_assert_num_queries(3):  # the key, the page, the words left
        api.get(page["next"])


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "bad_limit"),
        ("limit=101", "bad_limit"),
        ("limit=-1", "bad_limit"),
        ("limit=ten", "bad_limit"),
        ("limit=%D9%A3", "bad_limit"),
        ("cursor=x", "bad_cursor"),
        ("cursor=%00", "bad_cursor"),
        ("cursor=" + "A" * 300, "bad_cursor"),
        ("cursor=WzEsMl0", "bad_cursor"),  # [1,2]
        ("cursor=WzEsIngiXQ", "bad_cursor"),  # [1,"x"]
        ("cursor=W10", "bad_cursor"),  # []
        ("cursor=Wy05OSwiNmE2ZDZhNmQtMDAwMC00MDAwLTgwMDAtMDAwMDAwMDAwMDAwIl0", "bad_cursor"),  # [-99,"6a6d…"]
        ("kind=unknown", "bad_kind"),
        ("kind=", "bad_kind"),
        ("detection=1", "bad_id"),
        ("detection=", "bad_id"),
    ],
)
def test_it_names_what_is_wrong_with_a_question(api: Client, query: str, code: str) -> None:
    answer = api.get(f"{ENTRIES}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
