"""The director's door, /_control: what the account looks like inside, and what shall happen. No key: loopback only.

GET  /_control/state     clock, habits, counts, faults       GET /_control/kinds     all faults
GET  /_control/objects/KIND  every object of a class, the oldest first       GET /_control/events  all, of whatever age
GET  /_control/requests  what clients asked (?op=)           GET /_control/deliveries  every delivery and its answers
POST /_control/reset     {"seed", "at", "frozen", "habits"}  a new, empty account
POST /_control/clock     {"advance": seconds} or {"to": second}      moves on; renewals etc. happen, deliveries are sent
POST /_control/habits    {…Habits}                           POST /_control/faults  {"fault": …}; DELETE: all or /ID
POST /_control/pay       {"session", "card", "email", "promotion_code", "tax_id", "confirmed"}   the checkout's button
POST /_control/card      {"customer", "card"}                another card for a customer and their subscriptions
POST /_control/portal    {"session", "act": cancel|keep|change|card, …}      the portal's buttons
POST /_control/disputes  {"charge" or "invoice", "amount", "reason"}         POST /_control/disputes/ID {"won": true}
POST /_control/events    {"type", "object"}                  an event of any type, known or not, to every endpoint
POST /_control/deliveries/send {"types", "order", "seed", "n"}       what is held goes out now
POST /_control/deliveries/take {…}                           the same, handed out signed instead
POST /_control/deliveries/answered [{"id", "status"}]        how those that were taken were answered
POST /_control/deliveries/again {"events", "types", "order", "seed", "duplicates", "parallel", "take"}   old events anew
POST /_control/settle                                        wait until all that is queued has been sent
GET  /_control/balance   per currency: charged, refunded, disputed, fees, net
"""

import copy
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from tests.loopback.stripe import cards, checkout, money_back, portal_page
from tests.loopback.stripe.deliveries import Deliveries
from tests.loopback.stripe.errors import Refusal
from tests.loopback.stripe.faults import KINDS
from tests.loopback.stripe.gate import WORLD
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import World

DELIVERIES = web.AppKey("deliveries", Deliveries)
Turn = Callable[[World, Deliveries, Json, dict[str, str]], Awaitable[Any]]


def routes() -> list[web.RouteDef]:
    """All of it."""
    table: tuple[tuple[str, str, Turn], ...] = (
        ("GET", "state", state),
        ("GET", "kinds", kinds),
        ("GET", "objects/{kind}", objects),
        ("GET", "events", events),
        ("GET", "requests", requests),
        ("GET", "balance", balance),
        ("GET", "deliveries", all_deliveries),
        ("POST", "reset", reset),
        ("POST", "clock", move_clock),
        ("POST", "habits", habits),
        ("POST", "faults", add_fault),
        ("DELETE", "faults", clear_faults),
        ("DELETE", "faults/{id}", clear_faults),
        ("POST", "pay", pay),
        ("POST", "card", card),
        ("POST", "portal", portal),
        ("POST", "disputes", dispute),
        ("POST", "disputes/{id}", close_dispute),
        ("POST", "events", emit),
        ("POST", "deliveries/send", send),
        ("POST", "deliveries/take", take),
        ("POST", "deliveries/answered", answered),
        ("POST", "deliveries/again", again),
        ("POST", "settle", settle),
    )
    return [web.route(method, f"/_control/{path}", _told(turn)) for method, path, turn in table]


def _told(turn: Turn) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        data = await request.json() if await request.read() else {}
        try:
            named = {**request.query, **request.match_info}
            return web.json_response(await turn(request.app[WORLD], request.app[DELIVERIES], data, named))
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=refusal.status)
        except (ValueError, TypeError, KeyError, LookupError) as problem:
            return web.json_response({"error": f"{type(problem).__name__}: {problem}"}, status=400)

    return answer


# --- Looking ------------------------------------------------------------------------------------------------------


async def state(world: World, deliveries: Deliveries, _: Json, __: dict[str, str]) -> Any:
    """Everything at a glance."""
    tally: dict[str, int] = {}
    for row in deliveries.all.values():
        tally[row["status"]] = tally.get(row["status"], 0) + 1
    return {
        "now": world.clock.now(), "frozen": world.clock.frozen, "livemode": world.livemode,
        "habits": asdict(world.habits), "faults": world.faults.to_json(),
        "objects": {kind: len(rows) for kind, rows in sorted(world.store.rows.items())},
        "deliveries": tally, "timers": [timer._asdict() for timer in world.clock.pending()[:100]],
    }  # fmt: skip


async def kinds(_: World, __: Deliveries, ___: Json, ____: dict[str, str]) -> Any:
    """Each fault with what it does."""
    return {kind: {"times": times, "does": text} for kind, (times, text) in KINDS.items()}


async def objects(world: World, _: Deliveries, __: Json, named: dict[str, str]) -> Any:
    """Ground truth."""
    return world.store.all(named["kind"])


async def events(world: World, _: Deliveries, __: Json, named: dict[str, str]) -> Any:
    """Ground truth too; ?type= for one type."""
    return world.store.all("event", **({"type": named["type"]} if "type" in named else {}))


async def requests(world: World, _: Deliveries, __: Json, named: dict[str, str]) -> Any:
    """Without parameters."""
    return [entry for entry in world.requests if named.get("op") in (None, entry["op"])]


async def balance(world: World, _: Deliveries, __: Json, ___: dict[str, str]) -> Any:
    """What the account has and why, minor units."""
    sums: dict[str, dict[str, int]] = {}
    for row in world.store.all("balance_transaction"):
        place = sums.setdefault(row["currency"], {"charge": 0, "refund": 0, "adjustment": 0, "fee": 0, "net": 0})
        place[row["type"]] += row["amount"]
        place["fee"] += row["fee"]
        place["net"] += row["net"]
    return sums


async def all_deliveries(_: World, deliveries: Deliveries, __: Json, ___: dict[str, str]) -> Any:
    """The log."""
    return list(deliveries.all.values())


# --- The account --------------------------------------------------------------------------------------------------


async def reset(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """As if the server had just started."""
    world.reset(str(data.get("seed", "1")), data.get("at"), frozen=bool(data.get("frozen", True)))
    deliveries.reset()
    world.change_habits(data.get("habits") or {})
    return {"now": world.clock.now(), "key": world.key}


async def move_clock(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """Forward only. Whatever becomes due is done in order; its deliveries are sent before the clock goes on."""
    to = int(data["to"]) if "to" in data else world.clock.now() + int(data["advance"])
    if to < world.clock.now():
        raise ValueError("the clock does not go back")
    await world.advance(to, deliveries.settled)
    await deliveries.settled()
    return {"now": world.clock.now()}


async def habits(world: World, _: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """Change some."""
    world.change_habits(data)
    return asdict(world.habits)


async def add_fault(world: World, _: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """One more."""
    return world.faults.add(data).to_json()


async def clear_faults(world: World, _: Deliveries, __: Json, named: dict[str, str]) -> Any:
    """One, or all."""
    world.faults.clear(int(named["id"]) if "id" in named else None)
    return world.faults.to_json()


# --- The customer, the bank ---------------------------------------------------------------------------------------


async def pay(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """As the page does; confirmed unless told otherwise."""
    session = world.store.get("checkout.session", data["session"])
    form = {"confirmed": "1", "email": "buyer@example.com", **data, "card": cards.by_name(data.get("card", cards.GOOD))}
    made = copy.deepcopy(checkout.pay(world, session, form))
    await deliveries.settled()
    return {**made, "way_back": checkout.way_back(made)}


async def card(world: World, _: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """Of a customer."""
    session = {"customer": data["customer"]}
    portal_page.act(world, session, "card", {"card": cards.by_name(data["card"])})
    return world.store.get("customer", data["customer"])


async def portal(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """As the page does."""
    session = world.store.get("billing_portal.session", data["session"])
    portal_page.act(world, session, data["act"], {name: str(value) for name, value in data.items()})
    await deliveries.settled()
    return session


async def dispute(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """The holder's bank takes a charge back."""
    if "invoice" in data:
        payment = world.store.all("invoice_payment", invoice=data["invoice"])[-1]["payment"]["payment_intent"]
        charge = world.store.get("charge", world.store.get("payment_intent", payment)["latest_charge"])
    else:
        charge = world.store.get("charge", data["charge"])
    made = money_back.open_dispute(world, charge, data.get("amount"), data.get("reason", "fraudulent"))
    await deliveries.settled()
    return made


async def close_dispute(world: World, deliveries: Deliveries, data: Json, named: dict[str, str]) -> Any:
    """Won or lost."""
    made = money_back.close_dispute(world, world.store.get("dispute", named["id"]), won=bool(data.get("won")))
    await deliveries.settled()
    return made


# --- Deliveries ---------------------------------------------------------------------------------------------------


async def emit(world: World, deliveries: Deliveries, data: Json, _: dict[str, str]) -> Any:
    """Of a type that nobody knows, perhaps."""
    listener, world.listener = world.listener, lambda event: deliveries.on_event(event, forced=True)
    try:
        event = world.emit(data["type"], data.get("object") or {"id": "obj_loopback", "object": "unknown"})
    finally:
        world.listener = listener
    await deliveries.settled()
    return event


async def send(_: World, deliveries: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """What was held."""
    return await deliveries.send_all(deliveries.held(data), int(data.get("parallel", 1)))


async def take(_: World, deliveries: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """What was held, for the test to post."""
    rows = deliveries.held(data)
    for row in rows:
        row["status"] = "taken"
    return [deliveries.shown(row) for row in rows]


async def answered(_: World, deliveries: Deliveries, data: Any, __: dict[str, str]) -> Any:
    """Those that the test has posted."""
    for each in data:
        deliveries.answered(deliveries.all[each["id"]], int(each["status"]))
    return len(data)


async def again(_: World, deliveries: Deliveries, data: Json, __: dict[str, str]) -> Any:
    """Old events anew, in any order, with duplicates: sent, or handed out."""
    rows = deliveries.again(data)
    if data.get("take"):
        return [deliveries.shown(row) for row in rows]
    return await deliveries.send_all(rows, int(data.get("parallel", 1)))


async def settle(_: World, deliveries: Deliveries, __: Json, ___: dict[str, str]) -> Any:
    """Nothing is on its way any more."""
    await deliveries.settled()
    return {"settled": True}
