"""What flow tests hold on to: the running product, somebody who uses its pages, and patience with a limit."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import redis

from devstack import envfile, leftovers

REPOSITORY = Path(__file__).resolve().parents[2]
STACK = Path(__file__).with_name("product_stack.py")
PATIENCE_SECONDS = 90.0
START_SECONDS = 120.0
GIVEN_SERVERS = ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "PUBLIC_URL")
# How to know a process of the stack by its command line.
MARKS = {
    "web": "uvicorn",
    "score": "score@",
    "gpu": "gpu@",
    "steps": "steps@",
    "beat": " beat ",
    "runpod": "loopback.runpod",
}
T = TypeVar("T")


def eventually(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What `look()` gives once it is true; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"it did not happen within {seconds:g} s"
        time.sleep(0.05)
    return seen


class Product:
    """One stack: its address, its processes, its rows."""

    def __init__(self, var: Path, port: int, *how: str, **given: str) -> None:
        """how: more words for product_stack.py.  given: settings of the environment, over those that flows have."""
        self.var = var
        self.how = how
        self.given = given
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.output_file = var.parent / "output"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when the page answers."""
        kept = {key: value for key, value in os.environ.items() if key not in GIVEN_SERVERS}
        ours = {
            "PORT": str(self.port),
            "DEBUG": "1",
            "SECRET_KEY": "only-for-flow-tests-" + "y" * 40,
            "INKCLOAK_IGNORE_DEV_ENV": "1",
            "VISITOR_CHECKS_PER_DAY": "10000",
            "POSTS_PER_MINUTE": "10000",
            "API_REQUESTS_PER_MINUTE": "1000000",
            "API_ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
            "FREE_WORDS_PER_MONTH": "1000000000",
            "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
            "LOG_LEVEL": "INFO",
        }
        with self.output_file.open("wb") as output:
            command = [sys.executable, str(STACK), str(self.var), *self.how]
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=kept | ours | self.given
            )
        eventually(lambda: "InkCloak is ready" in self.output() or self.process.poll() is not None, START_SECONDS)
        assert self.process.poll() is None, self.output()

    def end(self) -> None:
        """Politely, then not."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)

    def output(self) -> str:
        """What it said on the terminal."""
        return self.output_file.read_text(errors="replace")

    def logs(self) -> str:
        """All logs of all parts."""
        files = sorted((self.var / "log").glob("*"))
        return "\n".join(file.read_text(errors="replace") for file in files) + self.output()

    # --- Processes ---

    def pid(self, part: str) -> int | None:
        """The process id of a part, None while it is away."""
        if part == "postgres":
            return self._postgres_pid()
        if part == "redis":
            found = leftovers.working_in(self.var / "redis")
            return found[0] if found else None
        for pid in leftovers.marked(self.var):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if MARKS[part] in line:
                return pid
        return None

    def _postgres_pid(self) -> int | None:
        try:
            lines = (self.var / "postgres" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return None
        return int(lines[0]) if len(lines) > 7 and lines[7].strip() == "ready" else None

    def kill(self, part: str, *, meanwhile: Callable[[], object]) -> None:
        """kill -9; does `meanwhile` again and again until another process has taken its place."""
        before = eventually(lambda: self.pid(part))
        os.kill(before, signal.SIGKILL)
        eventually(lambda: (meanwhile(), (now := self.pid(part)) and now != before)[1])

    @contextmanager
    def paused(self, part: str) -> Iterator[None]:
        """SIGSTOP: the process sleeps inside the block, so that nothing is finished before we look."""
        asleep = eventually(lambda: self.pid(part))
        os.kill(asleep, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(asleep, signal.SIGCONT)

    @contextmanager
    def away(self, part: str) -> Iterator[None]:
        """kill -9, and nobody starts it again before the block ends: the supervisor sleeps meanwhile."""
        assert self.process is not None
        before = eventually(lambda: self.pid(part))
        self.process.send_signal(signal.SIGSTOP)
        try:
            os.kill(before, signal.SIGKILL)
            if part == "postgres":  # its children answer on until they notice
                eventually(lambda: not leftovers.working_in(self.var / "postgres"))
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)
        eventually(lambda: (now := self.pid(part)) and now != before)

    # --- Rows, messages, commands ---

    def environment(self) -> dict[str, str]:
        """For manage.py, to meet this stack."""
        kept = {key: value for key, value in os.environ.items() if key not in GIVEN_SERVERS}
        return kept | envfile.read(self.var / "dev.env") | self.given | {"INKCLOAK_IGNORE_DEV_ENV": "1"}

    def rows(self, query: str, *values: object) -> list[tuple]:
        """The answer of one query; waits for a database that restarts."""

        def ask() -> list[list[tuple]]:
            try:
                with psycopg.connect(self.environment()["DATABASE_URL"]) as link:
                    return [link.execute(query, values).fetchall()]
            except psycopg.OperationalError:
                return []

        return eventually(ask)[0]

    def redis(self) -> redis.Redis:
        """The broker."""
        return redis.Redis.from_url(self.environment()["REDIS_URL"])

    def manage(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """manage.py to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def check_text(self, text: str) -> dict[str, Any]:
        """The command's JSON object for this text."""
        done = self.manage("check_text", "--json", stdin=text)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@dataclass(frozen=True)
class Shown:
    """What a result page says."""

    label: str
    probability: float
    ai_fraction: float


class Visitor:
    """Somebody without an account and without JavaScript."""

    def __init__(self, product: Product) -> None:
        self.http = httpx.Client(base_url=product.url, timeout=60, follow_redirects=True)
        self.statuses: set[int] = set()

    def form(self) -> dict[str, str]:
        """The hidden fields of the front page's form."""
        page = self.http.get("/").raise_for_status().text
        form = page[page.index("data-check") :]
        return {name: hidden(form, name) for name in ("csrfmiddlewaretoken", "nonce")}

    def post(self, text: str, **fields: str) -> str:
        """Sends the form; the address of the result page."""
        answer = self.http.post("/check", data=self.form() | {"text": text} | fields)
        assert answer.status_code == 200, answer.text
        assert "/checks/" in str(answer.url), answer.text
        return str(answer.url)

    def page(self, address: str) -> str:
        """The page, or nothing while a part is away."""
        try:
            answer = self.http.get(address)
        except httpx.TransportError:
            return ""
        self.statuses.add(answer.status_code)
        return answer.text if answer.status_code == 200 else ""

    def verdict(self, address: str) -> Shown:
        """What the result page says when it says something."""
        return eventually(lambda: shown(self.page(address)))

    def check(self, text: str) -> Shown:
        """From form post to verdict."""
        return self.verdict(self.post(text))


def hidden(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    assert found, f"no field {name}"
    return found[1]


def shown(page: str) -> Shown | None:
    """The verdict on a result page; None while there is none."""
    label = re.search(r'<section class="verdict (human|mixed|ai)"', page)
    numbers = re.search(r"<dd>(\d\.\d{4}) <span[^>]*>·</span> (\d\.\d{4})</dd>", page)
    return Shown(label[1], float(numbers[1]), float(numbers[2])) if label and numbers else None


def number_of(address: str) -> str:
    """The submission's id in the address of its page."""
    return address.rstrip("/").rsplit("/", 1)[1]
