"""The account: clock, objects, events, faults, habits. Every module of the double works on one World, in one loop.

`Call` is one request as a handler gets it. Handlers are plain functions (world, call) -> JSON: nothing else happens
meanwhile, so each request is one transaction.
"""

import asyncio
import copy
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from tests.loopback.stripe.clock import Clock
from tests.loopback.stripe.faults import Faults
from tests.loopback.stripe.shapes import blank
from tests.loopback.stripe.store import Json, Store

API_VERSION = "2026-10-28.endive"
TEST_KEY = "sk_test_loopback"
LIVE_KEY = "sk_live_loopback"
REQUESTS_KEPT = 50_000


@dataclass
class Habits:
    """How the account is set up; all changeable by the control door."""

    retry_days: list[int] = field(default_factory=lambda: [3, 5, 7])  # after each failed renewal, then:
    dunning_end: str = "cancel"  # cancel, unpaid, past_due
    finalize_seconds: int = 3600  # a renewal's invoice stays a draft that long
    webhooks: str = "push"  # push = at once over HTTP; hold = kept until the control door sends or takes them
    signed_at: str = "real"  # which clock signs: real (the receiver checks by its own), double


@dataclass(frozen=True)
class Call:
    """One request: path ids, parameters of body or query, and who asks how."""

    ids: tuple[str, ...]
    params: Json
    request_id: str | None = None
    idempotency_key: str | None = None
    path: str = ""

    def with_params(self, **params: Any) -> "Call":
        """The same with others."""
        return Call(self.ids, params, self.request_id, self.idempotency_key, self.path)


Handler = Callable[["World", Call], Json]
TimerTurn = Callable[["World", str, int], None]


class World:
    """Everything of one account in one mode."""

    def __init__(
        self, seed: str = "1", start: int | None = None, *, frozen: bool = True, livemode: bool = False
    ) -> None:
        self.livemode = livemode
        self.key = LIVE_KEY if livemode else TEST_KEY
        self.base_url = ""
        self.turns: dict[str, TimerTurn] = {}
        self.listener: Callable[[Json], None] = lambda _: None
        self.reset(seed, start, frozen=frozen)

    def reset(self, seed: str, start: int | None = None, *, frozen: bool = True) -> None:
        """A new, empty account at this address."""
        self.clock = Clock(start, frozen=frozen)
        self.store = Store(seed)
        self.faults = Faults()
        self.habits = Habits()
        self.requests: deque[Json] = deque(maxlen=REQUESTS_KEPT)
        self.answers: dict[str, Any] = {}  # by idempotency key, see gate.py
        self.hidden: dict[str, Json] = {}  # what Stripe knows of an object and doesn't show
        self.asking: Call | None = None

    def change_habits(self, data: Json) -> None:
        """Raises ValueError for one that doesn't exist."""
        if strange := set(data) - {each.name for each in fields(Habits)}:
            raise ValueError(f"there is no habit {', '.join(sorted(strange))}")
        for name, value in data.items():
            setattr(self.habits, name, value)

    # --- Objects ----------------------------------------------------------------------------------------------

    def make(self, kind: str, prefix: str, **values: Any) -> Json:
        """A new object of this class, kept."""
        row = blank(kind, **values)
        row["id"] = row["id"] or self.store.new_id(prefix)
        row["created"] = self.clock.now() if "created" in row else None
        for name, otherwise in (("livemode", self.livemode), ("metadata", {})):
            if name in row and row[name] is None:
                row[name] = otherwise
        if "created" not in blank(kind):
            del row["created"]
        return self.store.add(row)

    def secret(self, owner: str) -> Json:
        """What is known of an object beside its shape."""
        return self.hidden.setdefault(owner, {})

    # --- Events -----------------------------------------------------------------------------------------------

    def emit(self, kind: str, about: Json, before: Json | None = None) -> Json:
        """An event with a snapshot; before: the earlier values of what changed, for an …updated."""
        data: Json = {"object": copy.deepcopy(about)}
        if before is not None:
            data["previous_attributes"] = before
        call = self.asking
        request = {"id": call.request_id if call else None, "idempotency_key": call.idempotency_key if call else None}
        event = self.make("event", "evt", api_version=API_VERSION, data=data, pending_webhooks=0, request=request,
                          type=kind)  # fmt: skip
        self.listener(event)
        return event

    def changed(self, kind: str, row: Json, before: Json) -> None:
        """An …updated event if anything did; before: a deep copy from earlier."""
        differs = {name: before.get(name) for name in row if row[name] != before.get(name)}
        if differs:
            self.emit(kind, row, differs)

    # --- Time -------------------------------------------------------------------------------------------------

    async def advance(self, to: int, between: Callable[[], Any] | None = None) -> None:
        """Move the clock on; what is due happens in order, each at its moment. between: awaited after each."""
        while (timer := self.clock.next_due(to)) is not None:
            self.clock.move_to(timer.when)
            self.turns[timer.kind](self, timer.about, timer.when)
            await (between() if between else asyncio.sleep(0))
        self.clock.move_to(to)
