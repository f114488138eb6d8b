"""The plan from what Stripe has to what plans.toml wants: pure, and empty the second time."""

from typing import Any

import pytest
from django.conf import LazySettings

from billing import catalogue, plans
from billing.catalogue import ENDPOINTS, KINDS, PORTAL, PRICES, PRODUCTS, Step

EMPTY: dict[str, list[Any]] = {kind: [] for kind in KINDS}


@pytest.fixture(autouse=True)
def _public(settings: LazySettings) -> None:
    settings.PUBLIC_URL = "https://inkcloak.example"


def as_made(steps: list[Step]) -> dict[str, list[Any]]:
    """What Stripe has once the steps are done, with more than was asked for."""
    have: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for number, step in enumerate(steps):
        have[step.kind].append({"id": f"x{number}", "active": True, "status": "enabled", "object": "?", **step.params})
    return have


def test_an_empty_account_gets_a_product_for_each_plan_a_price_for_each_way_to_pay_a_portal_and_an_endpoint() -> None:
    steps = catalogue.plan(catalogue.wanted(), EMPTY)
    kinds = [step.kind for step in steps]
    assert kinds == [PRODUCTS] * 3 + [PRICES] * 12 + [PORTAL, ENDPOINTS]
    (pro,) = [step for step in steps if step.name == "inkcloak_pro_v1_year_eur"]
    assert pro.params["unit_amount"] == plans.get("pro", 1).prices["year", "eur"]  # type: ignore[union-attr]
    assert pro.params["recurring"] == {"interval": "year"}
    assert steps[-1].params["url"] == "https://inkcloak.example/hooks/stripe/"
    assert steps[-1].params["api_version"] == "2026-10-28.endive"


def test_there_is_nothing_to_do_the_second_time() -> None:
    have = as_made(catalogue.plan(catalogue.wanted(), EMPTY))
    assert catalogue.plan(catalogue.wanted(), have) == []


def test_what_somebody_changed_by_hand_is_put_right() -> None:
    have = as_made(catalogue.plan(catalogue.wanted(), EMPTY))
    have[PRODUCTS][0]["name"] = "Something"
    have[PRICES][0]["active"] = False
    have[ENDPOINTS][0]["status"] = "disabled"
    have[ENDPOINTS][0]["enabled_events"] = ["invoice.paid"]
    steps = catalogue.plan(catalogue.wanted(), have)
    assert [set(step.params) for step in steps] == [{"name"}, {"active"}, {"enabled_events", "disabled"}]
    assert all(step.id and not step.refused for step in steps)


def test_another_amount_under_a_version_that_may_be_sold_is_refused() -> None:
    have = as_made(catalogue.plan(catalogue.wanted(), EMPTY))
    have[PRICES][0]["unit_amount"] += 100
    (step,) = catalogue.plan(catalogue.wanted(), have)
    assert "unit_amount" in step.refused
    assert "new version" in step.refused
    assert not step.params


def test_there_is_no_endpoint_where_stripe_could_not_reach_it(settings: LazySettings) -> None:
    settings.PUBLIC_URL, settings.STRIPE_API_BASE = "http://127.0.0.1:8000", "https://api.stripe.com"
    assert ENDPOINTS not in {step.kind for step in catalogue.plan(catalogue.wanted(), EMPTY)}
    settings.STRIPE_API_BASE = "http://127.0.0.1:9"
    assert ENDPOINTS in {step.kind for step in catalogue.plan(catalogue.wanted(), EMPTY)}
