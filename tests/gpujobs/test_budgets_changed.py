"""Budgets as people handle them: made, changed, set aside; each with a reason, in a log that nobody changes."""

import io
from datetime import datetime, timedelta
from typing import Any

import factories
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from gpujobs import budget_changes, budgets, checks
from gpujobs.models import AuditEntry, Budget, BudgetOverride, Price
from inkcloak.errors import Invalid
from inkcloak.money import NANO

pytestmark = pytest.mark.django_db
NOW = factories.NOW
WHY: dict[str, Any] = {"actor": "dora@example.com", "reason": "a big customer"}


def month(dollars: int = 25) -> Budget:
    return budget_changes.make(scope=Budget.Scope.GLOBAL, period="month", hard_nanousd=dollars * NANO, **WHY)


def hold(amount: int, now: datetime = NOW) -> None:
    budgets.reserve(run=None, service="inference", amount_nanousd=amount, now=now, expires=now + timedelta(minutes=1))


# --- Verbs ----------------------------------------------------------------------------------------------------------


def test_a_change_is_in_the_log_with_both_values() -> None:
    budget = budget_changes.change(month(), hard_nanousd=30 * NANO, **WHY)
    assert budget.hard_nanousd == 30 * NANO
    last = AuditEntry.objects.first()
    assert last is not None
    assert (last.action, last.subject, last.actor, last.reason) == ("budget_changed", "global-month", *WHY.values())
    assert (last.before, last.after) == ({"hard_nanousd": 25 * NANO}, {"hard_nanousd": 30 * NANO})
    budget_changes.change(budget, hard_nanousd=30 * NANO, **WHY)
    assert AuditEntry.objects.count() == 2, "nothing changed, nothing to tell"


def test_the_log_is_never_changed() -> None:
    month()
    for touch in (lambda: AuditEntry.objects.update(reason=""), lambda: AuditEntry.objects.all().delete()):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            touch()


def test_an_override_lets_work_go_on_until_its_end() -> None:
    budget = month(0)
    with pytest.raises(budgets.UsedUp):
        hold(5)
    until = NOW + timedelta(hours=2)
    made = budget_changes.override(budget, extra_nanousd=10, until=until, now=NOW, **WHY)
    hold(5)
    (status,) = budgets.status(NOW)
    assert (status.limit, status.extra, status.left) == (10, 10, 5)
    with pytest.raises(budgets.UsedUp):
        hold(6)
    with pytest.raises(budgets.UsedUp):
        hold(1, until)
    assert AuditEntry.objects.filter(action="budget_overridden").get().after["until"] == until.isoformat()
    budget_changes.override(budget, extra_nanousd=0, until=until, now=NOW, **WHY)
    assert [each.limit for each in budgets.status(NOW)] == [0], "the last one counts"
    assert made.reason == WHY["reason"]


@pytest.mark.parametrize(
    "values",
    [{"hard_nanousd": -1}, {"soft_nanousd": 26 * NANO}, {"zone": "Nowhere/Land"}, {"zone": "../x"}, {"reason": " "}],
    ids=str,
)
def test_it_refuses_nonsense(values: dict[str, Any]) -> None:
    budget = month()
    with pytest.raises(Invalid):
        budget_changes.change(budget, **WHY | values)
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(("extra", "hours"), [(-1, 1), (1, 0), (1, 32 * 24)])
def test_it_refuses_an_override_without_end_or_sense(extra: int, hours: int) -> None:
    with pytest.raises(Invalid):
        budget_changes.override(month(), extra_nanousd=extra, until=NOW + timedelta(hours=hours), now=NOW, **WHY)


def test_there_is_one_of_a_kind() -> None:
    month()
    with pytest.raises(Invalid) as caught:
        month()
    assert caught.value.code == "budget_exists"
    with pytest.raises(Invalid):
        budget_changes.make(scope=Budget.Scope.SERVICE, period="day", hard_nanousd=1, **WHY)


# --- The command ----------------------------------------------------------------------------------------------------


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("budgets", *words, stdout=out)
    return out.getvalue()


def test_the_command_sets_and_shows() -> None:
    assert "No budget is set" in command()
    shown = command("--set", "global", "month", "25", "--set", "training", "day", "$0.50", "--reason", "the first ones")
    assert "global-month" in shown
    assert "$25.00" in shown
    assert "UTC" in shown
    assert "may begin" in shown
    assert Budget.objects.get(name="training-day").soft_nanousd == 400_000_000
    assert "$30.00" in command("--set", "global", "month", "30", "--reason", "more")
    assert "used up" in command("--set", "global", "month", "0", "--reason", "stop")
    command("--set", "global", "month", "off", "--reason", "enough of it")
    assert [status.budget.name for status in budgets.status(NOW)] == ["training-day"]
    assert AuditEntry.objects.filter(actor="command").count() == 5


@pytest.mark.parametrize(
    "words",
    [("planet", "day", "1"), ("global", "week", "1"), ("global", "day", "much"), ("global", "day", "off")],
    ids=" ".join,
)
def test_the_command_says_what_is_wrong(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        command("--set", *words, "--reason", "why not")


def test_the_command_wants_a_reason_and_names_what_cannot_be_read() -> None:
    with pytest.raises(CommandError, match="audit"):
        command("--set", "global", "day", "1")
    command("--set", "global", "day", "1", "--reason", "a first one")
    Budget.objects.update(zone="Nowhere/Land")
    with pytest.raises(CommandError, match="global-day"):
        command()


# --- The admin ------------------------------------------------------------------------------------------------------

OVERRIDE = "/staff/gpujobs/budgetoverride/add/"


def signed_in() -> Client:
    """Some time ago, so that the password is asked for again."""
    client = Client()
    client.force_login(factories.person("dora", is_staff=True, is_superuser=True))
    return client


def reauthenticated(client: Client, address: str, data: dict[str, Any]) -> Any:
    """Posts, gives the password where it is asked for, and follows."""
    asked = client.post(address, data)
    assert asked.status_code == 302
    assert "/accounts/reauthenticate/" in asked["Location"]
    return client.post(asked["Location"], {"password": factories.PASSWORD}, follow=True)


def test_the_admin_overrides_after_another_look_at_the_password() -> None:
    budget, client = month(), signed_in()
    until = timezone.now() + timedelta(hours=2)
    data = {
        "budget": budget.pk,
        "extra_nanousd": "2.5",
        "until_0": f"{until:%Y-%m-%d}",
        "until_1": f"{until:%H:%M:%S}",
        "reason": "a big customer",
    }
    reauthenticated(client, OVERRIDE, data)
    made = BudgetOverride.objects.get()
    assert (made.extra_nanousd, made.reason) == (2_500_000_000, "a big customer")
    assert made.made_by is not None
    last = AuditEntry.objects.first()
    assert last is not None
    assert (last.action, last.actor) == ("budget_overridden", "dora@example.com")


def test_a_wrong_password_overrides_nothing() -> None:
    budget, client = month(), signed_in()
    asked = client.post(OVERRIDE, {"budget": budget.pk})
    client.post(asked["Location"], {"password": "not this one at all"}, follow=True)
    assert not BudgetOverride.objects.exists()


def test_the_admin_makes_and_changes_a_budget_and_shows_how_it_stands() -> None:
    client = signed_in()
    data = {"scope": "1global", "period": "day", "zone": "Europe/Madrid", "hard_nanousd": "2", "active": "on"}
    reauthenticated(client, "/staff/gpujobs/budget/add/", data | {"reason": "a first one"})
    budget = Budget.objects.get()
    assert (budget.name, budget.zone, budget.soft_nanousd) == ("global-day", "Europe/Madrid", 1_600_000_000)
    address = f"/staff/gpujobs/budget/{budget.pk}/change/"
    answer = client.post(address, {"zone": "UTC", "hard_nanousd": "1", "soft_nanousd": "3", "reason": "less"})
    assert "The warning comes at the limit or below it." in answer.content.decode()
    client.post(address, {"zone": "UTC", "hard_nanousd": "3", "soft_nanousd": "", "active": "on", "reason": "more"})
    budget.refresh_from_db()
    assert (budget.hard_nanousd, budget.soft_nanousd) == (3 * NANO, None)
    page = client.get("/staff/gpujobs/budget/").content.decode()
    assert "$3.00" in page
    assert "enough" in page
    Budget.objects.update(zone="Nowhere/Land")
    assert client.get("/staff/gpujobs/budget/").status_code == 200
    assert AuditEntry.objects.filter(action="budget_changed").values_list("reason", flat=True)[0] == "more"


# --- Settings -------------------------------------------------------------------------------------------------------


def test_nonsense_in_the_settings_is_named(settings: Any) -> None:
    def found() -> list[str]:
        return [str(message.id) for message in checks.budgets_make_sense(None)]

    assert found() == []
    settings.BUDGET_ZONE, settings.BUDGET_SOFT_PERCENT = "Nowhere/Land", 120
    assert found() == ["gpujobs.E001", "gpujobs.E002"]
    settings.BUDGET_ZONE, settings.BUDGET_SOFT_PERCENT = "Europe/Madrid", 80
    settings.BUDGETS_NANOUSD = {"global-day": 9, "global-month": 5, "training-month": 6, "training-day": 1}
    assert found() == ["gpujobs.W001", "gpujobs.W002"]


def test_a_price_is_added_and_never_changed() -> None:
    client = signed_in()
    assert client.get("/staff/gpujobs/price/").status_code == 200
    data = {"provider": "runpod", "gpu_type": "A_POOL_OF_TOMORROW", "mode": "flex", "unit": "hour"}
    told = {"amount_nanousd": "0.576", "source": "its price list", "as_of": "2026-11-30"}
    client.post("/staff/gpujobs/price/add/", data | told | {"valid_from_0": "2026-11-30", "valid_from_1": "00:00:00"})
    price = Price.objects.get(gpu_type="A_POOL_OF_TOMORROW")
    assert price.amount_nanousd == 576_000_000
    answer = client.post(f"/staff/gpujobs/price/{price.pk}/change/", data | {"amount_nanousd": "0.1"})
    assert answer.status_code == 403
