"""Customers, their tax ids, their cards. A deleted one answers `deleted: true`, and nobody may use it any more."""

import copy
from collections.abc import Callable
from typing import Any

from tests.loopback.stripe import cards
from tests.loopback.stripe.encoding import merged, whole
from tests.loopback.stripe.errors import invalid, missing, required
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.world import Call, World

ADDRESS = ("city", "country", "line1", "line2", "postal_code", "state")
PLAIN = ("description", "email", "name", "phone")
FORMS = {"eu_vat": 4, "es_cif": 9, "gb_vat": 9, "us_ein": 9}  # fewest characters of a value
on_delete: list[Callable[[World, Json], None]] = []  # subscriptions end with their customer; they sit above this file


def address(given: Any) -> Json | None:
    """All its keys, or None."""
    return {name: given.get(name) or None for name in ADDRESS} if given else None


def create(world: World, call: Call) -> Json:
    """All is optional."""
    given = call.params
    customer = world.make(
        "customer", "cus", address=address(given.get("address")), balance=whole(given, "balance", 0),
        delinquent=False, invoice_prefix="", preferred_locales=list(given.get("preferred_locales") or []),
        metadata=merged({}, given.get("metadata")), next_invoice_sequence=1,
        tax_exempt=given.get("tax_exempt") or "none", **{name: given.get(name) or None for name in PLAIN},
        invoice_settings={"custom_fields": None, "default_payment_method": None, "footer": None,
                          "rendering_options": None},
    )  # fmt: skip
    customer["invoice_prefix"] = customer["id"][-8:].upper()
    for entry in given.get("tax_id_data") or []:
        add_tax_id(world, customer, entry)
    if given.get("payment_method"):
        attach(world, call.with_params(customer=customer["id"], payment_method=given["payment_method"]))
    world.emit("customer.created", customer)
    return customer


def living(world: World, given: Any, param: str = "customer") -> Json:
    """Raises Refusal for a deleted one."""
    found = world.store.get("customer", given, param)
    if found.get("deleted"):
        raise missing("customer", str(given), param)
    return found


def get(world: World, call: Call) -> Json:
    """One; deleted ones answer so."""
    return world.store.get("customer", call.ids[0])


def update(world: World, call: Call) -> Json:
    """What is given."""
    customer, given = living(world, call.ids[0], "id"), call.params
    before = copy.deepcopy(customer)
    for name in PLAIN:
        if name in given:
            customer[name] = given[name] or None
    if "address" in given:
        customer["address"] = address(given["address"])
    if "preferred_locales" in given:
        customer["preferred_locales"] = list(given["preferred_locales"] or [])
    customer["balance"] = whole(given, "balance", customer["balance"])
    customer["tax_exempt"] = given.get("tax_exempt") or customer["tax_exempt"]
    customer["metadata"] = merged(customer["metadata"], given.get("metadata"))
    default = (given.get("invoice_settings") or {}).get("default_payment_method")
    if default:
        world.store.get("payment_method", default, "invoice_settings[default_payment_method]")
        customer["invoice_settings"]["default_payment_method"] = default
    world.changed("customer.updated", customer, before)
    return customer


def delete(world: World, call: Call) -> Json:
    """Ends its subscriptions at once; only the id stays."""
    customer = living(world, call.ids[0], "id")
    for end in on_delete:
        end(world, customer)
    world.emit("customer.deleted", customer)
    gone = {"id": customer["id"], "object": "customer", "deleted": True}
    customer.clear()
    customer.update(gone)
    return gone


def every(world: World, call: Call) -> Json:
    """By email."""
    email = call.params.get("email")
    return paged(
        world.store.all("customer"), call.params, "/v1/customers",
        lambda row: not row.get("deleted") and (not email or row["email"] == email),
    )  # fmt: skip


# --- Tax ids ------------------------------------------------------------------------------------------------------


def add_tax_id(world: World, customer: Json, given: Json) -> Json:
    """Raises Refusal 400 tax_id_invalid for one that can't be right."""
    kind, value = str(given.get("type") or ""), str(given.get("value") or "").replace(" ", "")
    if not kind or not value:
        raise required("type" if not kind else "value")
    if len(value) < FORMS.get(kind, 3):
        raise invalid(f"Invalid value for {kind}.", "value", "tax_id_invalid")
    tax_id = world.make(
        "tax_id", "txi", country=value[:2].upper() if kind == "eu_vat" else kind[:2].upper(), customer=customer["id"],
        owner={"type": "customer", "customer": customer["id"]}, type=kind, value=value,
        verification={"status": "pending", "verified_address": None, "verified_name": None},
    )  # fmt: skip
    world.emit("customer.tax_id.created", tax_id)
    return tax_id


def create_tax_id(world: World, call: Call) -> Json:
    """For a customer."""
    return add_tax_id(world, living(world, call.ids[0]), call.params)


def list_tax_ids(world: World, call: Call) -> Json:
    """Of a customer."""
    customer = living(world, call.ids[0])["id"]
    return paged(world.store.all("tax_id", customer=customer), call.params, f"/v1/customers/{customer}/tax_ids")


def get_tax_id(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("tax_id", call.ids[1])


def delete_tax_id(world: World, call: Call) -> Json:
    """Gone."""
    tax_id = world.store.get("tax_id", call.ids[1])
    world.store.drop(tax_id)
    world.emit("customer.tax_id.deleted", tax_id)
    return {"id": tax_id["id"], "object": "tax_id", "deleted": True}


# --- Cards --------------------------------------------------------------------------------------------------------


def add_card(world: World, customer: Json, number: str) -> Json:
    """A card typed on a page, attached and used from now on; raises Refusal 402 for one that is refused at once."""
    card = cards.of(number)
    method = world.make(
        "payment_method", "pm", allow_redisplay="limited", type="card", card=cards.shape(card),
        billing_details={"address": dict.fromkeys(ADDRESS), "email": customer["email"], "name": customer["name"],
                         "phone": None, "tax_id": None},
    )  # fmt: skip
    world.secret(method["id"])["card"] = card.number
    return _attached(world, customer, method)


def _attached(world: World, customer: Json, method: Json) -> Json:
    method["customer"] = customer["id"]
    world.emit("payment_method.attached", method)
    before = copy.deepcopy(customer)
    customer["invoice_settings"]["default_payment_method"] = method["id"]
    world.changed("customer.updated", customer, before)
    return method


def attach(world: World, call: Call) -> Json:
    """A payment method, by its id or by Stripe's test names (pm_card_visa)."""
    customer = living(world, call.params.get("customer"))
    wanted = call.ids[0] if call.ids else call.params["payment_method"]
    if wanted in cards.TEST_NAMES:
        return add_card(world, customer, cards.TEST_NAMES[wanted])
    return _attached(world, customer, world.store.get("payment_method", wanted, "payment_method"))


def detach(world: World, call: Call) -> Json:
    """From its customer."""
    method = world.store.get("payment_method", call.ids[0])
    for customer in world.store.all("customer", id=method["customer"]):
        if not customer.get("deleted") and customer["invoice_settings"]["default_payment_method"] == method["id"]:
            customer["invoice_settings"]["default_payment_method"] = None
    method["customer"] = None
    world.emit("payment_method.detached", method)
    return method


def get_card(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("payment_method", call.ids[-1])


def list_cards(world: World, call: Call) -> Json:
    """Of a customer."""
    customer = living(world, call.ids[0] if call.ids else call.params.get("customer"))["id"]
    return paged(world.store.all("payment_method", customer=customer), call.params, call.path)
