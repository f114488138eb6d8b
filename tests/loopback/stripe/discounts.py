"""Coupons, promotion codes, and what they take off an invoice."""

import copy
from decimal import Decimal
from typing import Any

from tests.loopback.stripe.clock import add_interval
from tests.loopback.stripe.encoding import flag, merged, whole
from tests.loopback.stripe.errors import Refusal, invalid, missing
from tests.loopback.stripe.money import percent
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

# --- Coupons ------------------------------------------------------------------------------------------------------


def create_coupon(world: World, call: Call) -> Json:
    """percent_off or amount_off with currency; duration once, repeating, forever."""
    given = call.params
    duration, off, share = given.get("duration") or "once", whole(given, "amount_off"), given.get("percent_off")
    if (off is None) == (not share):
        raise invalid("You must pass exactly one of amount_off and percent_off.", "percent_off")
    if off is not None and not given.get("currency"):
        raise invalid("You must pass currency when passing amount_off.", "currency")
    if duration == "repeating" and not given.get("duration_in_months"):
        raise invalid("You must pass duration_in_months when duration is repeating.", "duration_in_months")
    if given.get("id") and world.store.find(given["id"]):
        raise invalid("Coupon already exists.", "id", "resource_already_exists")
    coupon = world.make(
        "coupon", "cpn", id=given.get("id") or world.store.new_id("c", 8).removeprefix("c_"), amount_off=off,
        currency=given.get("currency") or None, duration=duration,
        duration_in_months=whole(given, "duration_in_months"),
        max_redemptions=whole(given, "max_redemptions"), metadata=merged({}, given.get("metadata")),
        name=given.get("name") or None, percent_off=float(share) if share else None,
        redeem_by=whole(given, "redeem_by"), times_redeemed=0, valid=True,
    )  # fmt: skip
    world.emit("coupon.created", coupon)
    return coupon


def get_coupon(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("coupon", call.ids[0])


def update_coupon(world: World, call: Call) -> Json:
    """Name and metadata; nothing else can change."""
    coupon = world.store.get("coupon", call.ids[0])
    before = copy.deepcopy(coupon)
    coupon["name"] = call.params.get("name", coupon["name"])
    coupon["metadata"] = merged(coupon["metadata"], call.params.get("metadata"))
    world.changed("coupon.updated", coupon, before)
    return coupon


def delete_coupon(world: World, call: Call) -> Json:
    """Those who have the discount keep it."""
    coupon = world.store.get("coupon", call.ids[0])
    world.store.drop(coupon)
    world.secret("coupons_deleted")[coupon["id"]] = coupon
    world.emit("coupon.deleted", coupon)
    return {"id": coupon["id"], "object": "coupon", "deleted": True}


def list_coupons(world: World, call: Call) -> Json:
    """All."""
    return paged(world.store.all("coupon"), call.params, "/v1/coupons")


# --- Promotion codes ----------------------------------------------------------------------------------------------


def create_promotion_code(world: World, call: Call) -> Json:
    """promotion[type]=coupon, promotion[coupon]."""
    given = call.params
    coupon = world.store.get("coupon", (given.get("promotion") or {}).get("coupon"), "promotion[coupon]")
    code = given.get("code") or world.store.new_id("x", 8).removeprefix("x_").upper()
    if any(row["active"] and row["code"].lower() == code.lower() for row in world.store.all("promotion_code")):
        raise invalid("An active promotion code with this code already exists.", "code")
    limits = given.get("restrictions") or {}
    promotion = world.make(
        "promotion_code", "promo", active=flag(given, "active", True), code=code, customer=given.get("customer"),
        expires_at=whole(given, "expires_at"), max_redemptions=whole(given, "max_redemptions"),
        metadata=merged({}, given.get("metadata")), promotion={"type": "coupon", "coupon": coupon["id"]},
        restrictions={"first_time_transaction": flag(limits, "first_time_transaction"),
                      "minimum_amount": whole(limits, "minimum_amount"),
                      "minimum_amount_currency": limits.get("minimum_amount_currency")},
        times_redeemed=0,
    )  # fmt: skip
    world.emit("promotion_code.created", promotion)
    return promotion


def get_promotion_code(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("promotion_code", call.ids[0])


def update_promotion_code(world: World, call: Call) -> Json:
    """Active and metadata."""
    row = world.store.get("promotion_code", call.ids[0])
    before = copy.deepcopy(row)
    row["active"] = flag(call.params, "active", row["active"])
    row["metadata"] = merged(row["metadata"], call.params.get("metadata"))
    world.changed("promotion_code.updated", row, before)
    return row


def list_promotion_codes(world: World, call: Call) -> Json:
    """By code, active, coupon, customer."""
    given = call.params
    wanted = None if "active" not in given else flag(given, "active")
    return paged(
        world.store.all("promotion_code"), given, "/v1/promotion_codes",
        lambda row: (wanted is None or row["active"] is wanted)
        and (not given.get("code") or row["code"].lower() == given["code"].lower())
        and (not given.get("coupon") or row["promotion"]["coupon"] == given["coupon"])
        and (not given.get("customer") or row["customer"] == given["customer"]),
    )  # fmt: skip


# --- Redeeming ----------------------------------------------------------------------------------------------------


def by_code(world: World, code: str) -> Json:
    """The active promotion code a person typed; raises Refusal 400."""
    for row in world.store.all("promotion_code"):
        if row["active"] and row["code"].lower() == code.strip().lower():
            return row
    raise invalid("This code is invalid.", "promotion_code")


def chosen(world: World, entry: Json, *, customer: str | None, currency: str, amount: int) -> Json:
    """{"coupon", "promotion_code"} for a {"coupon"} or {"promotion_code"} that was given; raises Refusal 400."""
    if not entry.get("promotion_code"):
        return {"coupon": _usable(world, str(entry.get("coupon")), currency), "promotion_code": None}
    row = world.store.get("promotion_code", entry["promotion_code"], "discounts[0][promotion_code]")
    limits, now = row["restrictions"], world.clock.now()
    spent = row["max_redemptions"] is not None and row["times_redeemed"] >= row["max_redemptions"]
    if not row["active"] or spent or (row["expires_at"] or now + 1) <= now or row["customer"] not in (None, customer):
        raise invalid("This promotion code cannot be redeemed.", "promotion_code")
    if limits["first_time_transaction"] and any(
        each["status"] == "paid" and each["amount_paid"] for each in world.store.all("invoice", customer=customer)
    ):
        raise invalid("This promotion code cannot be redeemed because the associated customer has prior transactions.",
                      "promotion_code")  # fmt: skip
    if (limits["minimum_amount"] or 0) > amount:
        raise invalid("This promotion code needs a larger amount.", "promotion_code")
    return {"coupon": _usable(world, row["promotion"]["coupon"], currency), "promotion_code": row["id"]}


def _usable(world: World, coupon_id: str, currency: str) -> str:
    coupon, now = world.store.get("coupon", coupon_id, "discounts[0][coupon]"), world.clock.now()
    spent = coupon["max_redemptions"] is not None and coupon["times_redeemed"] >= coupon["max_redemptions"]
    if spent or (coupon["redeem_by"] or now + 1) <= now or not coupon["valid"]:
        raise invalid(f"Coupon {coupon_id} is used up or expired.", "coupon", "coupon_expired")
    if coupon["currency"] not in (None, currency):
        raise invalid(f"The coupon's currency isn't {currency}.", "coupon")
    return coupon_id


def redeem(world: World, found: Json, *, customer: str, subscription: str, session: str | None) -> Json:
    """The discount on a subscription, and one redemption more."""
    coupon, now = world.store.get("coupon", found["coupon"]), world.clock.now()
    for row in (coupon, world.store.rows.get("promotion_code", {}).get(found["promotion_code"] or "")):
        if row is not None:
            row["times_redeemed"] += 1
            if row["max_redemptions"] is not None and row["times_redeemed"] >= row["max_redemptions"]:
                row["valid" if row is coupon else "active"] = False
    months = coupon["duration_in_months"]
    discount = world.make(
        "discount", "di", checkout_session=session, customer=customer, subscription=subscription, start=now,
        end=add_interval(now, "month", months) if coupon["duration"] == "repeating" else None,
        promotion_code=found["promotion_code"], source={"type": "coupon", "coupon": coupon["id"]},
    )  # fmt: skip
    world.emit("customer.discount.created", discount)
    return discount


def coupon_of(world: World, discount: Json) -> Json:
    """Deleted ones too: a discount outlives its coupon."""
    name = discount["source"]["coupon"]
    found = world.store.rows.get("coupon", {}).get(name) or world.secret("coupons_deleted").get(name)
    if found is None:
        raise missing("coupon", name)
    return dict(found)


def active(world: World, ids: list[str], when: int) -> list[Json]:
    """The discounts that an invoice of that moment gets."""
    rows = [world.store.rows["discount"][each] for each in ids if each in world.store.rows.get("discount", {})]
    return [row for row in rows if row["end"] is None or row["end"] > when]


def off(coupon: Json, amount: int, currency: str) -> int:
    """What it takes off; never more than the amount."""
    if coupon["percent_off"] is not None:
        return percent(amount, Decimal(str(coupon["percent_off"])), currency)
    return min(int(coupon["amount_off"]), max(0, amount))


def used_once(world: World, subscription: Json) -> None:
    """An invoice was made: discounts that hold once end."""
    for discount in active(world, subscription["discounts"], world.clock.now()):
        if coupon_of(world, discount)["duration"] == "once":
            subscription["discounts"] = [each for each in subscription["discounts"] if each != discount["id"]]
            discount["end"] = world.clock.now()
            world.emit("customer.discount.deleted", discount)


def asked(given: Any) -> list[Json]:
    """The `discounts` parameter; raises Refusal for something else."""
    if given in (None, ""):
        return []
    if not isinstance(given, list):
        raise Refusal(400, "Invalid array", param="discounts")
    return given
