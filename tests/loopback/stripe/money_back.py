"""Refunds (the account gives back) and disputes (the holder's bank takes back): each with its balance transactions."""

import copy

from tests.loopback.stripe import charging
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import merged, whole
from tests.loopback.stripe.errors import invalid, required
from tests.loopback.stripe.money import DISPUTE_FEE_CENTS, scaled
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

REASONS = ("duplicate", "fraudulent", "requested_by_customer")
EVIDENCE_SECONDS = 9 * DAY


# --- Refunds ------------------------------------------------------------------------------------------------------


def create_refund(world: World, call: Call) -> Json:
    """Of a charge or payment intent, whole or part. Stripe keeps its fee."""
    given = call.params
    charge = _charge(world, given)
    left = charge["amount_captured"] - charge["amount_refunded"]
    amount = whole(given, "amount", left) or 0
    if not charge["paid"] or left == 0:
        raise invalid(f"Charge {charge['id']} has already been refunded.", code="charge_already_refunded")
    if not 0 < amount <= left:
        raise invalid(f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})", "amount")
    if charge["disputed"]:
        raise invalid(f"Charge {charge['id']} has been charged back; cannot issue a refund.", code="charge_disputed")
    if given.get("reason") and given["reason"] not in REASONS:
        raise invalid(f"Invalid reason: must be one of {', '.join(REASONS)}", "reason")
    refund = world.make(
        "refund", "re", amount=amount, charge=charge["id"], currency=charge["currency"],
        customer=charge["customer"], payment_method=charge["payment_method"],
        destination_details={"type": "card", "card": {"type": "refund"}}, metadata=merged({}, given.get("metadata")),
        payment_intent=charge["payment_intent"], reason=given.get("reason"), status="succeeded",
    )  # fmt: skip
    for name in ("failure_reason", "description"):
        del refund[name]  # there only when there is something to say
    entry = charging.post(world, kind="refund", amount=-amount, currency=charge["currency"], source=refund["id"],
                          description="REFUND FOR CHARGE")  # fmt: skip
    refund["balance_transaction"] = entry["id"]
    charge["amount_refunded"] += amount
    charge["refunded"] = charge["amount_refunded"] == charge["amount_captured"]
    world.emit("charge.refunded", charge)
    world.emit("refund.created", refund)
    return refund


def _charge(world: World, given: Json) -> Json:
    if given.get("payment_intent"):
        intent = world.store.get("payment_intent", given["payment_intent"], "payment_intent")
        if not intent["latest_charge"]:
            raise invalid("This PaymentIntent does not have a successful charge to refund.")
        return world.store.get("charge", intent["latest_charge"])
    if not given.get("charge"):
        raise required("charge")
    return world.store.get("charge", given["charge"], "charge")


def get_refund(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("refund", call.ids[0])


def update_refund(world: World, call: Call) -> Json:
    """Metadata."""
    refund = world.store.get("refund", call.ids[0])
    before = copy.deepcopy(refund)
    refund["metadata"] = merged(refund["metadata"], call.params.get("metadata"))
    world.changed("refund.updated", refund, before)
    return refund


def list_refunds(world: World, call: Call) -> Json:
    """By charge, payment intent."""
    wanted = {name: call.params[name] for name in ("charge", "payment_intent") if call.params.get(name)}
    return paged(world.store.all("refund", **wanted), call.params, "/v1/refunds")


# --- Disputes -----------------------------------------------------------------------------------------------------


def open_dispute(world: World, charge: Json, amount: int | None = None, reason: str = "fraudulent") -> Json:
    """By the control door: the money is gone at once, with a fee."""
    if charge["disputed"] or not charge["paid"]:
        raise invalid("This charge can't be disputed (again).")
    taken = amount or charge["amount_captured"] - charge["amount_refunded"]
    if taken <= 0:
        raise invalid("Nothing is left of this charge.")
    charge["disputed"] = True
    due = world.clock.now() + EVIDENCE_SECONDS
    dispute = world.make(
        "dispute", "du", amount=taken, balance_transactions=[], charge=charge["id"], currency=charge["currency"],
        enhanced_eligibility_types=[], evidence={"enhanced_evidence": {}}, is_charge_refundable=False,
        network_reason_code="10.4",
        evidence_details={"due_by": due, "enhanced_eligibility": {}, "has_evidence": False, "past_due": False,
                          "submission_count": 0, "submission_method": "not_submitted"},
        payment_intent=charge["payment_intent"], reason=reason, status="needs_response",
        payment_method_details={"type": "card", "card": {"brand": "visa", "case_type": "chargeback",
                                                         "network": "visa",
                                                         "network_reason_code": "10.4"}},
    )  # fmt: skip
    entry = charging.post(world, kind="adjustment", amount=-taken, currency=charge["currency"], source=dispute["id"],
                          fee_amount=scaled(DISPUTE_FEE_CENTS, charge["currency"]), category="dispute",
                          description=f"Chargeback withdrawal for {charge['id']}")  # fmt: skip
    dispute["balance_transactions"].append(copy.deepcopy(entry))
    world.emit("charge.dispute.created", dispute)
    world.emit("charge.dispute.funds_withdrawn", dispute)
    return dispute


def close_dispute(world: World, dispute: Json, *, won: bool) -> Json:
    """By the control door, or lost by the account's own wish. Won: the money comes back, the fee doesn't."""
    if dispute["status"] in ("won", "lost"):
        raise invalid("This dispute is already closed.")
    dispute["status"] = "won" if won else "lost"
    if won:
        entry = charging.post(world, kind="adjustment", amount=dispute["amount"], currency=dispute["currency"],
                              source=dispute["id"], category="dispute_reversal",
                              description=f"Chargeback reversal for {dispute['charge']}")  # fmt: skip
        dispute["balance_transactions"].append(copy.deepcopy(entry))
        world.emit("charge.dispute.funds_reinstated", dispute)
    world.emit("charge.dispute.closed", dispute)
    return dispute


def get_dispute(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("dispute", call.ids[0])


def list_disputes(world: World, call: Call) -> Json:
    """By charge, payment intent."""
    wanted = {name: call.params[name] for name in ("charge", "payment_intent") if call.params.get(name)}
    return paged(world.store.all("dispute", **wanted), call.params, "/v1/disputes")


def give_in(world: World, call: Call) -> Json:
    """POST …/close: lost."""
    return close_dispute(world, world.store.get("dispute", call.ids[0]), won=False)
