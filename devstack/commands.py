"""run, stop, reset, logs, manage: one function per command, each returns an exit status."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from devstack import gpu_demo, install, leftovers, payment_demo, ports, programs
from devstack.checkout import Checkout
from devstack.console import Console
from devstack.errors import DevstackError, Stopped
from devstack.lock import FileLock
from devstack.services import (
    SERVERS,
    Services,
    development_environment,
    person_environment,
    running_environment,
)
from devstack.stack import Stack, bring_up, check_owner, watch
from devstack.supervisor import Supervisor

DEFAULT_PORT = 8000
STOP_SECONDS = 40.0
LEFTOVER_SECONDS = 15.0
LOG_LINES = "100"
# What `make reset` deletes below var/; other folders there (bases, training runs) are not the stack's.
STATE = ("postgres", "postgres.new", "redis", "runpod", "stripe.json", "log", "dev.env", "secret-key", "report-key")
STATE_PATTERNS = ("beat-schedule*",)


def run(
    checkout: Checkout,
    stack: Stack | None = None,
    *,
    prepare: bool = True,
    extras: Collection[str] = install.RUN_EXTRAS,
) -> int:
    """Everything in the foreground until Ctrl-C. prepare: have the packages of `extras` installed first."""
    console = Console()
    checkout.make_var()
    check_owner(checkout)
    given = person_environment(checkout)
    port = _port(given.get("PORT"))
    lock = FileLock(checkout.run_lock)
    if not lock.acquire(command="run", port=port):
        console.line(_busy(lock))
        return 1
    supervisor = Supervisor(console)
    services = Services(checkout, base=checkout.var, logs=checkout.logs)
    chosen = stack or programs.product(checkout, host_of(given))
    try:
        end_leftovers(checkout, supervisor)
        _check_port(port)
        if prepare:
            install.ensure(checkout, extras, supervisor)
        bring_up(chosen, checkout, supervisor, services, development_environment(checkout, given, port))
        lock.note(command="run", port=port, ready=True)
        watch(checkout, supervisor)
    except Stopped:
        pass  # asked to end while still starting
    finally:
        console.line("Stopping …")
        supervisor.stop_all(last=SERVERS)
        services.withdraw(chosen.environment)
        lock.release()
        console.line("Stopped.")
    return 0


def run_gpu_demo(checkout: Checkout) -> int:
    """The same, scored by the worker of RunPod's SDK behind the loopback RunPod."""
    stack = gpu_demo.stack(checkout, host_of(person_environment(checkout)), ports.free_port())
    return run(checkout, stack, extras=install.GPU_DEMO_EXTRAS)


def run_demo(checkout: Checkout) -> int:
    """The same, with plans that can be bought at the loopback Stripe."""
    given = person_environment(checkout)
    return run(
        checkout, payment_demo.stack(checkout, host_of(given), given, ports.free_port()), extras=install.DEMO_EXTRAS
    )


def host_of(given: Mapping[str, str]) -> str:
    """Where the page listens."""
    return given.get("HOST") or "127.0.0.1"


def _port(given: str | None) -> int:
    if not given:
        return DEFAULT_PORT
    if not given.isdecimal() or not 0 < int(given) < 65_536:
        raise DevstackError(f"PORT={given} is no port: a number from 1 to 65535.")
    return int(given)


def _check_port(port: int) -> None:
    if not ports.is_free(port):
        who = ports.holder(port) or "another program"
        raise DevstackError(f"Port {port} is taken by {who}. Choose another one: make run PORT={ports.next_free(port)}")


def _busy(lock: FileLock) -> str:
    holder = lock.holder() or {}
    process = f"process {holder.get('pid', 'unknown')}"
    if holder.get("command") == "run":
        port = holder.get("port")
        return f"InkCloak already runs here ({process}): http://127.0.0.1:{port} (`make stop` ends it)"
    return f"`make {holder.get('command', 'manage')}` uses this checkout's servers ({process}): try again later."


def end_leftovers(checkout: Checkout, supervisor: Supervisor) -> None:
    """End what a killed run left. Ours alone is the lock, so whatever still runs here has no supervisor."""

    def left() -> list[int]:
        folders = [checkout.var / name for name in SERVERS]
        return leftovers.marked(checkout.var) + [pid for at in folders for pid in leftovers.working_in(at)]

    if not left():
        return
    with supervisor.console.step("Ending what an earlier run left"):
        # Servers finish cleanly through their own way_is_clear; here everything else goes.
        leftovers.send(leftovers.marked(checkout.var), signal.SIGTERM)
        for folder in SERVERS:
            leftovers.send(leftovers.working_in(checkout.var / folder), signal.SIGINT)
        if not supervisor.wait_until(lambda: not left(), LEFTOVER_SECONDS):
            leftovers.send(left(), signal.SIGKILL)
            supervisor.wait_until(lambda: not left(), LEFTOVER_SECONDS)


def stop(checkout: Checkout) -> int:
    """End the stack of this checkout from another terminal."""
    lock = FileLock(checkout.run_lock)
    holder = lock.holder()
    if holder is None or "pid" not in holder:
        print("Nothing runs in this checkout.")
        return 0
    try:
        os.kill(int(holder["pid"]), signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError as denied:
        raise DevstackError("It runs as another user: stop it as that user.") from denied
    deadline = time.monotonic() + STOP_SECONDS
    while lock.holder() is not None:
        if time.monotonic() > deadline:
            os.kill(int(holder["pid"]), signal.SIGKILL)  # the kernel ends its children with it
        time.sleep(0.1)
    print("Stopped.")
    return 0


def reset(checkout: Checkout) -> int:
    """Delete the stack's data. Needs CONFIRM=1; refuses while something runs."""
    if os.environ.get("CONFIRM") != "1":
        print(f"This deletes all accounts and checks below {checkout.var}. If you mean it: make reset CONFIRM=1")
        return 1
    checkout.make_var()
    lock = FileLock(checkout.run_lock)
    if not lock.acquire(command="reset"):
        print(_busy(lock))
        return 1
    try:
        end_leftovers(checkout, Supervisor(Console()))
        paths = [checkout.var / name for name in STATE]
        paths += [path for pattern in STATE_PATTERNS for path in checkout.var.glob(pattern)]
        for path in paths:
            _remove(path)
    finally:
        lock.release()
    print("The next `make run` starts with empty data.")
    return 0


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def logs(checkout: Checkout) -> NoReturn:
    """Follow every log, by tail."""
    files = sorted(str(path) for path in checkout.logs.glob("*.log"))
    if not files:
        raise DevstackError("No logs yet: make run")
    os.execvp("tail", ["tail", "-n", LOG_LINES, "-F", *files])  # noqa: S606 - no shell wanted


def manage(checkout: Checkout, arguments: Sequence[str]) -> int:
    """manage.py against the running stack, or with servers started for this one command."""
    checkout.make_var()
    lock = FileLock(checkout.run_lock)
    command = [str(checkout.python), "manage.py", *arguments]
    given = person_environment(checkout)
    holder = None if lock.acquire(command="manage") else lock.holder() or {}
    if holder is not None and holder.get("command") == "run":
        if not holder.get("ready"):
            raise DevstackError("InkCloak is still starting here: try again when it is ready.")
        os.chdir(checkout.root)
        os.execve(command[0], command, running_environment(checkout, given))  # noqa: S606
    supervisor = Supervisor(Console(sys.stderr))  # its answer alone belongs on standard output
    if holder is not None:
        supervisor.wait_until(lambda: lock.acquire(command="manage"))
    try:
        end_leftovers(checkout, supervisor)
        install.ensure(checkout, install.RUN_EXTRAS, supervisor)
        services = Services(checkout, base=checkout.var, logs=checkout.logs)
        environment = development_environment(checkout, given, _port(given.get("PORT")))
        found = services.start(supervisor, environment) | {"INKCLOAK_IGNORE_DEV_ENV": "1"}  # a killed stack's
        return supervisor.run_foreground(command, cwd=checkout.root, env=found)
    finally:
        supervisor.stop_all(last=SERVERS)
        lock.release()
