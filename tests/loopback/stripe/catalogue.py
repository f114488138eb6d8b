"""Products and prices. A price never changes its money; prices in several currencies by currency_options."""

import copy
from decimal import Decimal
from typing import Any

from tests.loopback.stripe.encoding import flag, merged, whole
from tests.loopback.stripe.errors import invalid, required
from tests.loopback.stripe.money import exponent
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

INTERVALS = ("day", "week", "month", "year")


# --- Products -----------------------------------------------------------------------------------------------------


def create_product(world: World, call: Call) -> Json:
    """With an id of one's own if wanted; default_price_data makes a price too."""
    given = call.params
    if not given.get("name"):
        raise required("name")
    wanted = given.get("id")
    if wanted and world.store.find(wanted):
        raise invalid("Product already exists.", "id", "resource_already_exists")
    product = world.make(
        "product", "prod", id=wanted, active=flag(given, "active", True), description=given.get("description"),
        images=list(given.get("images") or []), marketing_features=list(given.get("marketing_features") or []),
        metadata=merged({}, given.get("metadata")), name=given["name"], type="service",
        statement_descriptor=given.get("statement_descriptor"), tax_code=given.get("tax_code"),
        unit_label=given.get("unit_label"), updated=world.clock.now(), url=given.get("url"),
    )  # fmt: skip
    world.emit("product.created", product)
    if default := given.get("default_price_data"):
        price = create_price(world, call.with_params(**default, product=product["id"]))
        product["default_price"] = price["id"]
    return product


def get_product(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("product", call.ids[0])


def update_product(world: World, call: Call) -> Json:
    """What is given."""
    product, given = world.store.get("product", call.ids[0]), call.params
    before = copy.deepcopy(product)
    for name in ("name", "description", "statement_descriptor", "tax_code", "unit_label", "url", "default_price"):
        if name in given:
            product[name] = given[name] or None
    product["active"] = flag(given, "active", product["active"])
    if "marketing_features" in given:
        product["marketing_features"] = list(given["marketing_features"] or [])
    product["metadata"] = merged(product["metadata"], given.get("metadata"))
    product["updated"] = world.clock.now()
    world.changed("product.updated", product, before)
    return product


def list_products(world: World, call: Call) -> Json:
    """By active, ids."""
    given = call.params
    wanted = None if "active" not in given else flag(given, "active")
    return paged(
        world.store.all("product"), given, "/v1/products",
        lambda row: (wanted is None or row["active"] is wanted) and (not given.get("ids") or row["id"] in given["ids"]),
    )  # fmt: skip


def delete_product(world: World, call: Call) -> Json:
    """Only without prices."""
    product = world.store.get("product", call.ids[0])
    if world.store.all("price", product=product["id"]):
        raise invalid("This product cannot be deleted because it has one or more user-created prices.")
    world.store.drop(product)
    world.emit("product.deleted", product)
    return {"id": product["id"], "object": "product", "deleted": True}


# --- Prices -------------------------------------------------------------------------------------------------------


def amounts(given: Json, currency: str, where: str = "") -> Json:
    """unit_amount and unit_amount_decimal of one currency, checked."""
    unit, exact = whole(given, "unit_amount"), given.get("unit_amount_decimal")
    if (unit is None) == (exact in (None, "")):
        raise invalid("You must pass exactly one of unit_amount and unit_amount_decimal.", f"{where}unit_amount")
    value = Decimal(unit) if unit is not None else Decimal(str(exact))
    if value < 0:
        raise invalid("This value must be greater than or equal to 0.", f"{where}unit_amount")
    if exponent(currency) == 3 and unit is not None and unit % 10:
        raise invalid(f"Amounts in {currency} must end in 0.", f"{where}unit_amount")
    return {"unit_amount": int(value) if value == int(value) else None, "unit_amount_decimal": f"{value.normalize():f}"}


def _recurring(world: World, given: Any) -> Json | None:
    if not given:
        return None
    if given.get("interval") not in INTERVALS:
        raise invalid("Invalid recurring[interval]: must be one of day, month, week, or year", "recurring[interval]")
    usage = given.get("usage_type") or "licensed"
    if usage == "metered" and not given.get("meter"):
        raise invalid("Metered prices must be backed by a meter.", "recurring[meter]")
    if given.get("meter"):
        world.store.get("billing.meter", given["meter"], "recurring[meter]")
    return {
        "interval": given["interval"], "interval_count": whole(given, "interval_count", 1),
        "meter": given.get("meter") or None, "trial_period_days": None, "usage_type": usage,
    }  # fmt: skip


def create_price(world: World, call: Call) -> Json:
    """Of a product, or of one made along by product_data."""
    given = call.params
    currency = str(given.get("currency") or "").lower()
    if not currency:
        raise required("currency")
    if given.get("product_data"):
        product_id = create_product(world, call.with_params(**given["product_data"]))["id"]
    else:
        product_id = world.store.get("product", given.get("product"), "product")["id"]
    if given.get("billing_scheme") == "tiered" or given.get("tiers"):
        raise invalid("The double has no tiered prices.", "billing_scheme")
    divide = given.get("transform_quantity")
    recurring = _recurring(world, given.get("recurring"))
    _take_lookup_key(world, given)
    price = world.make(
        "price", "price", active=flag(given, "active", True), billing_scheme="per_unit", currency=currency,
        lookup_key=given.get("lookup_key") or None, metadata=merged({}, given.get("metadata")),
        nickname=given.get("nickname") or None, product=product_id, recurring=recurring,
        tax_behavior=given.get("tax_behavior") or "unspecified", type="recurring" if recurring else "one_time",
        transform_quantity={"divide_by": whole(divide, "divide_by"), "round": divide["round"]} if divide else None,
        **amounts(given, currency),
    )  # fmt: skip
    _set_options(world, price, given)
    world.emit("price.created", price)
    return price


def _take_lookup_key(world: World, given: Json) -> None:
    key = given.get("lookup_key")
    for other in world.store.all("price", lookup_key=key) if key else ():
        if not flag(given, "transfer_lookup_key"):
            raise invalid(f"A price (`{other['id']}`) already uses that lookup key.", "lookup_key")
        other["lookup_key"] = None


def _set_options(world: World, price: Json, given: Json) -> None:
    options = world.secret(price["id"]).setdefault("currency_options", {})
    own = {"custom_unit_amount": None, "tax_behavior": price["tax_behavior"]}
    options[price["currency"]] = {**own, "unit_amount": price["unit_amount"],
                                  "unit_amount_decimal": price["unit_amount_decimal"]}  # fmt: skip
    for currency, option in (given.get("currency_options") or {}).items():
        options[currency.lower()] = {**own, **amounts(option, currency.lower(), f"currency_options[{currency}]")}


def get_price(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("price", call.ids[0])


def update_price(world: World, call: Call) -> Json:
    """All but its money and interval."""
    price, given = world.store.get("price", call.ids[0]), call.params
    before = copy.deepcopy(price)
    if "lookup_key" in given and given["lookup_key"] != price["lookup_key"]:
        _take_lookup_key(world, given)
        price["lookup_key"] = given["lookup_key"] or None
    price["active"] = flag(given, "active", price["active"])
    if "nickname" in given:
        price["nickname"] = given["nickname"] or None
    price["tax_behavior"] = given.get("tax_behavior") or price["tax_behavior"]
    price["metadata"] = merged(price["metadata"], given.get("metadata"))
    if given.get("currency_options"):
        _set_options(world, price, given)
    world.changed("price.updated", price, before)
    return price


def list_prices(world: World, call: Call) -> Json:
    """By active, product, currency, lookup_keys, type, recurring."""
    given = call.params
    wanted = None if "active" not in given else flag(given, "active")
    recurring = given.get("recurring") or {}

    def fits(row: Json) -> bool:
        return (
            (wanted is None or row["active"] is wanted)
            and all(row[name] == given[name] for name in ("product", "currency", "type") if given.get(name))
            and (not given.get("lookup_keys") or row["lookup_key"] in given["lookup_keys"])
            and all((row["recurring"] or {}).get(name) == value for name, value in recurring.items())
        )

    return paged(world.store.all("price"), given, "/v1/prices", fits)


def unit_in(world: World, price: Json, currency: str) -> Decimal:
    """What one costs in that currency; raises Refusal 400 when the price has none."""
    option = world.secret(price["id"])["currency_options"].get(currency)
    if option is None:
        raise invalid(
            f"The price specified supports currencies of `{price['currency']}` but not `{currency}`.", "currency"
        )
    return Decimal(option["unit_amount_decimal"])
