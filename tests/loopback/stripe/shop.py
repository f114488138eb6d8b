"""What most tests need of an account: a product with prices in several currencies, an endpoint, somebody who buys.

Amounts in minor units. Everything goes through the SDK, as the product's own calls do.
"""

from typing import Any

from stripe import StripeClient

from tests.loopback.stripe.client import Director

HOOK = "http://127.0.0.1:9/webhooks/stripe/"  # nobody listens there: tests hold or take what would be sent
AWAY = "http://127.0.0.1:9/return?session={CHECKOUT_SESSION_ID}"
AMOUNTS = {"usd": 1900, "eur": 1800, "jpy": 2800, "kwd": 5990}


class Shop:
    """One catalogue: `basic` and `pro` a month, `year` of pro, `overage` per started 1,000 words by a meter."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.sdk: StripeClient = director.sdk()
        self.v1 = self.sdk.v1
        self.endpoint = self.v1.webhook_endpoints.create({"url": HOOK, "enabled_events": ["*"]})
        self.secret = str(self.endpoint.secret)
        self.product = self.v1.products.create({"name": "Pro"}).id
        self.basic, self.pro, self.year = (
            self.price(usd=900, eur=900),
            self.price(**AMOUNTS),
            self.price("year", usd=19_000, eur=18_000),
        )

    def price(self, interval: Any = "month", **amounts: int) -> str:
        """A licensed price with an amount per currency."""
        first, *others = amounts.items()
        options: Any = {currency: {"unit_amount": amount} for currency, amount in others}
        made = self.v1.prices.create(
            {
                "product": self.product,
                "currency": first[0],
                "unit_amount": first[1],
                "recurring": {"interval": interval},
                "currency_options": options,
            }
        )
        return made.id

    def overage(self, cents: int = 50) -> str:
        """A metered price on a meter of words."""
        meter = self.v1.billing.meters.create(
            {"display_name": "Words", "event_name": "words", "default_aggregation": {"formula": "sum"}}
        )
        made = self.v1.prices.create(
            {
                "product": self.product,
                "currency": "usd",
                "unit_amount": cents,
                "recurring": {"interval": "month", "usage_type": "metered", "meter": meter.id},
                "transform_quantity": {"divide_by": 1000, "round": "up"},
                "currency_options": {"eur": {"unit_amount": cents}},
            }
        )
        return made.id

    def words(self, customer: str, count: int, identifier: str, at: int | None = None) -> None:
        """Metered use."""
        params: Any = {
            "event_name": "words",
            "payload": {"stripe_customer_id": customer, "value": str(count)},
            "identifier": identifier,
        }
        self.v1.billing.meter_events.create(params | ({} if at is None else {"timestamp": at}))

    def customer(self, email: str = "buyer@example.com") -> str:
        """A new one."""
        return self.v1.customers.create({"email": email}).id

    def session(self, customer: str, *prices: str, **more: Any) -> Any:
        """An open checkout."""
        rows = [
            {"price": price} if price == more.get("metered") else {"price": price, "quantity": 1} for price in prices
        ]
        more.pop("metered", None)
        params: Any = {"mode": "subscription", "customer": customer, "line_items": rows, "success_url": AWAY, **more}
        return self.v1.checkout.sessions.create(params)

    def subscribe(self, customer: str = "", price: str = "", *, card: str = "pm_card_visa", **more: Any) -> Any:
        """A paid checkout's subscription, as the SDK reads it."""
        session = self.session(customer or self.customer(), price or self.pro, **more)
        paid = self.director.pay(session.id, card=card)
        return self.v1.subscriptions.retrieve(paid["subscription"])

    def again(self, subscription: Any) -> Any:
        """As it is now."""
        return self.v1.subscriptions.retrieve(subscription.id)

    def invoices(self, subscription: Any) -> list[Any]:
        """The oldest first."""
        return list(self.v1.invoices.list({"subscription": subscription.id, "limit": 100}).data)[::-1]
