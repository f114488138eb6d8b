"""The lines of an invoice: full periods, prorations, metered use; and what they add up to. Makes rows, no events."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.loopback.stripe import discounts
from tests.loopback.stripe.catalogue import unit_in
from tests.loopback.stripe.money import part, shown, times
from tests.loopback.stripe.shapes import blank
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World


def metered(price: Json) -> bool:
    """Billed afterwards, by a meter."""
    return bool(price["recurring"] and price["recurring"]["usage_type"] == "metered")


def cost(world: World, price: Json, quantity: int, currency: str) -> int:
    """What that many cost, whole minor units, rounded once."""
    divide = price["transform_quantity"]
    if divide:
        whole, rest = divmod(quantity, divide["divide_by"])
        quantity = whole + (1 if rest and divide["round"] == "up" else 0)
    return times(unit_in(world, price, currency), quantity)


@dataclass(frozen=True)
class Span:
    """[start, end), seconds."""

    start: int
    end: int


def line(
    world: World, *, sub: str | None, item: str | None, price: Json, quantity: int, amount: int, currency: str,
    span: Span, description: str, proration: bool = False, credits_invoice: str | None = None,
) -> Json:  # fmt: skip
    """One. Prorations are not discounted again: their amounts are taken after the discount."""
    credited = {"invoice": credits_invoice, "invoice_line_items": []} if credits_invoice else None
    parent = {
        "type": "subscription_item_details", "invoice_item_details": None,
        "subscription_item_details": {
            "invoice_item": None, "proration": proration, "proration_details": {"credited_items": credited},
            "subscription": sub, "subscription_item": item,
        },
    }  # fmt: skip
    return blank(
        "line_item", id=world.store.new_id("il"), amount=amount, currency=currency, description=description,
        discount_amounts=[], discountable=not proration, discounts=[], livemode=world.livemode, metadata={},
        parent=parent, period={"start": span.start, "end": span.end}, pretax_credit_amounts=[], quantity=quantity,
        pricing={"type": "price_details", "price_details": {"price": price["id"], "product": price["product"]},
                 "unit_amount_decimal": f"{unit_in(world, price, currency):f}"},
        quantity_decimal=str(quantity), subscription=sub, subtotal=amount, taxes=[],
    )  # fmt: skip


def product_name(world: World, price: Json) -> str:
    """For descriptions."""
    return str(world.store.get("product", price["product"])["name"])


def full(world: World, sub: Json, span: Span, *, free: bool = False) -> list[Json]:
    """The licensed items for one period, in advance. free: a trial's."""
    made = []
    for item in sub["items"]["data"]:
        price, quantity = item["price"], item.get("quantity") or 0
        if metered(price):
            continue
        name, every = product_name(world, price), price["recurring"]["interval"]
        amount = 0 if free else cost(world, price, quantity, sub["currency"])
        each = shown(cost(world, price, 1, sub["currency"]), sub["currency"])
        words = f"Trial period for {name}" if free else f"{quantity} × {name} (at {each} / {every})"
        made.append(line(world, sub=sub["id"], item=item["id"], price=price, quantity=quantity, amount=amount,
                         currency=sub["currency"], span=span, description=words))  # fmt: skip
    return made


def used(world: World, sub: Json, items: Iterable[Json], span: Span) -> list[Json]:
    """The metered items' use in a period that is over."""
    made = []
    for item in items:
        price = item["price"]
        if not metered(price):
            continue
        quantity = usage(world, price["recurring"]["meter"], sub["customer"], span)
        made.append(line(world, sub=sub["id"], item=item["id"], price=price, quantity=quantity,
                         amount=cost(world, price, quantity, sub["currency"]), currency=sub["currency"], span=span,
                         description=f"{quantity} × {product_name(world, price)}"))  # fmt: skip
    return made


def usage(world: World, meter_id: str, customer: str, span: Span) -> int:
    """What a meter counted for a customer in [start, end)."""
    meter = world.store.get("billing.meter", meter_id)
    found = [
        each for each in world.secret(meter["event_name"]).get("events", ())
        if each["customer"] == customer and span.start <= each["timestamp"] < span.end
    ]  # fmt: skip
    match meter["default_aggregation"]["formula"]:
        case "count":
            return len(found)
        case "last":
            return max(found, key=lambda each: each["timestamp"])["value"] if found else 0
    return sum(each["value"] for each in found)


def prorations(
    world: World, sub: Json, old: list[Json], new: list[Json], when: int, *, credit_only: bool
) -> list[Json]:
    """Unused time of what goes, remaining time of what comes, to the second. credit_only: the new starts a period
    of its own. Metered items have none."""
    kept = {(item["id"], item["price"]["id"], item.get("quantity")) for item in old}
    still = {(item["id"], item["price"]["id"], item.get("quantity")) for item in new}
    made = []
    for item in old:
        if ((item["id"], item["price"]["id"], item.get("quantity")) not in still or credit_only) and not metered(
            item["price"]
        ):
            made.append(_part(world, sub, item, when, -1))
    for item in new:
        if (
            not credit_only
            and (item["id"], item["price"]["id"], item.get("quantity")) not in kept
            and not metered(item["price"])
        ):
            made.append(_part(world, sub, item, when, 1))
    return [each for each in made if each["amount"]]


def _part(world: World, sub: Json, item: Json, when: int, sign: int) -> Json:
    start, end = sub["items"]["data"][0]["current_period_start"], sub["items"]["data"][0]["current_period_end"]
    price, quantity, currency = item["price"], item.get("quantity") or 0, sub["currency"]
    whole_amount = 0 if sub["status"] == "trialing" else cost(world, price, quantity, currency)
    for discount in discounts.active(world, sub["discounts"], when):
        coupon = discounts.coupon_of(world, discount)
        whole_amount -= discounts.off(coupon, whole_amount, currency) if coupon["percent_off"] else 0
    amount = sign * part(whole_amount, max(0, end - when), end - start, currency)
    words = "Unused time on" if sign < 0 else "Remaining time on"
    return line(world, sub=sub["id"], item=item["id"], price=price, quantity=quantity, amount=amount, currency=currency,
                span=Span(when, end), description=f"{words} {product_name(world, price)}", proration=True,
                credits_invoice=sub["latest_invoice"] if sign < 0 else None)  # fmt: skip


# --- Sums ---------------------------------------------------------------------------------------------------------


def totals(world: World, invoice: Json, discount_ids: list[str], balance: int) -> None:
    """Set all amounts of a draft from its lines, discounts and the customer's balance (negative = credit)."""
    rows, currency = invoice["lines"]["data"], invoice["currency"]
    subtotal = sum(row["amount"] for row in rows)
    taken: list[Json] = []
    for row in rows:
        row["discount_amounts"] = []
    for discount in discounts.active(world, discount_ids, world.clock.now()):
        amount = _discount(discounts.coupon_of(world, discount), discount["id"], rows, currency)
        taken.append({"amount": amount, "discount": discount["id"]})
    total = subtotal - sum(each["amount"] for each in taken)
    used_balance = min(total, -balance) if total > 0 > balance else 0
    added_debt = balance if balance > 0 and total >= 0 else 0
    due = max(0, total - used_balance + added_debt)
    ending = balance + total if total < 0 else balance + used_balance - added_debt
    invoice.update(
        subtotal=subtotal, subtotal_excluding_tax=subtotal, total=total, total_excluding_tax=total,
        total_discount_amounts=taken, total_pretax_credit_amounts=[], total_taxes=[], starting_balance=balance,
        ending_balance=ending, amount_due=due, amount_remaining=due, amount_paid=0, amount_overpaid=0,
        discounts=list(discount_ids),
    )  # fmt: skip


def _discount(coupon: Json, discount: str, rows: list[Json], currency: str) -> int:
    left, sum_off = None if coupon["percent_off"] is not None else int(coupon["amount_off"]), 0
    for row in rows:
        if not row["discountable"] or row["amount"] <= 0:
            continue
        open_amount = row["amount"] - sum(each["amount"] for each in row["discount_amounts"])
        amount = discounts.off(coupon, open_amount, currency) if left is None else min(left, open_amount)
        left = None if left is None else left - amount
        row["discount_amounts"].append({"amount": amount, "discount": discount})
        sum_off += amount
    return sum_off


def list_of(rows: list[Json], url: str) -> dict[str, Any]:
    """A list object inside another object."""
    return {"object": "list", "data": rows, "has_more": False, "url": url}
