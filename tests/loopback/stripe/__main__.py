"""`python -m tests.loopback.stripe --port 8500 [--webhook http://127.0.0.1:8000/…]`: the loopback Stripe by itself.

Prints one line of JSON when it listens. Ctrl-C, SIGTERM, or the end of stdin with --until-stdin-ends end it.
"""

import argparse
import asyncio
import json
import os
import secrets
import signal
import sys
from pathlib import Path

from tests.loopback.stripe import endpoints
from tests.loopback.stripe.serve import serve
from tests.loopback.stripe.world import Call, World


def parse(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.loopback.stripe", description=__doc__)
    parser.add_argument("--port", type=int, default=8500, help="0 = any free one")
    parser.add_argument("--seed", default="", help="the same seed and history give the same ids; default: a random one")
    parser.add_argument("--at", type=int, help="the clock's first second (Unix); default: now")
    parser.add_argument("--frozen", action="store_true", help="the clock moves only when told")
    parser.add_argument("--livemode", action="store_true", help="a live account: its key is sk_live_loopback")
    parser.add_argument(
        "--webhook", action="append", default=[], metavar="URL", help="an endpoint that gets all events"
    )
    parser.add_argument("--webhook-secret", default="", help="its secret, instead of one that is printed")
    parser.add_argument("--state", type=Path, help="a file the account is read from and kept in")
    parser.add_argument("--until-stdin-ends", action="store_true", help="also end when whoever started this is gone")
    return parser.parse_args(words)


def _webhooks(world: World, arguments: argparse.Namespace) -> list[str]:
    found = []
    for url in arguments.webhook:
        known = world.store.all("webhook_endpoint", url=url, status="enabled")
        made = known[0] if known else endpoints.create(world, Call((), {"url": url, "enabled_events": ["*"]}))
        hidden = world.secret(made["id"])
        hidden["secret"] = arguments.webhook_secret or hidden["secret"]
        found.append(hidden["secret"])
    return found


def _look(stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1):
        stop.set()


async def main(arguments: argparse.Namespace) -> None:
    """Until a signal."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if arguments.until_stdin_ends:
        loop.add_reader(sys.stdin.fileno(), _look, stop)
    world = World(
        arguments.seed or secrets.token_hex(8), arguments.at, frozen=arguments.frozen, livemode=arguments.livemode
    )

    def ready() -> None:
        shown = {"url": world.base_url, "key": world.key, "webhook_secrets": _webhooks(world, arguments)}
        sys.stdout.write(json.dumps(shown) + "\n")
        sys.stdout.flush()

    await serve(world, arguments.port, ready, stop, arguments.state)


if __name__ == "__main__":
    asyncio.run(main(parse(sys.argv[1:])))
