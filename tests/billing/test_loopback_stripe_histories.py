"""Random histories on the loopback Stripe: whatever happens, its books agree. An oracle must not be wrong itself."""

import random
from collections import Counter
from typing import Any

import pytest
from stripe import InvalidRequestError, StripeError

from tests.loopback.stripe import cards
from tests.loopback.stripe.client import Director
from tests.loopback.stripe.shop import Shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]
STEPS = 30
CARDS = (cards.GOOD, cards.FAILS_LATER, cards.ASKS_ALWAYS)


class History:
    """A seeded walk over everything that people, time and banks do."""

    def __init__(self, stripe: Director, shop: Shop, seed: int) -> None:
        self.stripe, self.shop, self.draw = stripe, shop, random.Random(seed)
        self.over = shop.overage()
        self.subs: list[Any] = []
        self.acts = (self.buy, self.buy, self.change, self.cancel, self.wait, self.wait, self.count, self.card,
                     self.refund, self.dispute, self.pause, self.leave)  # fmt: skip

    def run(self) -> None:
        """Refusals are part of life here."""
        for _ in range(STEPS):
            try:
                self.draw.choice(self.acts)()
            except StripeError as refused:
                if refused.http_status not in (400, 402, 404):
                    raise
            except IndexError:
                continue  # nobody has bought yet

    def one(self) -> Any:
        return self.shop.again(self.draw.choice(self.subs))

    def buy(self) -> None:
        price = self.draw.choice([self.shop.basic, self.shop.pro, self.shop.year])
        trial = {"subscription_data": {"trial_period_days": 7}} if self.draw.random() < 0.2 else {}
        sub = self.shop.subscribe(price=price, card=self.draw.choice(CARDS), currency=self.draw.choice(["usd", "eur"]),
                                  **trial)  # fmt: skip
        self.subs.append(sub)
        if self.draw.random() < 0.5 and price != self.shop.year:
            self.shop.v1.subscription_items.create({"subscription": sub.id, "price": self.over})

    def change(self) -> None:
        sub, price = self.one(), self.draw.choice([self.shop.basic, self.shop.pro, self.shop.year])
        how = self.draw.choice(["create_prorations", "always_invoice", "none"])
        paid = self.draw.choice(["allow_incomplete", "pending_if_incomplete", "error_if_incomplete"])
        params: Any = {"items": [{"id": sub["items"].data[0].id, "price": price}], "proration_behavior": how,
                       "payment_behavior": paid}  # fmt: skip
        self.shop.v1.subscriptions.update(sub.id, params)

    def cancel(self) -> None:
        sub = self.one()
        if self.draw.random() < 0.5:
            self.shop.v1.subscriptions.cancel(sub.id, {"prorate": True, "invoice_now": True})
        else:
            self.shop.v1.subscriptions.update(sub.id, {"cancel_at_period_end": self.draw.random() < 0.8})

    def wait(self) -> None:
        self.stripe.advance(days=self.draw.choice([0.01, 1, 8, 20, 33]))

    def count(self) -> None:
        sub = self.one()
        self.shop.words(str(sub.customer), self.draw.randint(1, 5000), str(self.draw.random()))

    def card(self) -> None:
        living = [
            sub.customer
            for sub in self.subs
            if not self.shop.v1.customers.retrieve(sub.customer).to_dict().get("deleted")
        ]
        self.stripe.use_card(self.draw.choice(living), self.draw.choice(CARDS))

    def refund(self) -> None:
        charge = self.draw.choice(self.stripe.objects("charge"))
        self.shop.v1.refunds.create({"charge": charge["id"], "amount": self.draw.randint(1, 900)})

    def dispute(self) -> None:
        open_charges = [row for row in self.stripe.objects("charge") if row["paid"] and not row["disputed"]
                        and row["amount_refunded"] < row["amount"]]  # fmt: skip
        made = self.stripe.dispute(charge=self.draw.choice(open_charges)["id"])
        if self.draw.random() < 0.5:
            self.stripe.close_dispute(made["id"], won=True)

    def pause(self) -> None:
        behavior = self.draw.choice(["void", "keep_as_draft", "mark_uncollectible"])
        pause: Any = {"behavior": behavior} if self.draw.random() < 0.6 else ""
        self.shop.v1.subscriptions.update(self.one().id, {"pause_collection": pause})

    def leave(self) -> None:
        if self.draw.random() < 0.3:
            self.shop.v1.customers.delete(str(self.one().customer))


@pytest.mark.parametrize("seed", range(4))
def test_the_books_agree_after_any_history(stripe: Director, shop: Shop, seed: int) -> None:
    History(stripe, shop, seed).run()
    invoices, sums = stripe.objects("invoice"), stripe.balance()
    paid: Counter[str] = Counter()
    for invoice in invoices:
        check_invoice(invoice)
        paid[invoice["currency"]] += invoice["amount_paid"]
    taken = {currency: entry["charge"] for currency, entry in sums.items()}
    assert taken == {currency: amount for currency, amount in paid.items() if amount}
    for currency, entry in sums.items():
        refunds = sum(row["amount"] for row in stripe.objects("refund") if row["currency"] == currency)
        lost = sum(row["amount"] for row in stripe.objects("dispute")
                   if row["currency"] == currency and row["status"] != "won")  # fmt: skip
        assert (entry["refund"], entry["adjustment"]) == (-refunds, -lost)
        assert entry["net"] == entry["charge"] + entry["refund"] + entry["adjustment"] - entry["fee"]


def check_invoice(invoice: dict[str, Any]) -> None:
    """Its own sums, and that a paid one has nothing left."""
    subtotal = sum(row["amount"] for row in invoice["lines"]["data"])
    off = sum(entry["amount"] for entry in invoice["total_discount_amounts"])
    assert (invoice["subtotal"], invoice["total"]) == (subtotal, subtotal - off)
    if invoice["status"] == "paid":
        assert (invoice["amount_paid"], invoice["amount_remaining"]) == (invoice["amount_due"], 0)
        assert invoice["amount_due"] == max(0, invoice["total"] + invoice["starting_balance"])
    else:
        assert invoice["amount_paid"] == 0


def test_the_histories_reach_every_state(stripe: Director) -> None:
    """Else they would prove little."""
    subscriptions: set[str] = set()
    invoices: set[str] = set()
    for seed in range(8):
        stripe.reset(webhooks="hold")
        history = History(stripe, Shop(stripe), seed)
        history.run()
        subscriptions |= {row["status"] for row in stripe.objects("subscription")}
        invoices |= {row["status"] for row in stripe.objects("invoice")}
    assert {"active", "canceled", "past_due"} <= subscriptions
    assert {"paid", "open", "void", "draft"} <= invoices


def test_no_history_charges_a_period_twice(stripe: Director, shop: Shop) -> None:
    History(stripe, shop, 99).run()
    seen: Counter[tuple[str, str, int]] = Counter()
    for invoice in stripe.objects("invoice"):
        for row in invoice["lines"]["data"]:
            details = row["parent"]["subscription_item_details"]
            if not details["proration"] and invoice["status"] == "paid" and row["amount"]:
                seen[
                    details["subscription_item"], row["pricing"]["price_details"]["price"], row["period"]["start"]
                ] += 1
    assert seen
    assert max(seen.values()) == 1


def test_a_deleted_customer_is_never_charged_again(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe()
    shop.v1.customers.delete(sub.customer)
    stripe.advance(days=70)
    assert len(stripe.objects("charge")) == 1
    with pytest.raises(InvalidRequestError):
        shop.v1.subscriptions.update(sub.id, {"items": [{"id": sub["items"].data[0].id, "price": shop.basic}]})
