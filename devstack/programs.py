"""THE TABLE: what `make run` runs before, beside and after the page answers. Change command lines here."""

from collections.abc import Mapping
from pathlib import Path

from devstack.checkout import Checkout
from devstack.child import Program
from devstack.leftovers import mark
from devstack.stack import OneOff, Stack

# Commands before the processes, in this order; after a `+`, what it prints is for the person.
STEPS = (
    OneOff(
        "Preparing database, model and staff login",
        ("-m", "devstack.django_commands", "migrate --noinput", "register_shipped_model", "+ensure_staff"),
    ),
)

# name, arguments of the virtual environment's Python, own environment, the log's words when it is ready.
# {port}, {host}, {var} are filled in.
WEB = "-m uvicorn inkcloak.asgi:application --host {host} --port {port} --timeout-graceful-shutdown 3"
WORKER = "-m celery -A inkcloak worker -n {name}@%h -Q {queues} --pool=threads --concurrency={threads}"
WORKER += " --without-gossip --without-mingle --loglevel=INFO"
WORKER_IS_READY = " ready.\n"
BEAT = "-m celery -A inkcloak beat --pidfile= --schedule={var}/beat-schedule --loglevel=INFO"
PROCESSES: tuple[tuple[str, str, Mapping[str, str], str], ...] = (
    ("web", WEB, {"DATABASE_POOL": "1", "WARM_UP": "1"}, "Uvicorn running on"),
    # The only process that loads the model; what it takes, the policy says.
    (
        "score",
        WORKER.replace("{name}", "score").replace("{queues}", "score").replace("{threads}", "1"),
        {"WARM_UP": "1"},
        WORKER_IS_READY,
    ),
    # Threads that wait for RunPod.
    (
        "gpu",
        WORKER.replace("{name}", "gpu").replace("{queues}", "gpu").replace("{threads}", "8"),
        {},
        WORKER_IS_READY,
    ),
    (
        "steps",
        WORKER.replace("{name}", "steps").replace("{queues}", "default").replace("{threads}", "4"),
        {},
        WORKER_IS_READY,
    ),
    ("beat", BEAT, {}, "beat: Starting..."),
)
READY_LINE = "InkCloak is ready: http://127.0.0.1:{port}"


def product(checkout: Checkout, host: str) -> Stack:
    """The whole product of this checkout."""

    def programs(environment: Mapping[str, str]) -> list[Program]:
        wanted = [row for row in PROCESSES if row[0] != "gpu" or environment.get("RUNPOD_ENDPOINT_ID")]
        return [_program(checkout, environment, host, *row) for row in wanted]

    return Stack(steps=STEPS, programs=programs, health_path="/healthz", ready_line=READY_LINE, python=checkout.python)


def _program(
    checkout: Checkout,
    environment: Mapping[str, str],
    host: str,
    name: str,
    arguments: str,
    own: Mapping[str, str],
    ready_words: str,
) -> Program:
    filled = [word.format(port=environment["PORT"], host=host, var=checkout.var) for word in arguments.split()]
    return Program(
        name=name,
        argv=(str(checkout.python), *filled),
        log=checkout.logs / f"{name}.log",
        cwd=Path(checkout.root),
        env={**environment, **own} | mark(checkout.var),
        ready_words=ready_words,
    )
