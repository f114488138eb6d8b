"""The services of docker-compose.yml as processes of this machine: the same command lines, variables and files.

What a container would give and a process lacks is replaced, and nothing else: paths of mounts, ports and host names.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import composed
import psycopg

from devstack import ports
from devstack.checkout import Checkout
from devstack.postgres import Postgres, find_binaries
from devstack.privileges import before_exec, give
from devstack.redis_server import find_binary

END_SECONDS = 60
READY_SECONDS = 120.0
CHECKOUT = Checkout(root=composed.ROOT, venv=Path(sys.prefix), var=composed.ROOT / "var")
# The log's words when a service is ready.
READY = {
    "postgres": "database system is ready to accept connections",
    "redis-broker": "Ready to accept connections",
    "redis-cache": "Ready to accept connections",
    "web": "Uvicorn running on",
    "worker-score": " ready.\n",
    "worker-steps": " ready.\n",
    "worker-gpu": " ready.\n",
    "beat": "beat: Starting...",
    "proxy": "serving initial configuration",
}
T = TypeVar("T")


def eventually(look: Callable[[], T], what: str, seconds: float = READY_SECONDS) -> T:
    """What `look()` gives once it is true; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:g} s"
        time.sleep(0.1)
    return seen


class Deployment:
    """One machine with the compose file on it; each process is ended by its own id."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.app = base / "app"
        self.volumes = base / "volumes"
        self.secrets = composed.make_secrets(base / "secrets")
        names = ("web", "postgres", "redis-broker", "redis-cache", "http", "https", "health")
        self.ports = {name: ports.free_port() for name in names}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._turn_secrets_to_this_machine()

    def _turn_secrets_to_this_machine(self) -> None:
        """The addresses that make-secrets wrote, with the ports that are free here in the place of host names."""
        for secret in ("database_url", "redis_url", "cache_url"):
            file = self.secrets / secret
            here = re.sub(r"@([a-z-]+):\d+/", lambda found: f"@127.0.0.1:{self.ports[found[1]]}/", file.read_text())
            file.chmod(0o600)
            file.write_text(here)

    def build(self) -> None:
        """The folder /app, static files included, by the Dockerfile's own command."""
        composed.lay_out_image(self.app)
        done = self._run(["sh", "-c", composed.built_by()], {"PATH": self._path(), "HOME": "/tmp"})
        assert done.returncode == 0, done.stderr

    def environment(self, service: str) -> dict[str, str]:
        """Of one service."""
        places = {"PATH": self._path(), "HTTP_PORT": str(self.ports["http"]), "HTTPS_PORT": str(self.ports["https"])}
        proxy = {"HEALTH_PORT": str(self.ports["health"]), "UPSTREAM": f"127.0.0.1:{self.ports['web']}"}
        # Plain http: no certificate authority is reached from here.
        proxy |= {"WAIT": "1s", "SITE": f"http://127.0.0.1:{self.ports['http']}"}
        own = places | proxy if service == "proxy" else places
        return composed.environment(service, self.secrets) | own

    def _path(self) -> str:
        """Finds `python`, `caddy`, `redis-server` and `postgres` as the images do."""
        folders = (Path(sys.prefix) / "bin", find_binaries(CHECKOUT).folder, find_binary(CHECKOUT).parent)
        return os.pathsep.join([*map(str, folders), os.environ["PATH"]])

    def command(self, service: str, words: Sequence[str] | None = None) -> list[str]:
        """The service's command line (or `words`), with the places of this machine."""
        folder = self.volumes / service
        places = {
            composed.SECRETS_MOUNT: str(self.secrets),
            "/var/lib/inkcloak": str(folder),
            "/data": str(folder),
            "/etc/caddy/Caddyfile": str(composed.ROOT / "deploy" / "Caddyfile"),
        }
        line = list(words or composed.services()[service]["command"])
        if service == "web":
            line = [str(self.ports["web"]) if word == "8000" else word for word in line]
        for place, here in places.items():
            line = [word.replace(place, here) for word in line]
        return line

    def start(self, service: str) -> None:
        """Its command line, in a process of its own."""
        folder = self.volumes / service
        folder.mkdir(parents=True, exist_ok=True)
        line, identity = self.command(service), None
        if service.startswith("redis"):
            line += ["--port", str(self.ports[service]), "--bind", "127.0.0.1"]
        if service == "postgres":
            server = Postgres(find_binaries(CHECKOUT), folder, folder / "log", throw_away=True)
            identity = server.identity
            self._make_database_folder(server)
            line += ["-D", str(server.data), "-c", f"port={self.ports[service]}", "-c", "listen_addresses=127.0.0.1"]
            line += ["-c", "unix_socket_directories=", "-c", "fsync=off"]
        line[0] = str(shutil.which(line[0], path=self._path()))
        with self.log(service).open("wb") as log:
            self.running[service] = subprocess.Popen(
                line,
                cwd="/" if service == "postgres" else self._cwd(),
                env=self.environment(service),
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=before_exec(signal.SIGTERM, identity),
            )

    def _make_database_folder(self, server: Postgres) -> None:
        """As the image's entrypoint does: initdb with the service's own arguments, then the database."""
        service = composed.services()["postgres"]["environment"]
        user, words = service["POSTGRES_USER"], service["POSTGRES_INITDB_ARGS"].split()
        password = self.base / "password"
        password.write_text((self.secrets / "postgres_password").read_text())
        server.data.mkdir(mode=0o700)
        give([server.data, password], server.identity)
        initdb = ["initdb", "-D", str(server.data), "-U", user, "--pwfile", str(password), "--no-sync", *words]
        single = ["postgres", "--single", "-D", str(server.data), "postgres"]
        for line, said in ((initdb, None), (single, f"CREATE DATABASE {service['POSTGRES_DB']}\n")):
            done = subprocess.run(
                [server.binaries.path(line[0]), *line[1:]],
                cwd="/",
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
                input=said,
                text=True,
                capture_output=True,
                preexec_fn=before_exec(signal.SIGTERM, server.identity),
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr

    def wait(self, service: str) -> None:
        """Until its log says that it is ready."""

        def ready() -> bool:
            said = self.log(service).read_text(errors="replace")
            status = self.running[service].poll()
            assert status is None, f"{service} ended with {status}:\n{said[-2000:]}"
            return READY[service] in said

        eventually(ready, f"{service} ready")

    def once(self, service: str, words: Sequence[str] | None = None) -> subprocess.CompletedProcess[str]:
        """A command of a service that ends by itself (its own, or `words` inside its container)."""
        return self._run(self.command(service, words), self.environment(service))

    def plain(self, service: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Words as they are, in a service's environment."""
        return self._run(words, self.environment(service))

    def _run(self, line: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        program = str(shutil.which(line[0], path=env["PATH"]))
        return subprocess.run(
            [program, *line[1:]], cwd=self._cwd(), env=env, capture_output=True, text=True, timeout=180, check=False
        )

    def _cwd(self) -> Path:
        """The image's working folder, once it is laid out."""
        return self.app if self.app.exists() else self.base

    def log(self, service: str) -> Path:
        """What a service has said."""
        return self.base / f"{service}.log"

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Of the deployment's database."""
        with psycopg.connect((self.secrets / "database_url").read_text()) as link:
            return link.execute(statement).fetchall()

    def memory_mb(self, service: str) -> float:
        """Resident memory of a service's process and its children now."""
        pid = self.running[service].pid
        group = subprocess.run(["ps", "-o", "rss=", "-g", str(pid)], capture_output=True, text=True, check=False).stdout
        return sum(map(int, group.split())) / 1024

    def end(self, service: str) -> int:
        """As `docker compose stop` does; its exit status."""
        process = self.running.pop(service)
        wanted = composed.services()[service].get("stop_signal", "SIGTERM")
        process.send_signal(signal.Signals[wanted])
        try:
            return process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def end_all(self) -> None:
        """Whatever still runs."""
        for process in self.running.values():
            process.kill()
            process.wait()
        self.running.clear()
