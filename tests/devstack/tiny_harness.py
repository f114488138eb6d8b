"""What the tests of this folder hold on to: a tiny stack in a process of its own, and patience."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import psycopg
import redis

from devstack import envfile, leftovers

TINY_STACK = Path(__file__).with_name("tiny_stack.py")
PATIENCE_SECONDS = 30.0
T = TypeVar("T")


def eventually(look: Callable[[], T]) -> T:
    """What `look()` gives once it is true; fails after PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (seen := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return seen


class TinyStack:
    """One checkout with its supervisor."""

    def __init__(self, root: Path, port: int) -> None:
        self.root = root
        self.var = root / "var"
        self.port = port
        self.output_file = root / "output"
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, name: str, wrapper: Sequence[str] = (), **options) -> subprocess.Popen[bytes]:
        """One command of the tiny stack, away from the servers that this test run itself uses."""
        kept = {
            key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL", "CACHE_URL")
        }
        return subprocess.Popen(
            [*wrapper, sys.executable, str(TINY_STACK), str(self.root), name],
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.STDOUT,
            env=kept | {"PORT": str(self.port)},
            **options,
        )

    def begin(self, wrapper: Sequence[str] = (), **options) -> subprocess.Popen[bytes]:
        """Start it without waiting."""
        with self.output_file.open("wb") as output:
            self.process = self.command("run", wrapper, **({"stdout": output, "start_new_session": True} | options))
        return self.process

    def start(self) -> "TinyStack":
        """Start it and wait for its ready line."""
        self.begin()
        eventually(lambda: f"ready {self.port}" in self.output or self._ended())
        assert f"ready {self.port}" in self.output, self.output
        return self

    def _ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    @property
    def output(self) -> str:
        """All it has said."""
        return self.output_file.read_text(errors="replace")

    def page_pid(self) -> int | None:
        """The process id of the page; None while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=2) as answer:
                return int(answer.read())
        except OSError:
            return None

    def postgres_pid(self) -> int | None:
        """The postmaster's process id; None while it is not ready."""
        try:
            lines = (self.var / "postgres" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return None
        return int(lines[0]) if len(lines) > 7 and lines[7].strip() == "ready" else None

    def redis_pid(self) -> int | None:
        """The Redis server's process id; None while it does not answer."""
        try:
            return int(self.cache().info("server")["process_id"])
        except redis.exceptions.ConnectionError:
            return None

    def pids(self) -> dict[str, int]:
        """Every service, once all answer."""
        return eventually(lambda: self._pids())

    def _pids(self) -> dict[str, int]:
        found = {"page": self.page_pid(), "postgres": self.postgres_pid(), "redis": self.redis_pid()}
        return {name: pid for name, pid in found.items() if pid} if all(found.values()) else {}

    def address(self, name: str) -> str:
        """DATABASE_URL or REDIS_URL."""
        return envfile.read(self.var / "dev.env")[name]

    def cache(self) -> redis.Redis:
        """A client."""
        return redis.Redis.from_url(self.address("REDIS_URL"))

    def query(self, statement: str) -> list[tuple]:
        """One statement, committed."""
        with psycopg.connect(self.address("DATABASE_URL")) as link, link.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def processes(self) -> list[int]:
        """Whatever still runs for this folder, apart from the supervisor."""
        servers = [pid for name in ("postgres", "redis") for pid in leftovers.working_in(self.var / name)]
        return leftovers.marked(self.var) + servers

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Signal the supervisor and wait for it; its exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)
