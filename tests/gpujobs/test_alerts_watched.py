"""Alerts with rows: told once, to all of the staff and the chat; missed ticks, mutes, budgets, failing servers."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import httpx
import pytest
from django.core import mail

from billing.models import User
from gpujobs import budget_watch, ledger, tasks
from gpujobs.alerts import judging, sending, showing, telling, watching
from gpujobs.checks import alerts_have_an_address
from gpujobs.models import (
    Alert,
    AlertClock,
    AlertDelivery,
    AlertMute,
    AlertWatch,
    AuditEntry,
    CostEntry,
    CostQuarter,
)
from inkcloak.errors import Invalid
from inkcloak.money import NANO

pytestmark = pytest.mark.django_db
START = datetime(2026, 10, 5, tzinfo=UTC)  # a Monday
HOUR = timedelta(hours=1)
ORDINARY = NANO // 2
CARD, POD_CARD = "NVIDIA RTX A4000", "NVIDIA RTX A5000"
BEGIN = START + timedelta(days=30)  # of what is out of the ordinary
HOOK = "https://chat.example/hooks/T1"


@pytest.fixture
def sam() -> User:
    return factories.person("sam", is_staff=True)


@pytest.fixture
def history(sam: User) -> None:
    """Thirty days of half a dollar an hour, and nothing else."""
    post([entry(START + number * HOUR, ORDINARY, ms=600_000) for number in range(30 * 24)])


def entry(at: datetime, amount: int, *, ms: int, kind: str = "execution", gpu: str = CARD) -> CostEntry:
    return CostEntry(
        kind=kind,
        service="training" if kind == "training" else "inference",
        provider="runpod",
        gpu_type=gpu,
        model_version="v1",
        milliseconds=ms,
        amount_nanousd=amount,
        at=at,
        source_ref=str(uuid.uuid4()),
    )


def post(entries: list[CostEntry]) -> None:
    ledger.post(entries)


def pod(hours: int, begin: datetime = BEGIN) -> None:
    """A forgotten one beside the ordinary."""
    for number in range(hours):
        at = begin + number * HOUR
        post(
            [
                entry(at, NANO * 27 // 100, ms=3_600_000, kind="training", gpu=POD_CARD),
                entry(at, ORDINARY, ms=600_000),
            ]
        )


def ordinary(hours: int, begin: datetime) -> None:
    post([entry(begin + number * HOUR, ORDINARY, ms=600_000) for number in range(hours)])


def ticks(hours: int, begin: datetime = BEGIN, minutes: int = 16) -> list[Alert]:
    """Once an hour, a quarter after its end."""
    moments = (begin + (number + 1) * HOUR + timedelta(minutes=minutes) for number in range(hours))
    return [alert for moment in moments for alert in watching.tick(moment)]


def deliver(now: datetime, *answers: int) -> tuple[int, list[dict[str, Any]]]:
    """How many left, and what the chat got. answers: its statuses, one by one."""
    got: list[dict[str, Any]] = []
    left: Iterator[int] = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == HOOK
        got.append(json.loads(request.content))
        return httpx.Response(next(left, 200))

    return sending.deliver_due(clock=lambda: now, transport=httpx.MockTransport(answer)), got


@pytest.mark.usefixtures("history")
def test_a_forgotten_pod_is_told_once() -> None:
    pod(24)
    (alert,) = ticks(24)
    assert (alert.rule, alert.series) == ("forgotten", f"machine:training/runpod/{POD_CARD}")
    assert alert.began_at == BEGIN
    assert alert.raised_at <= BEGIN + 8 * HOUR
    assert (alert.service, alert.model_version) == ("training", "v1")
    assert showing.now_firing() == [alert]


@pytest.mark.usefixtures("history")
def test_missed_ticks_are_caught_up_and_doubled_ones_find_nothing() -> None:
    pod(24)
    watching.tick(BEGIN + timedelta(minutes=16))
    late = BEGIN + 24 * HOUR + timedelta(minutes=16)
    (alert,) = watching.tick(late)
    assert alert.raised_at <= BEGIN + 8 * HOUR
    rows = list(AlertWatch.objects.values_list("rule", "series", "status", "since"))
    assert watching.tick(late) == watching.tick(late + timedelta(minutes=15)) == []
    assert rows == list(AlertWatch.objects.values_list("rule", "series", "status", "since"))
    assert AlertClock.objects.get().evaluated == BEGIN + 23 * HOUR


@pytest.mark.usefixtures("history")
def test_it_ends_when_the_pod_is_gone_and_comes_back_once_a_day_at_most() -> None:
    pod(8)
    ordinary(4, BEGIN + 8 * HOUR)
    pod(8, BEGIN + 12 * HOUR)
    (alert,) = ticks(12)
    alert.refresh_from_db()
    assert alert.ended_at is not None
    assert not AlertWatch.objects.filter(rule="forgotten").exclude(status="ok").exists()
    assert ticks(8, BEGIN + 12 * HOUR) == []
    alert.refresh_from_db()
    assert alert.ended_at is None
    assert AlertWatch.objects.get(rule="forgotten", series=alert.series).alert_id == alert.pk


@pytest.mark.usefixtures("history")
def test_everybody_is_told_once_in_both_languages(settings: Any) -> None:
    settings.ALERT_WEBHOOK_URL = HOOK
    factories.person("kim", is_staff=True)
    factories.person("gone", is_staff=True, is_active=False)
    factories.person("alice")
    pod(8)
    (alert,) = ticks(8)
    sent, (message,) = deliver(BEGIN + 9 * HOUR)
    assert sent == 3
    assert sorted(each.to[0] for each in mail.outbox) == ["kim@example.com", "sam@example.com"]
    assert deliver(BEGIN + 20 * HOUR) == (0, [])
    assert len(mail.outbox) == 2
    body = str(mail.outbox[0].body)
    for said in ("$1.62 in 6 h", "$0.270 an hour", "Nov. 4, 2026, midnight (UTC)", "Nothing was changed",
                 f"gpu_type={POD_CARD.replace(' ', '+')}", f"/staff/alerts/#alert-{alert.pk}"):  # fmt: skip
        assert said in body, said
    assert message["text"] in body
    assert [block["type"] for block in message["blocks"]] == ["section"] * 3


@pytest.mark.usefixtures("history")
def test_a_trend_that_is_faster_than_the_rule_names_the_machine_without_work() -> None:
    pod(8)
    pod(8)
    post([entry(BEGIN + number * HOUR, NANO, ms=3_600_000, kind="training", gpu=POD_CARD) for number in range(8)])
    (alert,) = ticks(8)
    assert alert.rule == "hours"
    assert f"No run works on: Training on {POD_CARD} (runpod)." in telling.told(alert).lines


@pytest.mark.usefixtures("history")
def test_a_trend_says_against_what_where_and_what_was_changed(sam: User) -> None:
    post([entry(BEGIN + number * HOUR, NANO * 2, ms=2_400_000) for number in range(12)])
    AuditEntry.objects.create(action="budget_changed", subject="global-month", actor="sam", reason="A <class> begins")
    (alert,) = ticks(8)
    told = telling.told(alert, lately=telling.changes.between(datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)))
    assert alert.rule == "hours"
    assert "where $2.00 is ordinary" in told.title
    said = "\n".join(told.lines)
    for part in ("$1.50 an hour more", "median of 28 days", "At the month's end: ", "Checks on GPUs +$"):
        assert part in said, part


def test_a_chat_is_sent_no_markup_of_people() -> None:
    assert sending._escaped("<!channel> & <a|b>") == "&lt;!channel&gt; &amp; &lt;a|b&gt;"


@pytest.mark.usefixtures("history")
def test_a_chat_that_fails_is_tried_again_and_given_up(settings: Any) -> None:
    settings.ALERT_WEBHOOK_URL = HOOK
    pod(8)
    ticks(8)
    now = BEGIN + 9 * HOUR
    assert deliver(now, 503)[0] == 1  # the mail
    row = AlertDelivery.objects.get(channel="webhook")
    assert (row.status, row.tries, row.error) == ("due", 1, "status_503")
    assert deliver(now + timedelta(minutes=9)) == (0, [])
    assert deliver(now + timedelta(minutes=10), 302)[0] == 0
    for _ in range(4):
        now += timedelta(days=1)
        deliver(now, 500)
    row.refresh_from_db()
    assert (row.status, row.tries) == ("failed", 6)
    assert deliver(now + timedelta(days=9)) == (0, [])


@pytest.mark.usefixtures("history")
def test_what_somebody_died_over_is_sent_by_another_one_later() -> None:
    pod(8)
    ticks(8)
    now = BEGIN + 9 * HOUR
    row = AlertDelivery.objects.get()
    assert sending._claim(row.pk, now)
    assert not sending._claim(row.pk, now)
    assert deliver(now + timedelta(minutes=29))[0] == 0
    assert deliver(now + timedelta(minutes=31))[0] == 1


@pytest.mark.usefixtures("history")
def test_a_mute_keeps_one_series_quiet_until_it_ends(sam: User) -> None:
    pod(30)
    of = f"machine:training/runpod/{POD_CARD}"
    Alert.objects.create(
        rule="forgotten", series=of, period=START, began_at=START, raised_at=START, ended_at=START + HOUR, hours=6,
        actual_nanousd=1, expected_nanousd=0, enter_nanousd=1,
    )  # fmt: skip
    until = BEGIN + 20 * HOUR
    judging.mute(of, until=until, reason="A long training", user=sam, now=BEGIN)
    found = ticks(19)
    assert of not in {alert.series for alert in found}
    assert AuditEntry.objects.get(action="alerts_muted").actor == "sam@example.com"
    assert AuditEntry.objects.get(action="alerts_muted").subject == of
    assert AlertWatch.objects.get(series=of).status == "firing"
    for wrong in ({"reason": " "}, {"reason": "x" * 201}, {"until": BEGIN + timedelta(days=99)}):
        with pytest.raises(Invalid):
            judging.mute(of, **{"until": until, "reason": "again", "user": sam, "now": BEGIN} | wrong)
    assert AlertMute.objects.count() == 1


@pytest.mark.usefixtures("sam")
def test_a_budgets_limits_are_alerts_once_a_period(settings: Any) -> None:
    settings.BUDGETS_NANOUSD = {"global-day": NANO}
    now = datetime(2026, 11, 30, 12, 7, tzinfo=UTC)
    post([entry(now, NANO * 9 // 10, ms=1)])
    budget_watch.notice(now)
    assert [alert.rule for alert in watching.tick(now)] == ["budget_soft"]
    post([entry(now, NANO, ms=1)])
    budget_watch.notice(now)
    (alert,) = watching.tick(now)
    assert "is used up: $1.90 of $1.00" in telling.title(alert)
    assert watching.tick(now) == []
    assert len(showing.now_firing(now)) == 2
    assert showing.now_firing(now + timedelta(days=1)) == []
    assert AlertDelivery.objects.count() == 2


@pytest.mark.usefixtures("history")
def test_a_month_that_will_pass_its_budget_is_told_while_there_is_time(settings: Any) -> None:
    settings.BUDGETS_NANOUSD = {"global-month": 300 * NANO}
    ordinary(48, BEGIN)
    (alert,) = ticks(48)
    assert alert.rule == "forecast"
    assert "$360.00 by the month's end, where its budget is $300.00" in telling.title(alert)


def test_nothing_happens_where_nothing_was_ever_spent(sam: User) -> None:
    tasks.alert()
    assert not Alert.objects.exists()
    assert not CostQuarter.objects.exists()


@pytest.mark.usefixtures("history")
def test_everybody_of_the_staff_has_one_vote(sam: User) -> None:
    pod(8)
    (alert,) = ticks(8)
    kim = factories.person("kim", is_staff=True)
    assert (showing.precision().useful, showing.precision().judged) == (0, 0)
    judging.vote(alert.pk, sam, useful=False)
    judging.vote(alert.pk, sam, useful=True)
    assert (showing.precision().useful, showing.precision().judged, showing.precision().raised) == (1, 1, 1)
    judging.vote(alert.pk, kim, useful=False)
    assert (showing.precision().useful, showing.precision().judged) == (0, 0)
    with pytest.raises(Invalid):
        judging.vote(alert.pk + 1, sam, useful=True)


@pytest.mark.parametrize("address", ["http://chat.example/x", "chat.example", "https://", "https://[", "https://x:y/"])
def test_a_chats_address_in_the_clear_stops_the_start(address: str, settings: Any) -> None:
    settings.ALERT_WEBHOOK_URL = address
    assert [problem.id for problem in alerts_have_an_address(None)] == ["gpujobs.E003"]
    for good in ("", HOOK):
        settings.ALERT_WEBHOOK_URL = good
        assert alerts_have_an_address(None) == []
