"""What a child does between fork and exec: own session, default signals, end with parent, another user.

PostgreSQL refuses to run as root. As root we run it as the user `nobody`, which every system has, instead of
adding a user to the machine. Where the checkout lies below a folder that only root may enter (/root), we
widen no permissions either: the server keeps the single capability to pass through folders.
Source: capabilities(7), prctl(2).
"""

import ctypes
import os
import pwd
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devstack.errors import DevstackError

UNPRIVILEGED_USER = "nobody"

PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
SECBIT_NO_SETUID_FIXUP = 1 << 2
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522
RESET_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)

_libc = ctypes.CDLL(None, use_errno=True)


class _CapHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapData(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@dataclass(frozen=True)
class Identity:
    """The user that a child becomes, with the one capability it keeps (None = none)."""

    uid: int
    gid: int
    capability: int | None = None

    def assume(self) -> None:
        """Become it for good. Runs in the child only; raises OSError where the kernel refuses."""
        if self.capability is not None:
            # Without this bit access(2) ignores the capability of a process that is not root, and the server
            # asks access(2) whether it may execute itself.
            _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
        os.setgroups([])
        os.setgid(self.gid)
        os.setuid(self.uid)
        if self.capability is not None:
            _keep_only(self.capability)


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what} was refused")


def _prctl(option: int, *arguments: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(option, *padded), f"prctl({option})")


def _keep_only(capability: int) -> None:
    bit = 1 << capability
    header = _CapHeader(CAPABILITY_VERSION_3, 0)
    data = (_CapData * 2)(_CapData(bit, bit, bit), _CapData(0, 0, 0))
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)), "capset")
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def server_identity(data: Path, binary: Path) -> Identity | None:
    """Who shall run a server over `data`: we (None); as root the data's owner, `nobody` for new data."""
    if os.geteuid() != 0:
        return None
    user = pwd.getpwnam(UNPRIVILEGED_USER)
    uid, gid = user.pw_uid, user.pw_gid
    if data.exists() and data.stat().st_uid != 0:
        uid, gid = data.stat().st_uid, data.stat().st_gid
    if not _may_enter(binary, uid, gid):  # installed with a strict umask
        return Identity(uid, gid, _passing_capability(binary, (CAP_DAC_OVERRIDE,)))
    closed = [path for path in (data, binary) if not _may_reach(path, uid, gid)]
    return Identity(uid, gid, _passing_capability(closed[0]) if closed else None)


def _may_reach(path: Path, uid: int, gid: int) -> bool:
    """Whether that user may enter every folder above `path`."""
    return all(_may_enter(folder, uid, gid) for folder in path.absolute().parents if folder.exists())


def _may_enter(path: Path, uid: int, gid: int) -> bool:
    """The execute bit: to pass through a folder, or to run a program."""
    status = path.stat()
    shift = 6 if status.st_uid == uid else 3 if status.st_gid == gid else 0
    return bool(status.st_mode >> shift & 1)


def _passing_capability(path: Path, fitting: Sequence[int] = (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)) -> int:
    """The weakest capability of ours that passes through any folder; containers may lack the weaker one."""
    permitted = _permitted_capabilities()
    for capability in fitting:
        if permitted >> capability & 1:
            return capability
    raise DevstackError(
        f"PostgreSQL must not run as root, and {UNPRIVILEGED_USER} may not get to {path}. "
        "Work as an ordinary user, move the checkout, or set DATABASE_URL."
    )


def _permitted_capabilities() -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1], 16) for line in lines if line.startswith("CapPrm:")), 0)


def before_exec(
    death_signal: signal.Signals, identity: Identity | None = None, *, own_session: bool = True
) -> Callable[[], None]:
    """The function to run in the child. `death_signal` arrives there when the thread that forked it ends."""
    parent = os.getpid()

    def prepare() -> None:
        if own_session:
            os.setsid()
        for number in RESET_SIGNALS:  # a shell's `&` hands down an ignored SIGINT
            signal.signal(number, signal.SIG_DFL)
        if identity is not None:
            identity.assume()
        end_with_parent(death_signal)  # after the change of user, which clears it
        if os.getppid() != parent:
            os._exit(1)  # the parent ended before the kernel knew

    return prepare


def end_with_parent(death_signal: signal.Signals) -> None:
    """Ask the kernel to send us `death_signal` when our parent ends (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, death_signal)


def give(paths: Iterable[Path], identity: Identity | None) -> None:
    """Make the files the server's own."""
    if identity is not None:
        for path in paths:
            os.chown(path, identity.uid, identity.gid)
