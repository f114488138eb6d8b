"""A card is charged: payment intent, charge, balance transaction with Stripe's fee. And handlers to look at them."""

import copy
from typing import Any

from tests.loopback.stripe import cards
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.money import fee
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

AVAILABLE_SECONDS = 2 * DAY


def post(
    world: World, *, kind: str, amount: int, currency: str, source: str, fee_amount: int = 0, category: str = "",
    description: str = "",
) -> Json:  # fmt: skip
    """One balance transaction: amount and fee in minor units of its own currency; net = amount - fee."""
    details = [{"amount": fee_amount, "application": None, "currency": currency, "type": "stripe_fee",
                "description": "Stripe processing fees"}]  # fmt: skip
    return world.make(
        "balance_transaction", "txn", amount=amount, available_on=world.clock.now() + AVAILABLE_SECONDS,
        balance_type="payments", currency=currency, description=description or None, exchange_rate=None,
        fee=fee_amount, fee_details=details if fee_amount else [], net=amount - fee_amount,
        reporting_category=category or kind, source=source, status="pending", type=kind,
    )  # fmt: skip


def intent_for(world: World, invoice: Json) -> Json:
    """The payment intent of a finalized invoice, made with it."""
    intent = world.make(
        "payment_intent", "pi", amount=invoice["amount_remaining"], amount_capturable=0, amount_received=0,
        amount_details={"tip": {}}, capture_method="automatic", confirmation_method="automatic",
        currency=invoice["currency"], customer=invoice["customer"], description="Subscription payment",
        payment_method_options={}, payment_method_types=["card"], setup_future_usage="off_session",
        status="requires_payment_method", transfer_data=None,
    )  # fmt: skip
    intent["client_secret"] = f"{intent['id']}_secret_{world.store.new_id('s', 12)[2:]}"
    world.make(
        "invoice_payment", "inpay", amount_paid=None, amount_requested=invoice["amount_remaining"],
        currency=invoice["currency"], invoice=invoice["id"], is_default=True, status="open",
        payment={"type": "payment_intent", "payment_intent": intent["id"]},
        status_transitions={"canceled_at": None, "paid_at": None},
    )  # fmt: skip
    world.emit("payment_intent.created", intent)
    return intent


def payment_of(world: World, invoice: Json) -> Json | None:
    """The invoice payment that is or was asked for."""
    found = world.store.all("invoice_payment", invoice=invoice["id"])
    return found[-1] if found else None


def refusal_code(world: World, method: Json | None, *, present: bool, customer: str) -> str:
    """Why this charge fails; empty when it doesn't. present: the holder is on the page and confirms."""
    if method is None:
        return "generic_decline"
    fault = world.faults.take("card_declined", customer=customer)
    if fault is not None:
        return str(fault.values.get("code", "generic_decline"))
    card = cards.CARDS[world.secret(method["id"])["card"]]
    return card.decline if present else card.later


def charge(world: World, invoice: Json, method: Json | None, *, present: bool) -> str:
    """Try to take the money for an invoice; the decline code, or empty when it was taken."""
    payment = payment_of(world, invoice)
    assert payment is not None
    intent = world.store.get("payment_intent", payment["payment"]["payment_intent"])
    code = refusal_code(world, method, present=present, customer=invoice["customer"])
    intent["payment_method"] = method["id"] if method and not code else None
    if method is None:
        _fail(world, intent, None, code)
        return code
    made = _charge(world, invoice, intent, method, code)
    intent["latest_charge"] = made["id"]
    if code:
        world.emit("charge.failed", made)
        _fail(world, intent, method, code)
        return code
    _succeed(world, intent, payment, made)
    return ""


def _charge(world: World, invoice: Json, intent: Json, method: Json, code: str) -> Json:
    amount, failed = invoice["amount_remaining"], bool(code)
    card = {name: method["card"][name] for name in ("brand", "checks", "country", "exp_month", "exp_year",
                                                    "fingerprint", "funding", "last4")}  # fmt: skip
    return world.make(
        "charge", "ch", amount=amount, amount_captured=0 if failed else amount, amount_refunded=0,
        billing_details=copy.deepcopy(method["billing_details"]), captured=not failed, currency=invoice["currency"],
        customer=invoice["customer"], description="Subscription payment", disputed=False,
        failure_code=("card_declined" if code != "authentication_required" else code) if failed else None,
        failure_message=cards.WORDS.get(code, "Your card was declined.") if failed else None, fraud_details={},
        outcome={"advice_code": "try_again_later" if failed else None, "network_advice_code": None,
                 "network_decline_code": None,
                 "network_status": "declined_by_network" if failed else "approved_by_network",
                 "reason": code or None, "seller_message": "Declined." if failed else "Payment complete.",
                 "type": "issuer_declined" if failed else "authorized"},
        paid=not failed, payment_intent=intent["id"], payment_method=method["id"],
        payment_method_details={"type": "card", "card": {**card, "installments": None, "mandate": None,
                                                         "network": card["brand"], "three_d_secure": None,
                                                         "wallet": None}},
        receipt_url=None if failed else f"{world.base_url}/receipt/{invoice['id']}", refunded=False,
        status="failed" if failed else "succeeded",
    )  # fmt: skip


def _succeed(world: World, intent: Json, payment: Json, made: Json) -> None:
    entry = post(world, kind="charge", amount=made["amount"], currency=made["currency"], source=made["id"],
                 fee_amount=fee(made["amount"], made["currency"]), description=made["description"])  # fmt: skip
    made["balance_transaction"] = entry["id"]
    intent.update(status="succeeded", amount_received=made["amount"], last_payment_error=None, next_action=None)
    payment.update(status="paid", amount_paid=made["amount"])
    payment["status_transitions"]["paid_at"] = world.clock.now()
    world.emit("charge.succeeded", made)
    world.emit("payment_intent.succeeded", intent)


def _fail(world: World, intent: Json, method: Json | None, code: str) -> None:
    intent["last_payment_error"] = cards.declined(code).body()["error"] | {
        "decline_code": code, "payment_method": copy.deepcopy(method),
    }  # fmt: skip
    waits = code == "authentication_required"
    intent["status"] = "requires_action" if waits else "requires_payment_method"
    world.emit("payment_intent.requires_action" if waits else "payment_intent.payment_failed", intent)


# --- Handlers -----------------------------------------------------------------------------------------------------


def _one(kind: str) -> Any:
    def get(world: World, call: Call) -> Json:
        return world.store.get(kind, call.ids[0])

    return get


def _list(kind: str, *names: str) -> Any:
    def every(world: World, call: Call) -> Json:
        wanted = {name: call.params[name] for name in names if call.params.get(name)}
        return paged(world.store.all(kind, **wanted), call.params, call.path)

    return every


get_charge, list_charges = _one("charge"), _list("charge", "customer", "payment_intent")
get_intent, list_intents = _one("payment_intent"), _list("payment_intent", "customer")
get_payment, list_payments = _one("invoice_payment"), _list("invoice_payment", "invoice", "status")


def _settled(world: World, row: Json) -> Json:
    return {**row, "status": "available" if row["available_on"] <= world.clock.now() else "pending"}


def get_entry(world: World, call: Call) -> Json:
    """One balance transaction."""
    return _settled(world, world.store.get("balance_transaction", call.ids[0]))


def list_entries(world: World, call: Call) -> Json:
    """By type, currency, source."""
    wanted = {name: call.params[name] for name in ("type", "currency", "source") if call.params.get(name)}
    rows = [_settled(world, row) for row in world.store.all("balance_transaction", **wanted)]
    return paged(rows, call.params, "/v1/balance_transactions")


def get_balance(world: World, _: Call) -> Json:
    """Available and pending, per currency. Nothing is ever paid out: the sum is what the account earned."""
    sums: dict[str, dict[str, int]] = {"available": {}, "pending": {}}
    for row in world.store.all("balance_transaction"):
        place = sums[_settled(world, row)["status"]]
        place[row["currency"]] = place.get(row["currency"], 0) + row["net"]
    return {
        "object": "balance", "livemode": world.livemode,
        **{name: [{"amount": amount, "currency": currency, "source_types": {"card": amount}}
                  for currency, amount in sorted(of.items())] for name, of in sums.items()},
    }  # fmt: skip
