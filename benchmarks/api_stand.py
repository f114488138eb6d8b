"""The processes of `make bench-api`: a web process for each length of list, the bare one, later a worker."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from benchmarks.stand import Stand
from devstack import ports, programs
from devstack.child import Program

HOST = "127.0.0.1"
APPLICATION = "inkcloak.asgi:application"
SETTINGS = {
    "DEBUG": "0",  # as in production: with it, Django keeps every statement
    "SECURE_SSL_REDIRECT": "0",
    "API_REQUESTS_PER_MINUTE": "1000000000",
    "REUSE_DAYS": "30",  # the default, which costs a query
}
DRAINED_SECONDS = 60.0  # for what a worker holds already


class Product:
    """caller: who asks, in every database.  few, many: what is stored of it.

    ports: of `web` (few), `web-many` and `bare`.
    """

    def __init__(self, stand: Stand, few_rows: int, many_rows: int) -> None:
        from django.db import connection

        from benchmarks import api_rows
        from benchmarks.claim_rows import make_databases

        self.stand = stand
        self.caller = api_rows.caller("listing")
        main = str(connection.settings_dict["NAME"])
        make_databases(["many"])
        self.few, self.many = api_rows.Stored(main, self.caller), api_rows.Stored("many", self.caller)
        for stored, rows in ((self.few, few_rows), (self.many, many_rows)):
            stand.go_on()
            with stand.console.step(f"Storing {rows:,} detections"):
                stored.fill(rows)
        self.ports = {name: ports.free_port() for name in ("web", "web-many", "bare")}
        there = urlunsplit(urlsplit(stand.environment["DATABASE_URL"])._replace(path="/many"))
        stand.start(
            [
                self._web("web", "benchmarks.api_keyed:application", {}),
                self._web("web-many", APPLICATION, {"DATABASE_URL": there}),
                self._web("bare", "benchmarks.api_bare:application", {}),
            ]
        )

    def _web(self, name: str, application: str, settings: Mapping[str, str]) -> Program:
        """The product's own command line, with another application in it."""
        program = self._program("web", {"PORT": str(self.ports[name])} | dict(settings))
        argv = tuple(application if word == APPLICATION else word for word in program.argv)
        return replace(program, name=name, argv=argv, log=program.log.with_name(f"{name}.log"))

    def _program(self, name: str, settings: Mapping[str, str]) -> Program:
        environment = {**self.stand.environment, **settings}
        everything = programs.product(self.stand.checkout, HOST).programs(environment)
        return next(program for program in everything if program.name == name)

    def start_worker(self) -> None:
        """The one that holds the model."""
        self.stand.start([self._program("score", {})])

    def clear(self) -> None:
        """Nothing is queued or scored any more."""
        from detector.models import Submission

        mine = Submission.objects.filter(account=self.caller.owner.account)
        mine.filter(status=Submission.Status.QUEUED).delete()
        scoring = mine.filter(status=Submission.Status.SCORING)
        self.stand.until(lambda: not scoring.exists(), DRAINED_SECONDS, "the worker's last batch")
