"""Checkout sessions in subscription mode: made by the product, completed on the page, or they expire."""

import copy
from typing import Any

from tests.loopback.stripe import cards, customers, discounts, lines, subscriptions
from tests.loopback.stripe.catalogue import unit_in
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import flag, merged, whole
from tests.loopback.stripe.errors import Refusal, invalid, required
from tests.loopback.stripe.shapes import blank
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.subscription_api import trial_end_of, wanted_items
from tests.loopback.stripe.world import Call, World

LEAST_SECONDS, MOST_SECONDS = 30 * 60, DAY
PLACEHOLDER = "{CHECKOUT_SESSION_ID}"


def create(world: World, call: Call) -> Json:
    """Nothing is made but the session; what was asked for is kept until it is paid."""
    given, now = call.params, world.clock.now()
    if given.get("mode") != "subscription":
        raise invalid("The double has mode=subscription only.", "mode")
    if not given.get("success_url"):
        raise required("success_url")
    wanted = wanted_items(world, given.get("line_items"), "line_items")
    if all(price["recurring"] is None for price, _ in wanted):
        raise invalid("You must provide at least one recurring price in `subscription` mode.", "line_items")
    currency = str(given.get("currency") or wanted[0][0]["currency"]).lower()
    customer = customers.living(world, given["customer"]) if given.get("customer") else None
    if customer and given.get("customer_email"):
        raise invalid("You may only specify one of these parameters: customer, customer_email.", "customer")
    if (
        flag(given.get("tax_id_collection") or {}, "enabled")
        and customer
        and not (given.get("customer_update") or {}).get("name")
    ):
        raise invalid(
            "Tax ID collection requires updating business name on the customer. To enable tax ID collection for an "
            "existing customer, please set `customer_update[name]` to `auto`.", "tax_id_collection",
        )  # fmt: skip
    if flag(given, "allow_promotion_codes") and given.get("discounts"):
        raise invalid("You may only specify one of these parameters: allow_promotion_codes, discounts.", "discounts")
    expires_at = whole(given, "expires_at", now + MOST_SECONDS) or 0
    if not now + LEAST_SECONDS <= expires_at <= now + MOST_SECONDS:
        raise invalid("The `expires_at` timestamp must be between 30 minutes and 24 hours from now.", "expires_at")
    session = _made(world, given, customer, currency, expires_at)
    hidden = world.secret(session["id"])
    hidden.update(wanted=[{"price": price["id"], "quantity": quantity} for price, quantity in wanted],
                  subscription_data=copy.deepcopy(given.get("subscription_data") or {}), discount=None)  # fmt: skip
    _sum_up(world, session)
    entries = discounts.asked(given.get("discounts"))
    if entries:
        set_discount(world, session, entries[0])
    world.clock.at(expires_at, "session", session["id"])
    return session


def _made(world: World, given: Json, customer: Json | None, currency: str, expires_at: int) -> Json:
    session = world.make(
        "checkout.session", "cs_live" if world.livemode else "cs_test",
        client_reference_id=given.get("client_reference_id"),
        allow_promotion_codes=flag(given, "allow_promotion_codes") or None, currency=currency, custom_fields=[],
        automatic_tax={"enabled": flag(given.get("automatic_tax") or {}, "enabled"), "liability": None,
                       "provider": None, "status": None},
        billing_address_collection=given.get("billing_address_collection"), cancel_url=given.get("cancel_url"),
        customer=customer["id"] if customer else None, customer_creation=None if customer else "always",
        customer_email=given.get("customer_email"), locale=given.get("locale"), expires_at=expires_at,
        custom_text=dict.fromkeys(("after_submit", "shipping_address", "submit", "terms_of_service_acceptance")),
        metadata=merged({}, given.get("metadata")), mode="subscription", payment_method_types=["card"],
        payment_method_collection=given.get("payment_method_collection") or "always", payment_status="unpaid",
        payment_method_options={"card": {"request_three_d_secure": "automatic"}}, shipping_options=[], status="open",
        phone_number_collection={"enabled": False}, success_url=given["success_url"], ui_mode=None, discounts=[],
        saved_payment_method_options={"allow_redisplay_filters": ["always"], "payment_method_remove": "disabled",
                                      "payment_method_save": None},
        tax_id_collection={"enabled": flag(given.get("tax_id_collection") or {}, "enabled"), "required": "never"},
        adaptive_pricing={"enabled": False},
    )  # fmt: skip
    del session["return_url"]
    session["url"] = f"{world.base_url}/pay/{session['id']}"
    return session


def _sum_up(world: World, session: Json) -> None:
    hidden, currency = world.secret(session["id"]), session["currency"]
    free = trial_end_of(world, hidden["subscription_data"]) is not None
    subtotal = 0
    for entry in hidden["wanted"]:
        price = world.store.get("price", entry["price"])
        unit_in(world, price, currency)
        if not lines.metered(price) and not free:
            subtotal += lines.cost(world, price, entry["quantity"] or 1, currency)
    off = 0
    if hidden["discount"]:
        off = discounts.off(world.store.get("coupon", hidden["discount"]["coupon"]), subtotal, currency)
    session.update(amount_subtotal=subtotal, amount_total=subtotal - off,
                   total_details={"amount_discount": off, "amount_shipping": 0, "amount_tax": 0})  # fmt: skip


def set_discount(world: World, session: Json, entry: Json) -> None:
    """{"coupon"} or {"promotion_code"}; raises Refusal 400."""
    found = discounts.chosen(world, entry, customer=session["customer"], currency=session["currency"],
                             amount=session["amount_subtotal"])  # fmt: skip
    world.secret(session["id"])["discount"] = found
    session["discounts"] = [found]
    _sum_up(world, session)


# --- Reading ------------------------------------------------------------------------------------------------------


def get(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("checkout.session", call.ids[0])


def every(world: World, call: Call) -> Json:
    """By customer, subscription, status."""
    wanted = {name: call.params[name] for name in ("customer", "subscription", "status") if call.params.get(name)}
    return paged(world.store.all("checkout.session", **wanted), call.params, "/v1/checkout/sessions")


def list_lines(world: World, call: Call) -> Json:
    """What is bought."""
    session = world.store.get("checkout.session", call.ids[0])
    rows = []
    for at, entry in enumerate(world.secret(session["id"])["wanted"]):
        price = world.store.get("price", entry["price"])
        amount = 0 if lines.metered(price) else lines.cost(world, price, entry["quantity"] or 1, session["currency"])
        row = blank("item", id=f"li_{session['id'][-16:]}{at}", amount_discount=0, amount_subtotal=amount, amount_tax=0,
                    amount_total=amount, currency=session["currency"], description=lines.product_name(world, price),
                    metadata={}, price=price, quantity=entry["quantity"] or 1)  # fmt: skip
        for name in ("discounts", "taxes"):
            del row[name]
        rows.append(row)
    return paged(rows[::-1], call.params, call.path)


def expire(world: World, call: Call) -> Json:
    """By the product."""
    session = world.store.get("checkout.session", call.ids[0])
    if session["status"] != "open":
        raise invalid("Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a "
                      f"status of {session['status']}.")  # fmt: skip
    _expired(world, session)
    return session


def _expired(world: World, session: Json) -> None:
    session.update(status="expired", url=None)
    world.emit("checkout.session.expired", session)


def on_expiry(world: World, about: str, _: int) -> None:
    """By the clock."""
    session = world.store.get("checkout.session", about)
    if session["status"] == "open":
        _expired(world, session)


# --- Paying -------------------------------------------------------------------------------------------------------


def pay(world: World, session: Json, form: Json) -> Json:
    """What the page's button does: form has card, email, name, tax_id_type, tax_id, promotion_code, confirmed.

    Raises Refusal: 402 for a declined card (nothing is made, the session stays open), 400 otherwise.
    """
    if session["status"] != "open":
        raise invalid("This Checkout Session is over.", code="checkout_session_over")
    card = cards.of(str(form.get("card") or ""))
    if form.get("promotion_code"):
        if not session["allow_promotion_codes"]:
            raise invalid("This Checkout Session takes no promotion codes.", "promotion_code")
        set_discount(world, session, {"promotion_code": discounts.by_code(world, form["promotion_code"])["id"]})
    hidden = world.secret(session["id"])
    if session["customer"]:
        subscriptions.check_currency(world, customers.living(world, session["customer"]), session["currency"])
    fault = world.faults.take("card_declined", customer=session["customer"])
    code = str(fault.values.get("code", "generic_decline")) if fault else card.decline
    if code:
        raise cards.declined(code)
    if card.asks and not form.get("confirmed"):
        raise Refusal(
            402, "Your bank wants you to confirm this payment.", code="authentication_required", kind="card_error"
        )
    customer = _customer(world, session, form)
    method = customers.add_card(world, customer, card.number)
    data = hidden["subscription_data"]
    sub = subscriptions.begin(
        world, customer, [(world.store.get("price", entry["price"]), entry["quantity"]) for entry in hidden["wanted"]],
        currency=session["currency"], metadata=merged({}, data.get("metadata")), trial_end=trial_end_of(world, data),
        discount=hidden["discount"], method=method, session=session["id"], more=_more(data),
    )  # fmt: skip
    _complete(world, session, customer, sub)
    return session


def _more(data: Json) -> Json:
    wish = (data.get("trial_settings") or {}).get("end_behavior", {}).get("missing_payment_method")
    return {"trial_settings": {"end_behavior": {"missing_payment_method": wish}}} if wish else {}


def _customer(world: World, session: Json, form: Json) -> Json:
    if session["customer"]:
        customer = customers.living(world, session["customer"])
    else:
        email = form.get("email") or session["customer_email"]
        if not email:
            raise required("email")
        customer = customers.create(world, Call((), {"email": email, "name": form.get("name")}))
    if form.get("tax_id") and session["tax_id_collection"]["enabled"]:
        customers.add_tax_id(world, customer, {"type": form.get("tax_id_type") or "eu_vat", "value": form["tax_id"]})
    if form.get("name"):
        before = copy.deepcopy(customer)
        customer["name"] = form["name"]
        world.changed("customer.updated", customer, before)
    return customer


def _complete(world: World, session: Json, customer: Json, sub: Json) -> None:
    tax_ids: list[dict[str, Any]] = [{"type": row["type"], "value": row["value"]}
                                     for row in world.store.all("tax_id", customer=customer["id"])]  # fmt: skip
    session.update(
        status="complete", customer=customer["id"], subscription=sub["id"], invoice=sub["latest_invoice"], url=None,
        payment_status="paid" if session["amount_total"] else "no_payment_required",
        customer_details={"address": customer["address"], "business_name": None, "email": customer["email"],
                          "individual_name": None, "name": customer["name"], "phone": None,
                          "tax_exempt": customer["tax_exempt"], "tax_ids": tax_ids},
        collected_information={"business_name": None, "individual_name": None, "shipping_details": None},
    )  # fmt: skip
    world.emit("checkout.session.completed", session)


def way_back(session: Json) -> str:
    """Where the page leads after paying."""
    return str(session["success_url"]).replace(PLACEHOLDER, session["id"])


TURNS = {"session": on_expiry}
