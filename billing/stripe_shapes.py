"""What we read of Stripe's objects, as frozen values. Pure: JSON in, values out; nothing here knows the SDK.

Where fields live is as of API version 2026-10-28.endive: periods on a subscription's items, an invoice's subscription
under `parent`, its payments in a list of their own. Amounts are whole minor units of their currency.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]
# On prices and products: which plan they are.  On subscriptions: the dearer plan that was paid for until then, and
# from when on a pause counts.
PLAN, VERSION = "inkcloak_plan", "inkcloak_version"
KEEPS, KEEPS_UNTIL, PAUSE_FROM = "inkcloak_keeps", "inkcloak_keeps_until", "inkcloak_pause_from"
ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class Customer:
    id: str
    livemode: bool
    deleted: bool
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Price:
    """amount: of one interval."""

    id: str
    lookup_key: str
    metadata: Json
    product: str
    interval: str
    currency: str
    amount: int
    active: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """A checkout. status: open, complete or expired."""

    id: str
    url: str
    status: str
    customer: str
    subscription: str
    livemode: bool
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SubscriptionState:
    """item_id, price: of the item that is paid by period.  billed_at: when the newest invoice was made; None where that
    was not expanded.  at_period_end: whether cancels_at is the period's end, or a date that somebody set."""

    id: str
    customer: str
    livemode: bool
    status: str
    currency: str
    item_id: str
    price: Price | None
    period_start: datetime | None
    period_end: datetime | None
    cancels_at: datetime | None
    at_period_end: bool
    paused: bool
    started_at: datetime
    ended_at: datetime | None
    billed_at: datetime | None
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an invoice, as Stripe words it."""

    text: str
    amount: int
    is_proration: bool


@dataclass(frozen=True, slots=True)
class InvoiceState:
    id: str
    customer: str
    subscription: str
    livemode: bool
    number: str
    status: str
    reason: str
    currency: str
    total: int
    tax: int
    due: int
    paid: int
    period_start: datetime | None
    period_end: datetime | None
    created_at: datetime
    paid_at: datetime | None
    next_attempt_at: datetime | None
    hosted_url: str
    pdf_url: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment of an invoice."""

    id: str
    invoice: str
    intent: str
    amount: int
    currency: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Movement:
    """A line of the balance at Stripe: amount before, fee taken off it. Both in the currency of the balance."""

    id: str
    amount: int
    fee: int
    currency: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Charge:
    id: str
    customer: str
    intent: str
    movement: Movement | None


@dataclass(frozen=True, slots=True)
class Refund:
    """status: pending, requires_action, succeeded, failed or canceled."""

    id: str
    charge: str
    customer: str
    intent: str
    amount: int
    currency: str
    status: str
    at: datetime
    movement: Movement | None


@dataclass(frozen=True, slots=True)
class Dispute:
    id: str
    customer: str
    intent: str
    status: str
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    type: str
    livemode: bool
    api_version: str
    created_at: datetime
    object_id: str
    payload: Json


def moment(seconds: Any) -> datetime | None:
    """Stripe's whole seconds since 1970; None where it says none."""
    return None if seconds in (None, "") else datetime.fromtimestamp(int(seconds), UTC)


def the_moment(seconds: Any) -> datetime:
    """The same where Stripe always says one. Raises ValueError where it doesn't."""
    found = moment(seconds)
    if found is None:
        raise ValueError("a time is missing")
    return found


def id_of(value: Any) -> str:
    """Of a reference, expanded or not; "" for none."""
    return str((value.get("id") if isinstance(value, Mapping) else value) or "")


def customer(found: Json) -> Customer:
    return Customer(
        str(found["id"]), bool(found.get("livemode")), bool(found.get("deleted")), found.get("metadata") or {}
    )


def price(found: Json) -> Price:
    recurring = found.get("recurring") or {}
    return Price(
        id=str(found["id"]),
        lookup_key=str(found.get("lookup_key") or ""),
        metadata=found.get("metadata") or {},
        product=id_of(found.get("product")),
        interval=str(recurring.get("interval") or ""),
        currency=str(found.get("currency") or ""),
        amount=int(found.get("unit_amount") or 0),
        active=bool(found.get("active")),
    )


def session(found: Json) -> Session:
    return Session(
        id=str(found["id"]),
        url=str(found.get("url") or ""),
        status=str(found.get("status") or ""),
        customer=id_of(found.get("customer")),
        subscription=id_of(found.get("subscription")),
        livemode=bool(found["livemode"]),
        metadata=found.get("metadata") or {},
    )


def subscription(found: Json) -> SubscriptionState:
    item = _licensed(found)
    ends = moment(item.get("current_period_end"))
    newest = found.get("latest_invoice")
    return SubscriptionState(
        id=str(found["id"]),
        customer=id_of(found.get("customer")),
        livemode=bool(found["livemode"]),
        status=str(found["status"]),
        currency=str(found.get("currency") or ""),
        item_id=str(item.get("id") or ""),
        price=price(item["price"]) if item.get("price") else None,
        period_start=moment(item.get("current_period_start")),
        period_end=ends,
        cancels_at=moment(found.get("cancel_at")) or (ends if found.get("cancel_at_period_end") else None),
        at_period_end=bool(found.get("cancel_at_period_end")),
        paused=bool(found.get("pause_collection")),
        started_at=the_moment(found.get("start_date") or found.get("created")),
        ended_at=moment(found.get("ended_at")),
        billed_at=moment(newest.get("created")) if isinstance(newest, Mapping) else None,
        metadata=found.get("metadata") or {},
    )


def _licensed(found: Json) -> Json:
    """The item that is paid by period; one that is metered comes second."""
    items = (found.get("items") or {}).get("data") or []
    usage = [(((each.get("price") or {}).get("recurring") or {}).get("usage_type"), each) for each in items]
    return next((each for kind, each in usage if kind != "metered"), {})


def invoice(found: Json) -> InvoiceState:
    details = (found.get("parent") or {}).get("subscription_details") or {}
    steps = found.get("status_transitions") or {}
    return InvoiceState(
        id=str(found.get("id") or ""),
        customer=id_of(found.get("customer")),
        subscription=id_of(details.get("subscription")),
        livemode=bool(found.get("livemode")),
        number=str(found.get("number") or ""),
        status=str(found.get("status") or ""),
        reason=str(found.get("billing_reason") or ""),
        currency=str(found["currency"]),
        total=int(found.get("total") or 0),
        tax=sum(int(tax.get("amount") or 0) for tax in found.get("total_taxes") or []),
        due=int(found.get("amount_due") or 0),
        paid=int(found.get("amount_paid") or 0),
        period_start=moment(found.get("period_start")),
        period_end=moment(found.get("period_end")),
        created_at=the_moment(found["created"]),
        paid_at=moment(steps.get("paid_at")),
        next_attempt_at=moment(found.get("next_payment_attempt")),
        hosted_url=str(found.get("hosted_invoice_url") or ""),
        pdf_url=str(found.get("invoice_pdf") or ""),
        lines=tuple(_line(each) for each in (found.get("lines") or {}).get("data") or []),
    )


def _line(found: Json) -> Line:
    parent = found.get("parent") or {}
    details = parent.get("subscription_item_details") or parent.get("invoice_item_details") or {}
    return Line(str(found.get("description") or ""), int(found.get("amount") or 0), bool(details.get("proration")))


def payment(found: Json) -> Payment:
    return Payment(
        id=str(found["id"]),
        invoice=id_of(found.get("invoice")),
        intent=id_of((found.get("payment") or {}).get("payment_intent")),
        amount=int(found.get("amount_paid") or 0),
        currency=str(found["currency"]),
        at=moment((found.get("status_transitions") or {}).get("paid_at")),
    )


def movement(found: Any) -> Movement | None:
    """None where it was not expanded, or doesn't exist yet."""
    if not isinstance(found, Mapping):
        return None
    return Movement(
        id=str(found["id"]),
        amount=int(found["amount"]),
        fee=int(found.get("fee") or 0),
        currency=str(found["currency"]),
        at=the_moment(found["created"]),
    )


def charge(found: Json) -> Charge:
    return Charge(
        id=str(found["id"]),
        customer=id_of(found.get("customer")),
        intent=id_of(found.get("payment_intent")),
        movement=movement(found.get("balance_transaction")),
    )


def refund(found: Json) -> Refund:
    of = found.get("charge")
    return Refund(
        id=str(found["id"]),
        charge=id_of(of),
        customer=_customer_of(of),
        intent=id_of(found.get("payment_intent")),
        amount=int(found["amount"]),
        currency=str(found["currency"]),
        status=str(found.get("status") or ""),
        at=the_moment(found["created"]),
        movement=movement(found.get("balance_transaction")),
    )


def dispute(found: Json) -> Dispute:
    moved = [movement(each) for each in found.get("balance_transactions") or []]
    return Dispute(
        id=str(found["id"]),
        customer=_customer_of(found.get("charge")),
        intent=id_of(found.get("payment_intent")),
        status=str(found.get("status") or ""),
        movements=tuple(each for each in moved if each is not None),
    )


def _customer_of(of: Any) -> str:
    return id_of(of.get("customer")) if isinstance(of, Mapping) else ""


def event(found: Json) -> Event:
    """Raises KeyError, TypeError, ValueError for what is none."""
    if found["object"] != "event":
        raise ValueError("not an event")
    about = found["data"]["object"]
    return Event(
        id=str(found["id"]),
        type=str(found["type"]),
        livemode=bool(found["livemode"]),
        api_version=str(found.get("api_version") or ""),
        created_at=the_moment(found["created"]),
        object_id=id_of(about),
        payload=found,
    )
