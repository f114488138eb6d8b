"""What shall go wrong: a list of faults, each with how often and whom it meets.

One line of JSON to the control door, as in
    {"fault": "server_error", "after": true, "times": 2, "where": {"op": "POST /v1/subscriptions/{id}"}}
`where`: op (method and path pattern) for requests; type, event, endpoint for deliveries; customer for charges.
An entry ending in * fits a beginning. `times` null = until cleared. All else are the fault's own values.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# kind -> (how often unless told otherwise, what happens and which values it takes)
KINDS: dict[str, tuple[int | None, str]] = {
    "timeout": (1, "no answer for `delay` real seconds (30); after: true = carried out all the same"),
    "slow": (1, "carried out, answered after `delay` real seconds; its idempotency key is in use meanwhile"),
    "rate_limited": (1, "429; retry: true = told to retry at once by Stripe-Should-Retry"),
    "server_error": (1, "500; after: true = carried out all the same; retry: false = told not to retry"),
    "unavailable": (1, "503 with an HTML page"),
    "reset": (1, "the connection is cut; after: true = carried out all the same"),
    "key_refused": (1, "401, as for a revoked key"),
    "card_declined": (1, "the next charge is declined, whatever card; code: the decline code"),
    "webhook_duplicate": (1, "delivered `copies` times (2)"),
    "webhook_delayed": (1, "delivered `seconds` later, by the clock"),
    "webhook_dropped": (1, "never delivered"),
    "webhook_answer_lost": (1, "delivered; whatever the receiver says counts as 500, so it is retried"),
    "webhook_fails": (1, "the try never reaches the receiver, so it is retried"),
    "webhook_wrong_secret": (1, "signed with another secret; the retry is right if retried: true"),
    "webhook_old": (1, "signed `seconds` ago (3600)"),
    "webhook_future": (1, "signed `seconds` ahead (3600)"),
    "webhook_wrong_livemode": (1, "the event says the other livemode, validly signed"),
    "webhook_wrong_version": (1, "the event is of api_version `version` (2020-08-27)"),
    "webhook_garbage": (1, "a validly signed body that is no JSON"),
    "webhook_unsigned": (1, "no Stripe-Signature header"),
}
OF_A_REQUEST = ("timeout", "slow", "rate_limited", "server_error", "unavailable", "reset", "key_refused")
WHERE = frozenset({"op", "type", "event", "endpoint", "customer"})


@dataclass
class Fault:
    """One entry; `left` None = without end."""

    id: int
    kind: str
    left: int | None
    where: Mapping[str, str]
    values: Mapping[str, Any]
    hits: int = field(default=0)

    def meets(self, context: Mapping[str, Any]) -> bool:
        """Whether all that `where` asks for is so."""
        return all(fnmatch.fnmatchcase(str(context.get(name)), wanted.replace("[", "[[]"))
                   for name, wanted in self.where.items())  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """For the control door."""
        return {"id": self.id, "fault": self.kind, "left": self.left, "hits": self.hits, "where": dict(self.where),
                **self.values}  # fmt: skip


class Faults:
    """All faults of the account, the oldest first."""

    def __init__(self) -> None:
        self._all: list[Fault] = []
        self._made = 0

    def add(self, data: Mapping[str, Any]) -> Fault:
        """From the control door's JSON; raises ValueError when no such fault or condition exists."""
        kind = str(data.get("fault"))
        if kind not in KINDS:
            raise ValueError(f"no fault is called {kind!r}; there are {', '.join(KINDS)}")
        where = {str(name): str(value) for name, value in dict(data.get("where") or {}).items()}
        if strange := set(where) - WHERE:
            raise ValueError(f"a fault cannot ask for {', '.join(sorted(strange))}")
        self._made += 1
        values = {name: value for name, value in data.items() if name not in ("fault", "where", "times")}
        fault = Fault(self._made, kind, data.get("times", KINDS[kind][0]), where, values)
        self._all.append(fault)
        return fault

    def take(self, kinds: str | Iterable[str], **context: Any) -> Fault | None:
        """The first fault of these kinds that meets this, used up by one; None mostly."""
        wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        for fault in self._all:
            if fault.left != 0 and fault.kind in wanted and fault.meets(context):
                fault.hits += 1
                fault.left = None if fault.left is None else fault.left - 1
                return fault
        return None

    def clear(self, number: int | None = None) -> None:
        """Forget one, or all."""
        self._all = [] if number is None else [fault for fault in self._all if fault.id != number]

    def to_json(self) -> list[dict[str, Any]]:
        """All that are in force or were."""
        return [fault.to_json() for fault in self._all]
