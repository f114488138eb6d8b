"""How a test directs the loopback Stripe: the control door over HTTP, and the real SDK pointed at it.

Nothing here sleeps to let time pass: `advance` moves the clock, and answers when all that was due has happened and
its webhooks have been tried.
"""

import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpx
from stripe import StripeClient

from tests.loopback.stripe.guard import is_loopback

DAY = 86_400
Post = Callable[[str, str, dict[str, str]], int]  # (path, body, headers) -> the receiver's status


class Director:
    """Of one running server."""

    def __init__(self, url: str, key: str) -> None:
        if not is_loopback(url):
            raise ValueError("the double is on this machine only")
        self.url, self.key = url, key
        self.http = httpx.Client(
            base_url=url, timeout=120, trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        )  # no certificates are ever used: reading them takes longer than a test

    def close(self) -> None:
        """Let its connections go."""
        self.http.close()

    def sdk(self, *, retries: int = 0, key: str = "") -> StripeClient:
        """The real SDK, talking to the double."""
        return StripeClient(key or self.key, base_addresses={"api": self.url}, max_network_retries=retries)

    def control(self, method: str, path: str, data: Any = None) -> Any:
        """Raises AssertionError with the server's words when it refuses."""
        answer = self.http.request(method, f"/_control/{path}", json=data)
        assert answer.is_success, answer.text
        return answer.json()

    # --- Account and time -------------------------------------------------------------------------------------

    def reset(self, *, seed: str = "1", at: int | None = None, frozen: bool = True, **habits: Any) -> None:
        """A new, empty account."""
        self.control("POST", "reset", {"seed": seed, "at": at, "frozen": frozen, "habits": habits})

    def state(self) -> dict[str, Any]:
        """Everything at a glance."""
        return dict(self.control("GET", "state"))

    def now(self) -> int:
        """The account's second."""
        return int(self.state()["now"])

    def advance(self, *, days: float = 0, seconds: int = 0) -> int:
        """Move the clock on; the second it is then."""
        return int(self.control("POST", "clock", {"advance": round(days * DAY) + seconds})["now"])

    def advance_to(self, second: int) -> int:
        """Likewise, to a moment."""
        return int(self.control("POST", "clock", {"to": second})["now"])

    def habits(self, **values: Any) -> None:
        """retry_days, dunning_end, finalize_seconds, webhooks, signed_at."""
        self.control("POST", "habits", values)

    def fault(self, kind: str, **values: Any) -> int:
        """Script one; its id."""
        return int(self.control("POST", "faults", {"fault": kind, **values})["id"])

    def clear_faults(self) -> None:
        """All of them."""
        self.control("DELETE", "faults")

    # --- Ground truth -----------------------------------------------------------------------------------------

    def objects(self, kind: str) -> list[dict[str, Any]]:
        """Every object of a class, the oldest first."""
        return list(self.control("GET", f"objects/{kind}"))

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Every event there ever was, the oldest first."""
        return list(self.control("GET", f"events?type={kind}" if kind else "events"))

    def requests(self, operation: str = "") -> list[dict[str, Any]]:
        """What clients asked, as `POST /v1/subscriptions/{id}`."""
        return [entry for entry in self.control("GET", "requests") if operation in ("", entry["op"])]

    def balance(self) -> dict[str, dict[str, int]]:
        """Per currency: charge, refund, adjustment, fee, net; minor units."""
        return dict(self.control("GET", "balance"))

    # --- The customer, the bank -------------------------------------------------------------------------------

    def pay(self, session: str, **form: Any) -> dict[str, Any]:
        """The checkout's button: card, email, name, promotion_code, tax_id, tax_id_type."""
        return dict(self.control("POST", "pay", {"session": session, **form}))

    def use_card(self, customer: str, card: str) -> None:
        """Another card for a customer: a number or a name of Stripe's."""
        self.control("POST", "card", {"customer": customer, "card": card})

    def portal(self, session: str, act: str, **form: Any) -> None:
        """A button of the portal: cancel, keep (subscription), change (subscription, price), card (card)."""
        self.control("POST", "portal", {"session": session, "act": act, **form})

    def dispute(self, **given: Any) -> dict[str, Any]:
        """charge or invoice, amount, reason."""
        return dict(self.control("POST", "disputes", given))

    def close_dispute(self, dispute: str, *, won: bool) -> dict[str, Any]:
        """The bank has decided."""
        return dict(self.control("POST", f"disputes/{dispute}", {"won": won}))

    # --- Deliveries -------------------------------------------------------------------------------------------

    def emit(self, kind: str, about: dict[str, Any] | None = None) -> dict[str, Any]:
        """An event of any type to every endpoint."""
        return dict(self.control("POST", "events", {"type": kind, "object": about}))

    def deliveries(self) -> list[dict[str, Any]]:
        """All with their answers."""
        return list(self.control("GET", "deliveries"))

    def send_held(self, **wish: Any) -> list[dict[str, Any]]:
        """What is held goes out over HTTP. wish: types, order, seed, n, parallel."""
        return list(self.control("POST", "deliveries/send", wish))

    def take(self, **wish: Any) -> list[dict[str, Any]]:
        """What is held, signed, for the test to post: path, body, headers."""
        return list(self.control("POST", "deliveries/take", wish))

    def again(self, **wish: Any) -> list[dict[str, Any]]:
        """Old events anew: events, types, order, seed, duplicates (share), parallel, take."""
        return list(self.control("POST", "deliveries/again", wish))

    def hand_over(self, rows: Iterable[dict[str, Any]], post: Post) -> list[int]:
        """Post what was taken, tell the double how each was answered (so that it retries); the statuses."""
        statuses = [(row["id"], post(row["path"], row["body"], row["headers"])) for row in rows]
        self.control("POST", "deliveries/answered", [{"id": each, "status": status} for each, status in statuses])
        return [status for _, status in statuses]

    def settle(self) -> None:
        """Wait until nothing is on its way."""
        self.control("POST", "settle")
