"""The server: until told to stop, then every child ended. In a thread of a test's process, or `python -m`."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.loopback.runpod import control, data_plane, graphql, rest_billing, rest_pods, rest_serverless, worker_plane
from tests.loopback.runpod.client import Director
from tests.loopback.runpod.gate import WORLD
from tests.loopback.runpod.habits import Habits
from tests.loopback.runpod.limits import RUNSYNC_BYTES
from tests.loopback.runpod.world import DEFAULT_KEY, World

HOST = "127.0.0.1"
START_PATIENCE_SECONDS = 10.0
STOP_PATIENCE_SECONDS = 20.0


def application(world: World) -> web.Application:
    """All routes; those of REST v2 first, since /v2/pods/x would also fit /v2/{endpoint}/x."""
    app = web.Application(client_max_size=2 * RUNSYNC_BYTES)
    app[WORLD] = world
    for part in (control, graphql, rest_serverless, rest_pods, rest_billing, worker_plane, data_plane):
        app.add_routes(part.routes())
    return app


async def serve(world: World, port: int, ready: Callable[[], None], stop: asyncio.Event) -> None:
    """Listen on loopback (port 0 = any free one) until `stop` is set."""
    runner = web.AppRunner(application(world), access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    ticking: asyncio.Task[None] | None = None
    try:
        await runner.setup()
        site = web.TCPSite(runner, HOST, port)
        await site.start()
        world.launcher.base_url = f"http://{HOST}:{runner.addresses[0][1]}"
        ticking = asyncio.create_task(world.run())
        ready()
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({waiting, ticking}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if ticking.done():
            ticking.result()  # a ticker never ends by itself: show why it did
    finally:
        if ticking is not None:
            ticking.cancel()
        world.let_go()
        await world.close()
        await runner.cleanup()


class LoopbackRunPod(Director):
    """The server in a thread: `with LoopbackRunPod(tmp_path) as runpod:`, then as Director."""

    def __init__(self, data: Path, habits: Habits | None = None, port: int = 0) -> None:
        self._data, self._habits, self._port = data, habits or Habits(), port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loopback-runpod")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._failed: BaseException | None = None
        self._base_url = ""

    def start(self) -> Self:
        """Returns once it listens."""
        self._thread.start()
        assert self._ready.wait(START_PATIENCE_SECONDS), "the loopback RunPod does not come up"
        if self._failed is not None:
            raise self._failed
        super().__init__(self._base_url, DEFAULT_KEY)
        return self

    def stop(self) -> None:
        """Returns once every child has ended."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_PATIENCE_SECONDS)
        self.close()
        assert not self._thread.is_alive(), "the loopback RunPod does not end"
        if self._failed is not None:
            raise self._failed

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as problem:  # noqa: BLE001 (shown by start or stop, in the test's own thread)
            self._failed = problem
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        world = World(self._data, self._habits)

        def ready() -> None:
            self._base_url = world.base_url
            self._ready.set()

        await serve(world, self._port, ready, self._stop)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
