"""`manage.py plan`: prints all that a plan rests on, counts with the prices of the ledger, and refuses with a code."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from gpujobs import plans
from gpujobs.models import Price
from gpujobs.planning import planner, words
from gpujobs.planning.assumptions import STANDARD
from gpujobs.planning.question import Question

pytestmark = pytest.mark.django_db
LARGE = "10000000"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("plan", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_plan_plot_and_assumptions() -> None:
    said = run("--dau", LARGE)
    for row in STANDARD.values():
        assert f"  {row.name}=" in said
    for name in words.WAYS.values():
        assert str(name) in said
    assert "Cheapest within the wish" in said
    assert "$10,000,000" in said  # the plot's right edge


def test_its_json_is_the_plan() -> None:
    wanted = planner.plan(Question(int(LARGE)), plans.book(now=timezone.now())).to_json()
    assert json.loads(run("--dau", LARGE, "--json")) == json.loads(json.dumps(wanted))


@pytest.mark.parametrize("arguments", [["--dau", "0"], ["--dau", "nan"], ["--dau", "5", "--set", "price.pod=unknown"]])
def test_it_refuses_with_a_code(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match=r"bad_question|price_unknown"):
        run(*arguments)


def test_it_plans_without_a_database() -> None:
    command = [sys.executable, "manage.py", "plan", "--dau", LARGE, "--json"]
    environment = os.environ | {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "list prices as they ship" in done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["assumptions"]}
    assert rows["price.serverless_flex"] == STANDARD["price.serverless_flex"].to_json()


# --- Prices in the database ---------------------------------------------------------------------------------------


def test_list_prices_are_those_that_the_ledger_counts_with() -> None:
    """The same amounts stand in both: a price that changes must change the plan."""
    found = plans.book(now=timezone.now())
    for name in plans.ROWS:
        assert found.nanousd(name) == STANDARD.nanousd(name)
    assert "(price " in found["price.serverless_flex"].source
    assert found["price.pod"] == STANDARD["price.pod"]  # only the secure cloud's is listed


def test_a_price_that_changed_changes_the_plan_from_then_on() -> None:
    now = timezone.now()
    old = Price.objects.get(provider="runpod", gpu_type="AMPERE_16", mode=Price.Mode.FLEX)
    Price.objects.create(
        provider="runpod",
        gpu_type="AMPERE_16",
        mode=Price.Mode.FLEX,
        amount_nanousd=2 * old.amount_nanousd,
        source="a mail",
        as_of=now.date(),
        valid_from=now,
    )
    assert plans.book(now=now - timedelta(days=1)).nanousd("price.serverless_flex") == old.amount_nanousd
    row = plans.book(now=now)["price.serverless_flex"]
    assert (row.value, row.as_of) == (2 * STANDARD["price.serverless_flex"].value, now.date().isoformat())
    given = plans.book(["price.serverless_flex=0.1"], now=now)["price.serverless_flex"]
    assert given == replace(row, value=given.value, source="given with this plan", as_of="")
