"""A throw-away PostgreSQL and Redis, and programs beside them, for one benchmark; nothing of it is left at the end.

with Stand() as stand:                     servers, migrated, the shipped model registered; Django set up here
    stand.start([program, …])              until they are ready
    stand.until(lambda: …, seconds)        looks after them meanwhile; Ctrl-C is heard
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import django

from devstack.checkout import Checkout
from devstack.child import Program
from devstack.console import Console
from devstack.errors import DevstackError, Stopped
from devstack.leftovers import mark
from devstack.rehearsal import GENEROUS
from devstack.services import SERVERS, Services, development_environment
from devstack.supervisor import Supervisor
from devstack.testing import test_environment

INTERRUPTED = 130
READY_SECONDS = 60.0
PREPARE = ("-m", "devstack.django_commands", "migrate --noinput", "register_shipped_model")


class Stand:
    """environment: of every program, over which `settings` of the constructor stand."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.console = Console()
        self._supervisor = Supervisor(self.console)
        self._base = Path(tempfile.mkdtemp(prefix="inkcloak-bench-"))
        self._base.chmod(0o711)  # another user's server passes through; its own folders stay closed
        self.checkout = replace(Checkout.at(Path(__file__).resolve().parent.parent), var=self._base)
        self._settings = dict(settings or {})
        self.environment: dict[str, str] = {}

    def __enter__(self) -> "Stand":
        try:
            self.checkout.make_var()
            given = development_environment(self.checkout, test_environment() | GENEROUS, 0) | self._settings
            # Not `throw_away`: that leaves out fsync, which is part of what is measured.
            services = Services(self.checkout, base=self._base, logs=self.checkout.logs)
            self.environment = services.start(self._supervisor, given)
            argv = [str(self.checkout.python), *PREPARE]
            log = self.checkout.logs / "setup.log"
            self._supervisor.run_step(
                "Preparing the database", argv, log=log, cwd=self.checkout.root, env=self.environment
            )
            os.environ.update(self.environment, DJANGO_SETTINGS_MODULE="inkcloak.settings")
            django.setup()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        from django.db import connections

        connections.close_all()
        self._end()

    def _end(self) -> None:
        self._supervisor.stop_all(last=SERVERS)
        shutil.rmtree(self._base, ignore_errors=True)

    def program(self, name: str, *arguments: str, ready_words: str, settings: Mapping[str, str]) -> Program:
        """One of this Python's, logged below the stand's folder."""
        return Program(
            name=name,
            argv=(str(self.checkout.python), *arguments),
            log=self.checkout.logs / f"{name}.log",
            cwd=self.checkout.root,
            env={**self.environment, **settings} | mark(self._base),
            ready_words=ready_words,
        )

    def start(self, programs: Sequence[Program]) -> None:
        """Until they are ready. Raises DevstackError with the end of the late one's log."""
        names = [program.name for program in programs]
        with self.console.step(f"Starting {', '.join(names)}") as step:
            for program in programs:
                self._supervisor.start(program)
            self._supervisor.wait_ready(step, names, READY_SECONDS)

    def stop(self, *names: str) -> None:
        """End those."""
        self._supervisor.stop(names)

    def until(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        """Look after the programs until `true()`. Raises DevstackError when it takes longer than `seconds`."""
        if not self._supervisor.wait_until(true, seconds):
            raise DevstackError(f"{what}: not within {seconds:.0f} s")

    def go_on(self) -> None:
        """Between two long steps that look after nothing. Raises Stopped after a Ctrl-C."""
        if self._supervisor.stop_asked:
            raise Stopped

    def pids(self) -> dict[str, int]:
        """Of the programs that run."""
        return {name: child.pid for name, child in self._supervisor.children.items() if child.pid is not None}


def run(main: Callable[[], None]) -> None:
    """A benchmark's main; what went wrong is said in a sentence."""
    try:
        main()
    except Stopped:
        sys.exit(INTERRUPTED)
    except DevstackError as problem:
        sys.exit(str(problem))
