"""The staff's page about alerts: whose it is, what it says, votes and mutes."""

from collections.abc import Callable
from datetime import timedelta

import factories
import pytest
from django.test import Client
from django.utils import timezone
from page_reading import broken_rules, words

from billing.models import User
from gpujobs.models import Alert, AlertMute, AlertVote, AuditEntry

pytestmark = pytest.mark.django_db
PAGE, MUTES = "/staff/alerts/", "/staff/alerts/mutes"
OF = "gpu:runpod/NVIDIA RTX A4000"


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(factories.person("sam", is_staff=True, is_superuser=True))
    return client


def alert(rule: str = "day", series: str = OF, *, days: int = 1, over: bool = False) -> Alert:
    at = timezone.now() - timedelta(days=days)
    return Alert.objects.create(
        rule=rule,
        series=series,
        period=at,
        began_at=at - timedelta(hours=9),
        raised_at=at,
        ended_at=at + timedelta(hours=5) if over else None,
        service="inference",
        model_version="v1",
        hours=24,
        actual_nanousd=12_000_000_000,
        expected_nanousd=7_000_000_000,
        enter_nanousd=3_000_000_000,
        an_hour_nanousd=200_000_000,
        days=28,
        facts={
            "top": [["service:inference", 5_000_000_000], ["version:v1", 4_900_000_000], ["kind:idle", 900_000_000]],
            "forecast": [250_000_000_000, 240_000_000_000, 260_000_000_000],
        },
    )


def test_it_is_the_staffs_alone(client_of: Callable[[User], Client], alice: User) -> None:
    vote = f"{PAGE}{alert().pk}/vote"
    assert client_of(alice).get(PAGE).status_code == 403
    assert Client().get(PAGE)["Location"].startswith("/accounts/login/?next=")
    for address in (vote, MUTES):
        assert client_of(alice).post(address, {"useful": "1"}).status_code == 403
        assert Client().post(address)["Location"].startswith("/accounts/login/?next=")
        assert client_of(alice).get(address).status_code == 405
    assert not AlertVote.objects.exists()


def test_without_alerts_it_says_what_is_watched(staff: Client) -> None:
    said = words(staff.get(PAGE))
    assert "None was raised yet" in said
    assert "Precision –useful, of those that you judged (n = 0 of 0)" in said


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_keeps_every_pages_rules(language: str, staff: Client) -> None:
    for rule, of in (("hours", "all"), ("week", "version:v1"), ("price", OF), ("day", "kind:idle"),
                     ("forgotten", "machine:training/runpod/A"), ("forecast", "budget:global-month"),
                     ("budget_soft", "budget:x"), ("budget_hard", "budget:x")):  # fmt: skip
        alert(rule, of, over=rule.startswith("budget"))
    answer = staff.get(PAGE, headers={"accept-language": language})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert broken_rules(answer) == []


def test_it_says_what_was_and_leads_to_it(staff: Client) -> None:
    made = alert()
    AuditEntry.objects.create(action="budget_changed", subject="global-month", actor="sam@example.com", reason="Class")
    answer = staff.get(PAGE)
    said = words(answer)
    for part in (
        "NVIDIA RTX A4000 (runpod): $12.00 in 24 hours, where $7.00 is ordinary",
        "$0.200 an hour more",
        "Checks on GPUs +$5.00, Model version v1 +$4.90, Idle time of workers +$0.900",
        "At the month's end: $250.00 (8 of 10 such months lie between $240.00 and $260.00)",
        "Nothing was changed in the two days before",
    ):
        assert part in said, part
    link = answer.content.decode().split('href="/staff/costs/lines/?')[1].split('"')[0].replace("&amp;", "&")
    assert staff.get(f"/staff/costs/lines/?{link}").status_code == 200
    assert f'id="alert-{made.pk}"' in answer.content.decode()


def test_a_vote_is_one_of_each_and_can_be_changed(staff: Client) -> None:
    made = alert(over=True)
    assert staff.post(f"{PAGE}{made.pk}/vote", {"useful": "1"})["Location"] == f"{PAGE}#alert-{made.pk}"
    assert "1 of 1" in words(staff.get(PAGE))
    staff.post(f"{PAGE}{made.pk}/vote", {"useful": "0"})
    assert [vote.useful for vote in AlertVote.objects.all()] == [False]
    assert "0 of 1useful, of those that you judged (n = 1 of 1)" in words(staff.get(PAGE))
    assert staff.post(f"{PAGE}{made.pk + 1}/vote", {"useful": "1"}).status_code == 400
    assert staff.post(f"{PAGE}{10**30}/vote", {"useful": "1"}).status_code == 400


def test_a_series_is_muted_with_a_reason_and_taken_back(staff: Client) -> None:
    alert()
    until = (timezone.now() + timedelta(days=3)).date().isoformat()
    assert staff.post(MUTES, {"series": OF, "until": until, "reason": ""}).status_code == 400
    assert staff.post(MUTES, {"series": "all", "until": until, "reason": "Class"}).status_code == 400
    assert staff.post(MUTES, {"series": OF, "until": "soon", "reason": "Class"}).status_code == 400
    assert not AlertMute.objects.exists()
    assert staff.post(MUTES, {"series": OF, "until": until, "reason": "Class"}).status_code == 302
    said = words(staff.get(PAGE))
    assert "sam@example.com Class Tell me again" in said
    assert AuditEntry.objects.get(action="alerts_muted").subject == OF
    staff.post(MUTES, {"series": OF, "end": "1", "reason": "ended early"})
    assert "Tell me again" not in words(staff.get(PAGE))


def test_it_goes_on_page_by_page(staff: Client) -> None:
    first = alert(days=40, over=True)
    for number in range(20):
        alert(days=30 - number, over=True)
    answer = staff.get(PAGE)
    assert f'id="alert-{first.pk}"' not in answer.content.decode()
    link = answer.content.decode().split('href="?before=')[1].split('"')[0]
    assert f'id="alert-{first.pk}"' in staff.get(f"{PAGE}?before={link}").content.decode()
    assert staff.get(f"{PAGE}?before=x").status_code == 400


def test_the_page_about_costs_names_what_fires_now(staff: Client) -> None:
    now, past = alert(), alert("week", "all", over=True)
    page = staff.get("/staff/costs/").content.decode()
    assert f'href="/staff/alerts/#alert-{now.pk}"' in page
    assert f"#alert-{past.pk}" not in page
