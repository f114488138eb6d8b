"""The server: listens on loopback until told to stop."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from tests.loopback.stripe import changes, checkout, control, gate, pages, portal_page, renewals, schedules
from tests.loopback.stripe.control import DELIVERIES
from tests.loopback.stripe.deliveries import Deliveries
from tests.loopback.stripe.gate import WORLD
from tests.loopback.stripe.guard import HOST
from tests.loopback.stripe.keeping import load, save
from tests.loopback.stripe.world import World

TICK_SECONDS = 0.5
LARGEST_BODY = 4 * 1024 * 1024
TURNS = (renewals.TURNS, changes.TURNS, checkout.TURNS, schedules.TURNS)


def application(world: World, deliveries: Deliveries) -> web.Application:
    """All routes on one account."""
    app = web.Application(client_max_size=LARGEST_BODY)
    app[WORLD], app[DELIVERIES] = world, deliveries
    for turns in TURNS:
        world.turns.update(turns)
    for part in (control, pages, portal_page, gate):
        app.add_routes(part.routes())
    return app


async def _tick(world: World, deliveries: Deliveries, state: Path | None) -> None:
    """A clock that runs on by itself does by itself what is due; a state file follows."""
    kept = world.store.made
    while True:
        await asyncio.sleep(TICK_SECONDS)
        if not world.clock.frozen:
            await world.advance(world.clock.now())
        if state is not None and kept != world.store.made:
            kept = world.store.made
            save(world, deliveries, state)


async def serve(
    world: World, port: int, ready: Callable[[], None], stop: asyncio.Event, state: Path | None = None
) -> None:
    """Listen (port 0 = any free one) until `stop` is set. state: the file the account is read from and kept in."""
    deliveries = Deliveries(world)
    if state is not None:
        load(world, deliveries, state)
    runner = web.AppRunner(application(world, deliveries), access_log=None, shutdown_timeout=1.0)
    tasks: set[asyncio.Task[None]] = set()
    try:
        await runner.setup()
        await web.TCPSite(runner, HOST, port).start()
        world.base_url = f"http://{HOST}:{runner.addresses[0][1]}"
        tasks = {asyncio.create_task(deliveries.run()), asyncio.create_task(_tick(world, deliveries, state))}
        ready()
        waiting = asyncio.create_task(stop.wait())
        done, _ = await asyncio.wait({waiting, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        for task in done - {waiting}:
            task.result()  # neither ends by itself: show why it did
    finally:
        for task in tasks:
            task.cancel()
        if state is not None:
            save(world, deliveries, state)
        await deliveries.close()
        await runner.cleanup()
