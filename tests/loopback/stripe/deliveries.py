"""Webhooks: each event to each endpoint that wants it, signed by the SDK itself, in order, retried by the clock.

push: sent at once over HTTP, to this machine only.  hold: kept until the control door sends them, or hands them to a
test that posts them itself (`take`, then `answered`).
"""

import asyncio
import json
import random
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from stripe import WebhookSignature

from tests.loopback.stripe.clock import HOUR
from tests.loopback.stripe.faults import Fault
from tests.loopback.stripe.guard import is_loopback
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

RETRY_SECONDS = (300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR)  # then given up: 3 days
PATIENCE_SECONDS = 20.0  # until a silent receiver counts as failed
SETTLE_SECONDS = 60.0
OTHER_SECRET = "whsec_of_somebody_else"
TWISTS = ("webhook_wrong_secret", "webhook_old", "webhook_future", "webhook_wrong_livemode", "webhook_wrong_version",
          "webhook_garbage", "webhook_unsigned", "webhook_fails", "webhook_answer_lost")  # fmt: skip


class Deliveries:
    """Of one account. `all` is the log, the oldest first."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.all: dict[str, Json] = {}
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._busy = 0
        self._http: aiohttp.ClientSession | None = None
        world.listener = self.on_event
        world.turns["delivery"] = self.on_due

    def reset(self) -> None:
        """Forget everything."""
        self.all.clear()
        while not self._queue.empty():
            self._queue.get_nowait()

    # --- From event to delivery -------------------------------------------------------------------------------

    def on_event(self, event: Json, *, forced: bool = False) -> None:
        """One delivery for each endpoint that is on and wants this type."""
        for endpoint in self.world.store.all("webhook_endpoint", status="enabled"):
            if forced or {"*", event["type"]} & set(endpoint["enabled_events"]):
                self._begin(event, endpoint)

    def _begin(self, event: Json, endpoint: Json) -> None:
        seen = {"type": event["type"], "event": event["id"], "endpoint": endpoint["id"]}
        event["pending_webhooks"] += 1
        take = self.world.faults.take
        dropped, delayed = take("webhook_dropped", **seen), take("webhook_delayed", **seen)
        twice, twist = take("webhook_duplicate", **seen), take(TWISTS, **seen)
        for _ in range(int(twice.values.get("copies", 2)) if twice else 1):
            made = self.new(event["id"], endpoint["id"], twist)
            if dropped:
                made["status"] = "dropped"
            elif delayed:
                made["due_at"] = self.world.clock.now() + int(delayed.values.get("seconds", 60))
                self.world.clock.at(made["due_at"], "delivery", made["id"])
            else:
                self.due(made)

    def new(self, event: str, endpoint: str, twist: Fault | None = None) -> Json:
        """One, waiting."""
        number = f"dl_{len(self.all) + 1}"
        self.all[number] = {
            "id": number, "event": event, "endpoint": endpoint, "type": self.world.store.get("event", event)["type"],
            "status": "waiting", "attempt": 0, "answers": [], "due_at": self.world.clock.now(),
            "twist": {"fault": twist.kind, **twist.values} if twist else None,
        }  # fmt: skip
        return self.all[number]

    def due(self, delivery: Json) -> None:
        """Its time has come."""
        if self.world.habits.webhooks == "hold":
            delivery["status"] = "held"
        else:
            delivery["status"] = "queued"
            self._queue.put_nowait(delivery["id"])

    def on_due(self, _: World, about: str, __: int) -> None:
        """A delayed one, or a retry."""
        if about in self.all and self.all[about]["status"] == "waiting":
            self.due(self.all[about])

    # --- One try ----------------------------------------------------------------------------------------------

    def signed(self, delivery: Json) -> tuple[str, dict[str, str]]:
        """Body and headers as they go out."""
        endpoint = self.world.store.get("webhook_endpoint", delivery["endpoint"])
        twist = dict(delivery["twist"] or {})
        kind = twist.get("fault", "")
        event = {**self.world.store.get("event", delivery["event"]), "api_version": endpoint["api_version"]}
        if kind == "webhook_wrong_livemode":
            event["livemode"] = not event["livemode"]
        if kind == "webhook_wrong_version":
            event["api_version"] = twist.get("version", "2020-08-27")
        body = "{no json" if kind == "webhook_garbage" else json.dumps(event, indent=2)
        when = int(time.time()) if self.world.habits.signed_at == "real" else self.world.clock.now()
        shift = int(twist.get("seconds", HOUR))
        when += {"webhook_old": -shift, "webhook_future": shift}.get(kind, 0)
        secret = OTHER_SECRET if kind == "webhook_wrong_secret" else self.world.secret(endpoint["id"])["secret"]
        headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Stripe/1.0 (+https://stripe.com)"}
        if kind != "webhook_unsigned":
            headers["Stripe-Signature"] = WebhookSignature.generate_signature_header(body, secret, when)
        return body, headers

    def answered(self, delivery: Json, status: int) -> None:
        """What the receiver said (0 = nothing): done, or retried later."""
        twist = dict(delivery["twist"] or {})
        delivery["attempt"] += 1
        delivery["answers"].append(status)
        good = 200 <= status < 300 and twist.get("fault") != "webhook_answer_lost"
        if delivery["twist"] and (twist.get("retried") or twist["fault"] in ("webhook_answer_lost", "webhook_fails")):
            delivery["twist"] = None
        event = self.world.store.get("event", delivery["event"])
        if good:
            delivery["status"] = "delivered"
            event["pending_webhooks"] = max(0, event["pending_webhooks"] - 1)
        elif delivery["attempt"] > len(RETRY_SECONDS):
            delivery["status"] = "given_up"
        else:
            delivery.update(status="waiting", due_at=self.world.clock.now() + RETRY_SECONDS[delivery["attempt"] - 1])
            self.world.clock.at(delivery["due_at"], "delivery", delivery["id"])

    async def send(self, delivery: Json) -> int:
        """One try over HTTP; the answer's status."""
        url = self.world.store.get("webhook_endpoint", delivery["endpoint"])["url"]
        body, headers = self.signed(delivery)
        if (delivery["twist"] or {}).get("fault") == "webhook_fails" or not is_loopback(url):
            status = 0
        else:
            status = await self._post(url, body, headers)
        if delivery["id"] in self.all:
            self.answered(delivery, status)
        return status

    async def _post(self, url: str, body: str, headers: dict[str, str]) -> int:
        if self._http is None:
            limits = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
            self._http = aiohttp.ClientSession(timeout=limits, trust_env=False)
        try:
            async with self._http.post(url, data=body.encode(), headers=headers, allow_redirects=False) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 0

    async def run(self) -> None:
        """Send what is queued, in order, until cancelled."""
        while True:
            number = await self._queue.get()
            self._busy += 1
            try:
                if number in self.all and self.all[number]["status"] == "queued":
                    await self.send(self.all[number])
            finally:
                self._busy -= 1

    async def settled(self) -> None:
        """All that was queued has been tried; what the receivers caused meanwhile too."""
        ends = time.monotonic() + SETTLE_SECONDS
        await asyncio.sleep(0)
        while (not self._queue.empty() or self._busy) and time.monotonic() < ends:
            await asyncio.sleep(0.002)

    async def close(self) -> None:
        """Let connections go."""
        if self._http is not None:
            await self._http.close()

    # --- For the control door ---------------------------------------------------------------------------------

    def held(self, wish: Json) -> list[Json]:
        """Those that are kept. wish: types (* at the end fits a beginning), order (made, reverse, random), seed, n."""
        rows = [row for row in self.all.values() if row["status"] == "held" and wanted(row["type"], wish.get("types"))]
        return ordered(rows, wish)[: wish.get("n")]

    def again(self, wish: Json) -> list[Json]:
        """New deliveries of old events to each endpoint. wish: events (ids; else all), types, order, seed, and
        duplicates: the share of all deliveries that repeat an earlier one."""
        known = self.world.store.rows.get("event", {})
        chosen = [known[each] for each in wish["events"]] if wish.get("events") else list(known.values())
        pairs = [(event["id"], endpoint["id"]) for event in chosen if wanted(event["type"], wish.get("types"))
                 for endpoint in self.world.store.all("webhook_endpoint", status="enabled")]  # fmt: skip
        share = float(wish.get("duplicates", 0))
        draw = random.Random(str(wish.get("seed", 0)))
        extra = [draw.choice(pairs) for _ in range(round(len(pairs) * share / (1 - share)))] if pairs and share else []
        rows = [self.new(*pair) for pair in [*pairs, *extra]]
        for row in rows:
            row["status"] = "taken"
        return ordered(rows, wish)

    def shown(self, delivery: Json) -> Json:
        """With what goes over the wire, for whoever posts it."""
        body, headers = self.signed(delivery)
        url = self.world.store.get("webhook_endpoint", delivery["endpoint"])["url"]
        return {**delivery, "url": url, "path": urlsplit(url).path, "body": body, "headers": headers}

    async def send_all(self, rows: Iterable[Json], parallel: int = 1) -> list[Json]:
        """Over HTTP now, in this order or some at a time; each with its answer's status."""
        gate = asyncio.Semaphore(max(1, parallel))

        async def one(row: Json) -> Json:
            async with gate:
                return {"id": row["id"], "type": row["type"], "event": row["event"], "status": await self.send(row)}

        if parallel <= 1:
            return [await one(row) for row in rows]
        return list(await asyncio.gather(*(one(row) for row in rows)))


def wanted(kind: str, types: Any) -> bool:
    """Whether a type is among those asked for; None = all."""
    return not types or any(kind == each or (each.endswith("*") and kind.startswith(each[:-1])) for each in types)


def ordered(rows: list[Json], wish: Json) -> list[Json]:
    """made, reverse, or random by the seed."""
    order = wish.get("order", "made")
    if order == "random":
        random.Random(str(wish.get("seed", 0))).shuffle(rows)
    elif order == "reverse":
        rows.reverse()
    elif order != "made":
        raise ValueError("order is made, reverse or random")
    return rows
