"""The test cards, by Stripe's own numbers, and what each does. Pure."""

from dataclasses import dataclass
from typing import Any

from tests.loopback.stripe.errors import Refusal, invalid


@dataclass(frozen=True)
class Card:
    """decline: the code when charged on the page or with the customer present; later: the code off-session, at
    renewals. asks: whether the holder has to confirm on the page (3-D Secure)."""

    number: str
    brand: str
    says: str
    decline: str = ""
    later: str = ""
    asks: bool = False


CARDS = {
    card.number: card
    for card in (
        Card("4242424242424242", "visa", "works"),
        Card("5555555555554444", "mastercard", "works"),
        Card("4000000000000002", "visa", "is declined", "generic_decline", "generic_decline"),
        Card("4000000000009995", "visa", "has too little money", "insufficient_funds", "insufficient_funds"),
        Card("4000000000000341", "visa", "works now and is declined at each renewal", "", "generic_decline"),
        Card("4000000000003220", "visa", "asks its holder (3-D Secure) and works at renewals", asks=True),
        Card("4000002760003184", "visa", "asks its holder each time, at renewals too", "", "authentication_required",
             asks=True),
    )
}  # fmt: skip
GOOD = "4242424242424242"
DECLINED = "4000000000000002"
FAILS_LATER = "4000000000000341"
ASKS_ONCE = "4000000000003220"
ASKS_ALWAYS = "4000002760003184"
TEST_NAMES = {
    "pm_card_visa": GOOD, "pm_card_mastercard": "5555555555554444", "pm_card_chargeCustomerFail": FAILS_LATER,
    "pm_card_threeDSecure2Required": ASKS_ONCE, "pm_card_authenticationRequired": ASKS_ALWAYS,
    "pm_card_visa_chargeDeclined": DECLINED, "pm_card_chargeDeclined": DECLINED,
}  # fmt: skip
WORDS = {
    "generic_decline": "Your card was declined.",
    "insufficient_funds": "Your card has insufficient funds.",
    "authentication_required": "Your card was declined. This transaction requires authentication.",
}


def of(number: str) -> Card:
    """By what was typed; raises Refusal 402 for none of ours."""
    digits = "".join(each for each in number if each.isdigit())
    if digits not in CARDS:
        raise Refusal(402, "Your card number is incorrect.", code="incorrect_number", param="number", kind="card_error")
    return CARDS[digits]


def by_name(name: str) -> str:
    """The number for a number or a Stripe test name; raises Refusal 400."""
    number = TEST_NAMES.get(name, name)
    if number not in CARDS:
        raise invalid(f"No such card: {name}", "card")
    return number


def declined(code: str) -> Refusal:
    """402, as a declined charge answers."""
    words = WORDS.get(code, "Your card was declined.")
    shown = code if code == "authentication_required" else "card_declined"
    return Refusal(402, words, code=shown, kind="card_error", decline_code=code)


def shape(card: Card) -> dict[str, Any]:
    """A payment method's `card`. Four digits are all that is ever shown."""
    return {
        "brand": card.brand, "checks": {"address_line1_check": None, "address_postal_code_check": None,
                                        "cvc_check": "pass"},
        "country": "US", "display_brand": card.brand, "exp_month": 12, "exp_year": 2040,
        "fingerprint": f"loopback{card.number[-4:]}", "funding": "credit", "generated_from": None,
        "last4": card.number[-4:], "networks": {"available": [card.brand], "preferred": None},
        "regulated_status": "unregulated", "three_d_secure_usage": {"supported": True}, "wallet": None,
    }  # fmt: skip
