"""Endpoints, deliveries and time for tests of webhooks, through the product's own verbs."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import factories

from billing.accounts import account_of
from billing.models import User
from detector import webhook_delivery, webhook_endpoints
from detector.models import WebhookDelivery, WebhookEndpoint
from detector.models.webhook import EventType
from detector.webhook_sending import Wire

PUBLIC = "https://hooks.example.com/inkcloak"
WIRE = Wire(seconds=5.0)


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = factories.NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def endpoint(
    of: User, url: str = PUBLIC, *, events: tuple[str, ...] = tuple(EventType.values), now: datetime = factories.NOW
) -> webhook_endpoints.Secret:
    """An endpoint of this person's account, with its secret. The name server knows every name."""
    return webhook_endpoints.create(
        account_of(of), url=url, events=events, now=now, ask=lambda _host, _port: ["93.184.215.14"]
    )


def a_message(to: WebhookEndpoint, now: datetime = factories.NOW) -> WebhookDelivery:
    """One that waits to be sent."""
    return webhook_endpoints.send_test(to, now=now)


def deliver(clock: Clock, *, wire: Wire = WIRE, chance: Callable[[], float] = random.random) -> bool:
    return webhook_delivery.deliver_due(clock=clock, wire=wire, chance=chance)


def fresh(delivery: WebhookDelivery) -> WebhookDelivery:
    return WebhookDelivery.objects.select_related("endpoint", "event").get(pk=delivery.pk)
