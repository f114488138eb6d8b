"""`python -m tests.loopback.runpod --port 8400 --data DIR [--endpoint demo]`: the loopback RunPod by itself.

Prints one line of JSON when it listens. Ctrl-C or SIGTERM ends it and all its workers; so does SIGKILL (the guard).
"""

import argparse
import asyncio
import json
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

from tests.loopback.runpod.habits import Habits
from tests.loopback.runpod.launcher import ROOT, Image
from tests.loopback.runpod.ledger import NANO
from tests.loopback.runpod.serve import serve
from tests.loopback.runpod.settings import EndpointSettings
from tests.loopback.runpod.world import DEFAULT_KEY, Key, World


def parse(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.loopback.runpod", description=__doc__)
    parser.add_argument("--port", type=int, default=8400, help="0 = any free one")
    parser.add_argument("--data", type=Path, required=True, help="folder for the workers' logs and home")
    parser.add_argument("--key", default=DEFAULT_KEY, help="the API key")
    parser.add_argument("--endpoint", help="make an endpoint with this id")
    parser.add_argument("--image", default="inkcloak/example:1", help="its image")
    parser.add_argument("--command", help="what its workers run instead of the example worker (one string)")
    parser.add_argument("--cwd", type=Path, default=ROOT, help="where they run it")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="their environment")
    parser.add_argument("--settings", default="{}", help="JSON over the endpoint's settings, as REST v2 takes them")
    parser.add_argument("--habits", default="{}", help="JSON over the habits (see habits.py)")
    parser.add_argument("--balance-usd", type=float, default=100.0)
    return parser.parse_args(words)


def endpoint_body(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a POST /v2/serverless would send."""
    return {
        "name": arguments.endpoint,
        "type": "QUEUE",
        "image": arguments.image,
        "gpu": {"pools": ["AMPERE_16"]},
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "workers": {"min": 0, "max": 3, "idleTimeout": 5},
        "flashboot": "OFF",
        "timeout": 600_000,
        **json.loads(arguments.settings),
    }


async def main(arguments: argparse.Namespace) -> None:
    """Until a signal."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    world = World(arguments.data, Habits().changed(json.loads(arguments.habits)), keys={arguments.key: Key()})
    world.ledger.paid_in_nanousd = round(arguments.balance_usd * NANO)
    if arguments.command:
        env = dict(pair.split("=", 1) for pair in arguments.env)
        world.launcher.images.append(Image("*", shlex.split(arguments.command), env, arguments.cwd))

    def ready() -> None:
        shown = {"url": world.base_url, "key": arguments.key}
        if arguments.endpoint:
            world.add_endpoint(EndpointSettings.create(endpoint_body(arguments), None), arguments.endpoint)
            shown["endpoint"] = arguments.endpoint
        sys.stdout.write(json.dumps(shown) + "\n")
        sys.stdout.flush()

    await serve(world, arguments.port, ready, stop)


if __name__ == "__main__":
    asyncio.run(main(parse(sys.argv[1:])))
