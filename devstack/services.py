"""Which PostgreSQL and Redis a command works with, and the environment that tells it so.

The rule, per server: DATABASE_URL / REDIS_URL if given, else the wheel of the `dev` extra, else the system's.
"""

import os
import secrets
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from devstack import envfile
from devstack.checkout import Checkout
from devstack.child import Program
from devstack.postgres import Postgres, find_binaries
from devstack.redis_server import Redis, find_binary
from devstack.supervisor import Supervisor

SERVERS = ("postgres", "redis")  # children that others need until their own end
READY_SECONDS = 60.0
# What manage.py needs to know to meet the running stack, besides the addresses.
SHARED_KEYS = (
    "DATABASE_URL",
    "REDIS_URL",
    "CACHE_URL",
    "SECRET_KEY",
    "REPORT_SIGNING_KEY",
    "DEBUG",
    "ALLOWED_HOSTS",
    "PUBLIC_URL",
)
SECRET_BYTES = 48
SIGNING_KEY_BYTES = 32  # of Ed25519; inkcloak/client/reports.py reads it as written here, in base64url


def person_environment(checkout: Checkout) -> dict[str, str]:
    """The process environment over the values of `.env`: what the person decided."""
    return envfile.read(checkout.root / ".env") | dict(os.environ)


def development_environment(checkout: Checkout, given: Mapping[str, str], port: int) -> dict[str, str]:
    """Everything but the servers' addresses; what the person set wins."""
    defaults = {
        "DEBUG": "1",
        "SECRET_KEY": given.get("SECRET_KEY") or _kept_secret(checkout.var / "secret-key", SECRET_BYTES),
        "REPORT_SIGNING_KEY": given.get("REPORT_SIGNING_KEY")
        or _kept_secret(checkout.var / "report-key", SIGNING_KEY_BYTES),
        "PORT": str(port),
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "ALLOWED_HOSTS": "127.0.0.1,localhost,[::1]",
        "PYTHONUNBUFFERED": "1",
    }
    set_by_person = {key: value for key, value in given.items() if value != ""}
    return defaults | set_by_person


def running_environment(checkout: Checkout, given: Mapping[str, str]) -> dict[str, str]:
    """Of the stack that runs here: the person's over its own, but for what a demonstration is made of."""
    known = envfile.read(checkout.dev_env)
    return known | dict(given) | {key: value for key, value in known.items() if key not in SHARED_KEYS}


def _kept_secret(path: Path, length: int) -> str:
    """Made once, so that sessions and signatures outlive a restart. length: in bytes."""
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, stat.S_IRUSR | stat.S_IWUSR), "w") as out:
            out.write(secrets.token_urlsafe(length))
    return path.read_text().strip()


@dataclass
class Services:
    """Both servers, ours or given, below one folder."""

    checkout: Checkout
    base: Path
    logs: Path
    throw_away: bool = False

    def start(self, supervisor: Supervisor, environment: Mapping[str, str]) -> dict[str, str]:
        """Bring up what is not given; returns the environment with both addresses. Raises DevstackError."""
        found = dict(environment)
        programs: list[Program] = []
        if not found.get("DATABASE_URL"):
            log = self.logs / "postgres.log"
            binaries = find_binaries(self.checkout)
            postgres = Postgres(binaries, self.base, log, throw_away=self.throw_away)
            postgres.initialise(supervisor)
            found["DATABASE_URL"] = postgres.url
            programs.append(postgres.program())
        if not found.get("REDIS_URL"):
            redis = self._redis()
            found["REDIS_URL"] = redis.url(0)
            found.setdefault("CACHE_URL", redis.url(1))
            programs.append(redis.program())
        if programs:
            names = [program.name for program in programs]
            with supervisor.console.step(f"Starting {' and '.join(names)}") as step:
                for program in programs:
                    supervisor.start(program)
                supervisor.wait_ready(step, names, READY_SECONDS)
        return found

    def _redis(self) -> Redis:
        previous = {} if self.throw_away else envfile.read(self.checkout.dev_env)
        log = self.logs / "redis.log"
        return Redis(find_binary(self.checkout), self.base, log, previous=previous, throw_away=self.throw_away)

    def publish(self, environment: Mapping[str, str], more: Collection[str] = ()) -> None:
        """Tell `manage.py` where the servers are, and the settings named in `more`."""
        values = {key: environment[key] for key in (*SHARED_KEYS, *more) if key in environment}
        envfile.write(self.checkout.dev_env, values)

    def withdraw(self, more: Collection[str]) -> None:
        """Those settings are over: a demonstration's must not reach the next command."""
        known = envfile.read(self.checkout.dev_env)
        if not known.keys().isdisjoint(more):
            envfile.write(self.checkout.dev_env, {key: value for key, value in known.items() if key not in more})
