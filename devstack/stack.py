"""From nothing to "ready", and from there to the end: servers, one-off commands, processes, the page."""

import http.client
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devstack.checkout import Checkout
from devstack.child import Program
from devstack.console import last_lines
from devstack.errors import DevstackError
from devstack.services import SERVERS, Services
from devstack.supervisor import SHOWN_LOG_LINES, Supervisor

READY_SECONDS = 180.0
PAGE_TIMEOUT_SECONDS = 2.0
READ_BYTES = 65_536
ROUTINE = " INFO celery."  # stays in the log files: the sweep alone would fill the terminal


@dataclass(frozen=True)
class OneOff:
    """A command of the virtual environment's Python that must succeed before the processes start."""

    title: str
    argv: tuple[str, ...]


def _none(_environment: Mapping[str, str]) -> list[Program]:
    return []


@dataclass(frozen=True)
class Stack:
    """What to run; the tests of this package put a tiny page here.

    environment: over what the person set, for all of it and for `manage.py`.  before: processes that must be ready
    before the steps.
    """

    steps: Sequence[OneOff]
    programs: Callable[[Mapping[str, str]], list[Program]]
    health_path: str
    ready_line: str
    python: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[Mapping[str, str]], list[Program]] = _none


def bring_up(
    stack: Stack,
    checkout: Checkout,
    supervisor: Supervisor,
    services: Services,
    environment: Mapping[str, str],
) -> None:
    """Everything until the page answers, then say so. Raises DevstackError with the end of the guilty log."""
    full = services.start(supervisor, {**environment, **stack.environment})
    services.publish(full, stack.environment)
    _start(supervisor, stack.before(full))
    for step in stack.steps:
        argv = [str(stack.python), *step.argv]
        log = checkout.logs / "setup.log"
        supervisor.run_step(step.title, argv, log=log, cwd=checkout.root, env=full, show=True)
    programs = stack.programs(full)
    _start(supervisor, programs)
    if not supervisor.wait_until(lambda: page_answers(int(full["PORT"]), stack.health_path), READY_SECONDS):
        lines = last_lines(programs[0].log, SHOWN_LOG_LINES)
        raise DevstackError(f"{stack.health_path} did not answer 200.\n" + "\n".join(lines))
    supervisor.strict = False
    supervisor.console.line(stack.ready_line.format(port=full["PORT"]))
    supervisor.console.line("Ctrl-C ends it and leaves nothing behind. Logs: make logs")


def _start(supervisor: Supervisor, programs: Sequence[Program]) -> None:
    """All of them, until they are ready."""
    if not programs:
        return
    names = [program.name for program in programs]
    with supervisor.console.step(f"Starting {', '.join(names)}") as shown:
        for program in programs:
            supervisor.start(program)
        supervisor.wait_ready(shown, names, READY_SECONDS)


def watch(checkout: Checkout, supervisor: Supervisor) -> None:
    """Look after the children and show what they say, until somebody asks for the end."""
    names = [name for name in supervisor.children if name not in SERVERS]
    tails = [LogTail(name, checkout.logs / f"{name}.log") for name in names]
    while not supervisor.stop_asked:
        supervisor.tick()
        for tail in tails:
            for line in tail.new_lines():
                if ROUTINE not in line:
                    supervisor.console.prefixed(tail.name, line)


class LogTail:
    """What a log got since we last looked: children write files, so a stuck terminal never stops them."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self._offset = path.stat().st_size if path.exists() else 0
        self._rest = b""

    def new_lines(self) -> list[str]:
        """Whole lines only."""
        try:
            size = self.path.stat().st_size
            if size == self._offset:
                return []
            with self.path.open("rb") as log:
                log.seek(self._offset if size > self._offset else 0)
                fresh = log.read(READ_BYTES)
                self._offset = log.tell()
        except OSError:
            return []
        *lines, self._rest = (self._rest + fresh).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]


def page_answers(port: int, path: str) -> bool:
    """Whether GET answers 200 there."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PAGE_TIMEOUT_SECONDS)
    try:
        link.request("GET", path)
        return link.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


def check_owner(checkout: Checkout) -> None:
    """Raises DevstackError when another user's run left the state folder."""
    owner = checkout.var.stat().st_uid
    if owner != os.getuid():
        raise DevstackError(
            f"{checkout.var} belongs to another user (id {owner}): run as that user, or remove the folder."
        )
