"""The portal's page: cancel, change the plan, another card, invoices. Buttons are there as the configuration says."""

import copy
from typing import Any

from aiohttp import web

from tests.loopback.stripe import cards, customers, html, lines, schedules, subscription_api, subscriptions
from tests.loopback.stripe.errors import Refusal, invalid
from tests.loopback.stripe.gate import WORLD
from tests.loopback.stripe.money import shown
from tests.loopback.stripe.pages import day, form_of, found
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import Call, World


def routes() -> list[web.RouteDef]:
    """One page, one door for its buttons."""
    return [web.get("/portal/{id}", portal_page), web.post("/portal/{id}/{act}", portal_act)]


async def portal_page(request: web.Request) -> web.Response:
    """Everything of a customer."""
    world = request.app[WORLD]
    return _page(world, found(world, "billing_portal.session", request.match_info["id"]), "")


async def portal_act(request: web.Request) -> web.Response:
    """A button."""
    world, typed = request.app[WORLD], await form_of(request)
    session = found(world, "billing_portal.session", request.match_info["id"])
    try:
        act(world, session, request.match_info["act"], typed)
    except Refusal as refusal:
        return _page(world, session, str(refusal))
    flow = session["flow"]
    if flow and flow["after_completion"]["type"] == "redirect":
        raise web.HTTPSeeOther(flow["after_completion"]["redirect"]["return_url"])
    raise web.HTTPSeeOther(f"/portal/{session['id']}")


def act(world: World, session: Json, name: str, typed: dict[str, str]) -> None:
    """What a button does; also the control door's way. Raises Refusal."""
    customer = customers.living(world, session["customer"])
    if name == "card":
        _card(world, customer, typed)
        return
    sub = world.store.get("subscription", typed.get("subscription"))
    features = world.store.get("billing_portal.configuration", session["configuration"])["features"]
    if sub["customer"] != customer["id"]:
        raise invalid("This subscription is somebody else's.")
    if name == "cancel":
        if not features["subscription_cancel"]["enabled"]:
            raise invalid("The portal's configuration lets nobody cancel.")
        _cancel(world, sub, features["subscription_cancel"], typed)
    elif name == "keep":
        subscription_api.update(world, Call((sub["id"],), {"cancel_at_period_end": "false"}))
    elif name == "change":
        if not features["subscription_update"]["enabled"]:
            raise invalid("The portal's configuration lets nobody change the plan.")
        _change(world, sub, features["subscription_update"], typed)
    else:
        raise invalid("The portal has no such button.")


def _card(world: World, customer: Json, typed: dict[str, str]) -> None:
    card = cards.of(typed.get("card", ""))
    if card.decline:
        raise cards.declined(card.decline)
    method = customers.add_card(world, customer, card.number)
    for sub in world.store.all("subscription", customer=customer["id"]):
        if sub["status"] not in subscriptions.OVER:
            before = copy.deepcopy(sub)
            sub["default_payment_method"] = method["id"]
            world.changed("customer.subscription.updated", sub, before)


def _cancel(world: World, sub: Json, feature: Json, typed: dict[str, str]) -> None:
    details = {"cancellation_details": {"feedback": typed.get("feedback", "")}} if typed.get("feedback") else {}
    if sub["schedule"]:
        schedules.release(world, Call((sub["schedule"],), {}))
    if feature["mode"] == "immediately":
        subscription_api.cancel(world, Call((sub["id"],), details))
    else:
        subscription_api.update(world, Call((sub["id"],), {"cancel_at_period_end": "true", **details}))


def _change(world: World, sub: Json, feature: Json, typed: dict[str, str]) -> None:
    """Up at once with the configured proration; down at the period's end when the configuration says so."""
    item = subscriptions.licensed(sub)[0]
    price = world.store.get("price", typed.get("price"), "price")
    cheaper = lines.cost(world, price, 1, sub["currency"]) < lines.cost(world, item["price"], 1, sub["currency"])
    conditions = {each.get("type") for each in feature["schedule_at_period_end"]["conditions"]}
    if cheaper and "decreasing_item_amount" in conditions:
        _later(world, sub, item, price)
        return
    given: dict[str, Any] = {"items": [{"id": item["id"], "price": price["id"]}],
                             "proration_behavior": feature["proration_behavior"]}  # fmt: skip
    subscription_api.update(world, Call((sub["id"],), given))


def _later(world: World, sub: Json, item: Json, price: Json) -> None:
    schedule = sub["schedule"] or schedules.create(world, Call((), {"from_subscription": sub["id"]}))["id"]
    running = world.store.get("subscription_schedule", schedule)["phases"][0]
    others = [{"price": each["price"]["id"]} for each in sub["items"]["data"] if each is not item]
    present = [
        {"price": each["price"]["id"], "quantity": str(each.get("quantity") or 1)} for each in sub["items"]["data"]
    ]
    now = {"start_date": str(running["start_date"]), "end_date": str(running["end_date"]), "items": present}
    after = {"items": [{"price": price["id"], "quantity": str(item.get("quantity") or 1)}, *others], "iterations": "1"}
    schedules.update(world, Call((schedule,), {"phases": [now, after], "end_behavior": "release"}))


# --- The page -----------------------------------------------------------------------------------------------------


def _page(world: World, session: Json, problem: str) -> web.Response:
    customer = world.store.get("customer", session["customer"])
    features = world.store.get("billing_portal.configuration", session["configuration"])["features"]
    parts = [html.problem(problem)]
    for sub in world.store.all("subscription", customer=customer["id"]):
        if sub["status"] not in subscriptions.OVER:
            parts.append(_subscription(world, session, sub, features))
    if features["payment_method_update"]["enabled"]:
        parts.append(html.section("Card", _present_card(world, customer), html.form(
            f"/portal/{session['id']}/card", html.card_choice(), button="Use this card", name="card")))  # fmt: skip
    if features["invoice_history"]["enabled"]:
        rows = [f'<li><a href="{row["hosted_invoice_url"]}">{row["number"]}</a>: '
                f"{shown(row['total'], row['currency'])}, {row['status']}</li>"
                for row in reversed(world.store.all("invoice", customer=customer["id"])) if row["number"]]  # fmt: skip
        parts.append(html.section("Invoices", f"<ul>{''.join(rows)}</ul>"))
    if session["return_url"]:
        parts.append(html.link(session["return_url"], "Back", "back"))
    return html.page("Your subscription", *parts, status=400 if problem else 200)


def _present_card(world: World, customer: Json) -> str:
    chosen = customer["invoice_settings"]["default_payment_method"]
    method = world.store.rows.get("payment_method", {}).get(chosen or "")
    return html.said(f"Card …{method['card']['last4']}" if method else "No card")


def _subscription(world: World, session: Json, sub: Json, features: Json) -> str:
    item, mine = subscriptions.licensed(sub)[0], html.hidden("subscription", sub["id"])
    until = day(subscriptions.period(sub).end)
    words = "Ends on" if sub["cancel_at_period_end"] else "Renews on"
    parts = [html.said(f"{sub['status']}. {words} {until}.")]
    base = f"/portal/{session['id']}"
    if sub["cancel_at_period_end"]:
        parts.append(html.form(f"{base}/keep", mine, button="Keep it after all", name="keep"))
    elif features["subscription_cancel"]["enabled"]:
        parts.append(html.form(f"{base}/cancel", mine, button="Cancel subscription", name="cancel", quiet=True))
    if features["subscription_update"]["enabled"]:
        options = [(price["id"], _price_words(world, price, sub["currency"]))
                   for price in _offered(world, features["subscription_update"], sub)]  # fmt: skip
        parts.append(html.form(f"{base}/change", mine, html.choice("price", "Plan", options, item["price"]["id"]),
                               button="Change plan", name="change"))  # fmt: skip
    return html.section(lines.product_name(world, item["price"]), *parts)


def _offered(world: World, feature: Json, sub: Json) -> list[Json]:
    listed = {price for each in feature.get("products", ()) for price in each["prices"]}
    return [
        price for price in world.store.all("price")
        if price["active"] and price["recurring"] and not lines.metered(price)
        and (price["id"] in listed or not listed)
        and sub["currency"] in world.secret(price["id"])["currency_options"]
    ]  # fmt: skip


def _price_words(world: World, price: Json, currency: str) -> str:
    amount = shown(lines.cost(world, price, 1, currency), currency)
    return f"{lines.product_name(world, price)}, {amount} a {price['recurring']['interval']}"
