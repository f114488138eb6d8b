"""Handlers of invoices, and the preview of a change."""

import copy

from tests.loopback.stripe import cards, changes, invoicing
from tests.loopback.stripe.encoding import flag, merged
from tests.loopback.stripe.errors import invalid
from tests.loopback.stripe.store import Json, paged
from tests.loopback.stripe.subscription_api import ENDED, living
from tests.loopback.stripe.world import Call, World


def get_invoice(world: World, call: Call) -> Json:
    """One."""
    return world.store.get("invoice", call.ids[0])


def list_invoices(world: World, call: Call) -> Json:
    """By customer, subscription, status."""
    given = call.params
    return paged(
        world.store.all("invoice"), given, "/v1/invoices",
        lambda row: all(row[name] == given[name] for name in ("customer", "status") if given.get(name))
        and (not given.get("subscription")
             or row["parent"]["subscription_details"]["subscription"] == given["subscription"]),
    )  # fmt: skip


def list_lines(world: World, call: Call) -> Json:
    """Of an invoice, in its own order."""
    rows = world.store.get("invoice", call.ids[0])["lines"]["data"]
    return paged(rows[::-1], call.params, call.path)


def update_invoice(world: World, call: Call) -> Json:
    """auto_advance, metadata, description."""
    invoice, given = world.store.get("invoice", call.ids[0]), call.params
    before = copy.deepcopy(invoice)
    invoice["metadata"] = merged(invoice["metadata"], given.get("metadata"))
    invoice["description"] = given.get("description", invoice["description"])
    invoice["auto_advance"] = flag(given, "auto_advance", invoice["auto_advance"])
    if invoice["auto_advance"] and invoice["status"] == "draft" and not before["auto_advance"]:
        world.clock.at(world.clock.now() + world.habits.finalize_seconds, "finalize", invoice["id"])
    world.changed("invoice.updated", invoice, before)
    return invoice


def pay_invoice(world: World, call: Call) -> Json:
    """Now, with the customer's card or the one that is named; raises Refusal 402 when it is declined."""
    invoice, given = world.store.get("invoice", call.ids[0]), call.params
    if flag(given, "paid_out_of_band"):
        raise invalid("The double takes no money out of band.", "paid_out_of_band")
    if invoice["status"] == "draft":
        invoicing.finalize(world, invoice)
    method = world.store.get("payment_method", given["payment_method"]) if given.get("payment_method") else None
    if invoice["status"] != "paid" or not invoice["amount_due"]:
        code = (
            ""
            if invoice["status"] == "paid"
            else invoicing.collect(world, invoice, method, present=not flag(given, "off_session"))
        )
        if code:
            raise cards.declined(code)
        return invoice
    raise invalid("Invoice is already paid", code="invoice_already_paid")


def finalize_invoice(world: World, call: Call) -> Json:
    """A draft."""
    invoice = world.store.get("invoice", call.ids[0])
    invoicing.finalize(world, invoice)
    return invoice


def void_invoice(world: World, call: Call) -> Json:
    """An open one."""
    invoice = world.store.get("invoice", call.ids[0])
    if invoice["status"] == "draft":
        raise invalid("You can only void open or uncollectible invoices.")
    invoicing.void(world, invoice)
    return invoice


def give_up_invoice(world: World, call: Call) -> Json:
    """mark_uncollectible."""
    invoice = world.store.get("invoice", call.ids[0])
    invoicing.uncollectible(world, invoice)
    return invoice


def create_preview(world: World, call: Call) -> Json:
    """Of a running subscription: subscription, subscription_details[items, proration_behavior, proration_date]."""
    given, details = call.params, call.params.get("subscription_details") or {}
    if given.get("subscription"):
        sub = living(world, given["subscription"])
    elif given.get("customer"):
        live = [
            row for row in world.store.all("subscription", customer=given["customer"]) if row["status"] not in ENDED
        ]
        if not live:
            raise invalid("No upcoming invoices for customer.", code="invoice_upcoming_none")
        sub = live[-1]
    else:
        raise invalid("The double previews running subscriptions only.", "subscription")
    if not details.get("items") and (sub["cancel_at_period_end"] or flag(details, "cancel_at_period_end")):
        raise invalid(f"No upcoming invoices for subscription: {sub['id']}", code="invoice_upcoming_none")
    return changes.preview(world, sub, details)
