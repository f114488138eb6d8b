"""`expand`: ids become objects, and fields that only come when asked for come. Works on the answer, not on the rows."""

import copy
from collections.abc import Callable
from typing import Any

from tests.loopback.stripe import charging, checkout, lines
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import Call, World

DEEPEST = 4


def _payments(world: World, invoice: Json) -> Any:
    rows = world.store.all("invoice_payment", invoice=invoice["id"])
    return lines.list_of(copy.deepcopy(rows), f"/v1/invoice_payments?invoice={invoice['id']}")


def _confirmation(world: World, invoice: Json) -> Any:
    payment = charging.payment_of(world, invoice)
    if payment is None:
        return None
    intent = world.store.get("payment_intent", payment["payment"]["payment_intent"])
    return {"client_secret": intent["client_secret"], "type": "payment_intent"}


def _of_customer(kind: str, path: str) -> Callable[[World, Json], Any]:
    def listed(world: World, customer: Json) -> Any:
        rows = [row for row in world.store.all(kind, customer=customer["id"]) if row.get("status") != "canceled"]
        return lines.list_of(copy.deepcopy(rows), f"/v1/customers/{customer['id']}/{path}")

    return listed


# Fields that are there only when expanded.
ASKED_FOR: dict[tuple[str, str], Callable[[World, Json], Any]] = {
    ("price", "currency_options"): lambda world, row: copy.deepcopy(world.secret(row["id"])["currency_options"]),
    ("invoice", "payments"): _payments,
    ("invoice", "confirmation_secret"): _confirmation,
    ("customer", "tax_ids"): _of_customer("tax_id", "tax_ids"),
    ("customer", "subscriptions"): _of_customer("subscription", "subscriptions"),
    ("checkout.session", "line_items"): lambda world, row: checkout.list_lines(
        world, Call((row["id"],), {"limit": "100"})
    ),
}


def expand(world: World, answer: Json, paths: list[str]) -> None:
    """Change the answer (a copy of its own). Raises Refusal 400 for a path that leads nowhere."""
    for path in paths:
        parts = path.split(".")
        if len(parts) > DEEPEST + 1:
            raise invalid(f"You cannot expand more than {DEEPEST} levels of a property.", "expand")
        _walk(world, answer, parts, path)


def _walk(world: World, node: Any, parts: list[str], path: str) -> None:
    if isinstance(node, list):
        for each in node:
            _walk(world, each, parts, path)
        return
    if not isinstance(node, dict) or not parts:
        return
    name, rest = parts[0], parts[1:]
    asked_for = ASKED_FOR.get((str(node.get("object")), name))
    if asked_for is not None and name not in node:
        node[name] = asked_for(world, node)
    if name not in node:
        if node.get("deleted"):
            return
        raise invalid(f"This property cannot be expanded ({path}).", "expand")
    node[name] = _object(world, node[name])
    _walk(world, node[name], rest, path)


def _object(world: World, value: Any) -> Any:
    if isinstance(value, str):
        found = world.store.find(value)
        return copy.deepcopy(found) if found else value
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return [_object(world, each) for each in value]
    return value
