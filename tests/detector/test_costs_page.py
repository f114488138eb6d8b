"""The staff's page about costs: whose it is, what it says, what its address may ask, and where its bars lead."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import factories
import ledger_seed
import pytest
from django.test import Client
from django.utils import timezone
from page_reading import broken_rules, words

from billing.models import User
from gpujobs import date_ranges, ledger
from gpujobs.models import CostEntry, ModelVersion
from inkcloak import money

pytestmark = pytest.mark.django_db
PAGE, LINES, WEEK = "/staff/costs/", "/staff/costs/lines/", "/staff/costs/week/"
FILES = ("/staff/costs/days.csv", "/staff/costs/lines.csv")


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(factories.person("sam", is_staff=True, is_superuser=True))
    return client


def seeded() -> datetime:
    now = timezone.now()
    ledger_seed.fill(now)
    return now


@pytest.mark.parametrize("page", [PAGE, LINES, WEEK, *FILES])
def test_it_is_the_staffs_alone(page: str, client_of: Callable[[User], Client], alice: User) -> None:
    assert client_of(alice).get(page).status_code == 403
    assert Client().get(page)["Location"].startswith("/accounts/login/?next=")
    assert Client().post(page).status_code == 405


@pytest.mark.parametrize("page", [PAGE, LINES, WEEK, *FILES])
def test_it_opens_where_nothing_was_ever_spent(page: str, staff: Client) -> None:
    answer = staff.get(page)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


def test_an_empty_ledger_has_dashes_and_no_figures(staff: Client) -> None:
    said = words(staff.get(PAGE))
    assert "A check –n = 0" in said
    assert "less than two weeks of history" in said


def test_it_says_what_was_spent_by_whom_and_what_comes(staff: Client, champion: ModelVersion) -> None:
    now = seeded()
    said = words(staff.get(f"{PAGE}?period=30days&zone=UTC"))
    chosen = date_ranges.named("30days", "UTC", now)
    assert money.shown(ledger.spent(chosen.start, chosen.end)) in said
    for word in (
        "NVIDIA RTX A4000",
        "Account ",
        "test-version-1-before",
        "8 of 10 such months",
        "n = 28 days",
        "idle time",
    ):
        assert word in said, word
    assert re.search(r"29 days are reconciled|28 days are reconciled", said)


@pytest.mark.parametrize("period", date_ranges.NAMES[:-1])
@pytest.mark.parametrize("zone", ["Europe/Madrid", "Asia/Kathmandu"])
def test_every_period_opens(period: str, zone: str, staff: Client) -> None:
    assert staff.get(PAGE, {"period": period, "zone": zone}).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"zone": "Mars/Base"},
        {"zone": "localtime"},
        {"period": "century"},
        {"period": "custom"},
        {"period": "custom", "from": "yesterday", "to": "2026-11-01"},
        {"period": "custom", "from": "2026-11-02", "to": "2026-11-01"},
        {"period": "custom", "from": "0001-01-01", "to": "0001-01-02"},
        {"period": "custom", "from": "2024-01-01", "to": "2026-01-01"},
        {"period": "custom", "from": "2999-01-01", "to": "2999-01-02"},
        {"period": "custom", "from": "9999-12-31", "to": "9999-12-31"},
    ],
    ids=str,
)
def test_a_wrong_question_gets_an_answer_that_says_so(wrong: dict[str, str], staff: Client) -> None:
    answer = staff.get(PAGE, wrong)
    assert answer.status_code == 400
    assert "Below is what is shown otherwise." in words(answer)
    for page in (LINES, *FILES):
        assert staff.get(page, wrong).status_code == 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "bribes"},
        {"service": "catering"},
        {"account": "alice"},
        {"gpu_type": "a\x00b"},
        {"provider": "x" * 61},
        {"after": "2026-11-01"},
        {"after": "2026-11-01T10:00:00_5"},
        {"after": "2026-99-01T10:00:00+00:00_5"},
        {"after": f"2026-11-01T10:00:00+00:00_{2**63}"},
        {"after": "1999-11-01T10:00:00+00:00_5"},
    ],
    ids=str,
)
def test_lines_that_there_cannot_be_are_refused(wrong: dict[str, str], staff: Client) -> None:
    assert staff.get(LINES, wrong).status_code == 400


def test_a_week_that_there_cannot_be_is_refused(staff: Client) -> None:
    for wrong in ("soon", "1999-01-01", "2999-01-01", "9999-12-31"):
        assert staff.get(WEEK, {"week": wrong}).status_code == 400


def test_a_bar_leads_to_its_lines_and_these_to_earlier_ones(staff: Client) -> None:
    at = datetime(2026, 6, 1, 12, tzinfo=UTC)
    ledger.post(
        CostEntry(
            kind="idle", service="inference", provider="runpod", at=at, amount_nanousd=n, source_ref=f"line-{n:03}"
        )
        for n in range(250)
    )
    page = staff.get(f"{PAGE}?period=custom&from=2026-05-30&to=2026-06-02&zone=UTC").content.decode()
    (bar,) = set(re.findall(r'<a href="(/staff/costs/lines/\?[^"]*from=2026-06-01[^"]*)" aria-label', page))
    seen: list[str] = []
    following = bar.replace("&amp;", "&")
    while following:
        body = staff.get(following).content.decode()
        seen += re.findall(r"<code>(line-\d+)</code>", body)
        found = re.search(r'<a href="([^"]+)" rel="next"', body)
        following = found[1].replace("&amp;", "&") if found else ""
    assert seen == [f"line-{n:03}" for n in range(249, -1, -1)]


def test_lines_are_chosen_by_the_address(staff: Client) -> None:
    at = timezone.now() - timedelta(minutes=1)
    plain = {"service": "inference", "provider": "runpod", "at": at, "amount_nanousd": 1}
    ledger.post(
        [
            CostEntry(kind="idle", source_ref="of-nobody", gpu_type="A4000", **plain),
            CostEntry(kind="storage", source_ref="without-card", **plain),
        ]
    )
    assert "of-nobody" in words(staff.get(LINES, {"kind": "idle", "gpu_type": "A4000"}))
    only = words(staff.get(LINES, {"gpu_type": ""}))
    assert "without-card" in only
    assert "of-nobody" not in only
    assert "of-nobody" in words(staff.get(LINES, {"account": str(ledger.UNALLOCATED)}))


def test_files_hold_every_line_and_nothing_that_a_sheet_would_run(staff: Client) -> None:
    at = timezone.now() - timedelta(minutes=1)
    plain = {"service": "inference", "provider": "runpod", "at": at}
    ledger.post(
        [
            CostEntry(kind="execution", source_ref="a", gpu_type="=cmd()", amount_nanousd=1_000, **plain),
            CostEntry(kind="adjustment", source_ref="b", note="-2+3 @x", amount_nanousd=-1_500_000_000, **plain),
        ]
    )
    lines = b"".join(staff.get("/staff/costs/lines.csv?period=30days").streaming_content).decode("utf-8-sig")
    assert len(lines.splitlines()) == 3
    assert '"\'=cmd()"' in lines
    assert '"\'-2+3 @x"' in lines
    assert "-1500000000," in lines
    assert '"-1.500000000"' in lines
    days = staff.get("/staff/costs/days.csv?period=30days").content.decode("utf-8-sig")
    assert '"\'=cmd()"' in days
    assert '"0.000001000"' in days


def test_late_lines_count_for_their_day(staff: Client) -> None:
    yesterday = timezone.now() - timedelta(days=1)
    ledger.post(
        [
            CostEntry(
                kind="idle", service="inference", provider="runpod", at=yesterday, amount_nanousd=7 * money.NANO,
                source_ref="late",
            )
        ]
    )  # fmt: skip
    assert "Spent $7.00" in words(staff.get(f"{PAGE}?period=yesterday&zone=UTC"))
    assert "Spent $0.00" in words(staff.get(f"{PAGE}?period=today&zone=UTC"))


def test_it_speaks_spanish(staff: Client, champion: ModelVersion) -> None:
    seeded()
    page = staff.get(PAGE, headers={"Accept-Language": "es"}).content.decode()
    assert 'lang="es"' in page
    assert re.search(r"\$\d+,\d\d", page), "a comma before cents"


def test_it_keeps_the_houses_rules_for_pages(staff: Client, champion: ModelVersion) -> None:
    seeded()
    for page in (PAGE, LINES, WEEK):
        answer = staff.get(page)
        assert broken_rules(answer) == []
        assert "unsafe" not in answer["Content-Security-Policy"]
