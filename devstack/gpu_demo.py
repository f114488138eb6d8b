"""`make run-gpu-demo`: the product as it runs with rented GPUs, on one machine and without an account.

In the place of RunPod stands the loopback RunPod (tests/loopback/runpod): a real server with queue, scaler, cold start
and bill, which starts the real worker of RunPod's SDK around our handler with the shipped model. To the product one
address differs from the real service, RUNPOD_LOOPBACK_URL; the rest of the environment is what docs/runpod.md has one
set.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from devstack import programs
from devstack.checkout import Checkout
from devstack.child import Program
from devstack.leftovers import mark
from devstack.stack import OneOff, Stack

KEY = "rpa_loopback"  # guards nothing: it opens a server on loopback that knows no money
ENDPOINT = "demo"
IMAGE = "inkcloak/pod:demo"
WORKERS_MAX = 1  # each worker loads the model and calculates with two cores
IDLE_SECONDS = 60
QUEUE_DELAY_SECONDS = 4
EXECUTION_SECONDS = 60
READY_LINE = programs.READY_LINE + (
    "\nTexts are scored behind the loopback RunPod, {address} (its insides: {address}/_control/state)."
    "\nThe first check waits for a worker's cold start. See also: make manage ARGS=runpod_doctor"
)
DEPLOYMENT = OneOff("Deploying to the loopback RunPod", ("-m", "devstack.django_commands", "runpod_deploy --yes"))


def stack(checkout: Checkout, host: str, runpod_port: int) -> Stack:
    """The whole product with the loopback RunPod on that port."""
    product = programs.product(checkout, host)
    address = f"http://127.0.0.1:{runpod_port}"

    return replace(
        product,
        steps=(*product.steps, DEPLOYMENT),
        ready_line=READY_LINE.replace("{address}", address),
        environment=environment_of(address),
        before=lambda environment: [loopback(checkout, environment, runpod_port)],
    )


def environment_of(address: str) -> dict[str, str]:
    """As docs/runpod.md has one set it, but for the one address. Empty = as documented, whatever the person's say."""
    return {
        "SCORING_POLICY": "gpu",
        "RUNPOD_LOOPBACK_URL": address,
        "RUNPOD_BASE_URL": "",
        "RUNPOD_REST_URL": "",
        "RUNPOD_GRAPHQL_URL": "",
        "RUNPOD_API_KEY": KEY,
        "RUNPOD_ENDPOINT_ID": ENDPOINT,
        "RUNPOD_ENDPOINT_NAME": ENDPOINT,
        "RUNPOD_IMAGE": IMAGE,
        "RUNPOD_REGISTRY_ID": "",
        "RUNPOD_GPU_POOLS": "",
        "RUNPOD_MIN_CUDA": "any",
        "RUNPOD_WORKERS_MIN": "0",
        "RUNPOD_WORKERS_MAX": str(WORKERS_MAX),
        "RUNPOD_SCALER": "QUEUE_DELAY",
        "RUNPOD_SCALER_VALUE": str(QUEUE_DELAY_SECONDS),
        "RUNPOD_IDLE_SECONDS": str(IDLE_SECONDS),
        "RUNPOD_FLASHBOOT": "OFF",
        "RUNPOD_EXECUTION_SECONDS": str(EXECUTION_SECONDS),
        "RUNPOD_WORKER_ENV": "",
    }


def loopback(checkout: Checkout, environment: Mapping[str, str], port: int) -> Program:
    """The server; its workers end with it, also when it is killed."""
    settings = {
        "workers": {"min": 0, "max": WORKERS_MAX, "idleTimeout": IDLE_SECONDS},
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": QUEUE_DELAY_SECONDS},
        "timeout": EXECUTION_SECONDS * 1000,
        "env": {"RUNPOD_LOG_LEVEL": "INFO"},
    }
    own = ["--port", str(port), "--data", str(checkout.var / "runpod"), "--key", KEY]
    own += ["--endpoint", ENDPOINT, "--image", IMAGE, "--settings", json.dumps(settings)]
    own += ["--command", shlex.join([str(checkout.python), "-m", "gpujobs.pod.handler"])]
    return Program(
        name="runpod",
        argv=(str(checkout.python), "-m", "tests.loopback.runpod", *own),
        log=checkout.logs / "runpod.log",
        cwd=Path(checkout.root),
        env=dict(environment) | mark(checkout.var),
        ready_words='"endpoint"',
    )
