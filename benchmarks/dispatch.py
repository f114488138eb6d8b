"""`make bench-dispatch`: 5,000 queued texts to stored verdicts through the loopback RunPod and the SDK's real worker.

    ARGS="--texts 5000 --pasted 50 --naive 40"

The product's own processes (web for RunPod's webhooks, the workers `gpu` and `steps`, beat), PostgreSQL and Redis, all
thrown away at the end. Only the forward pass is a wait (timed_worker.py). With three workers and with one: a bulk job
alone, timed from the first wake-up to the last verdict; then one beside which single texts are pasted. At last
one text a task, as one would dispatch without batching. The last line is JSON.
"""

import argparse
import json
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from benchmarks import processor, timed_worker
from benchmarks.stand import Stand, run
from devstack import gpu_demo, ports, programs
from devstack.child import Program

HOST = "127.0.0.1"
PROGRAMS = ("web", "gpu", "steps", "beat")  # of devstack.programs; `score` is for this machine's own model
TARGETS = {3: 256, 1: 85}  # workers -> texts a second: 95 % of what their forward passes take
RUNS_PER_WORKER = 2
WORKER_CONCURRENCY = 16  # well above the jobs that a worker holds: a full one sleeps for a second
INTERVAL_SECONDS = 0.35  # between two pasted texts
FEWEST_PASTED = 20  # for a p95
MARGIN_SECONDS = 5.0  # by which the bulk job beside them outlasts them
PASTED_TARGET_MS = round((timed_worker.TOGETHER_SECONDS + 0.150) * 1000)  # p95: a batch, and 150 ms
READY_SECONDS, LONGEST_SECONDS = 60.0, 200.0  # of the workers' start; of one bulk job
IDEAL = timed_worker.MOST_TEXTS / timed_worker.TOGETHER_SECONDS  # texts a second of one worker


@dataclass(frozen=True)
class Ports:
    """Of this rehearsal: the site's and the loopback RunPod's."""

    web: int
    runpod: int


@dataclass(frozen=True)
class Outcome:
    """rate: texts a second; share: of the ideal.  pasted: seconds of each text pasted beside the second bulk job.

    cpu: processor seconds by program while the first bulk job ran.
    """

    rate: float
    share: float
    pasted: Sequence[float]
    cpu: Mapping[str, float]


def settings_of(ports_: Ports, workers: int) -> dict[str, str]:
    """As docs/runpod.md has one set them."""
    return gpu_demo.environment_of(f"http://{HOST}:{ports_.runpod}") | {
        "PORT": str(ports_.web),
        "PUBLIC_URL": f"http://{HOST}:{ports_.web}",
        "RUNPOD_WEBHOOK_URL": f"http://{HOST}:{ports_.web}",
        "RUNS_IN_FLIGHT": str(workers * RUNS_PER_WORKER),
        "RUNPOD_WORKERS_MIN": str(workers),
        "RUNPOD_WORKERS_MAX": str(workers),
        "REUSE_DAYS": "0",
    }


def loopback(stand: Stand, port: int, workers: int) -> Program:
    """The loopback RunPod with so many workers that always run."""
    endpoint = {
        "workers": {"min": workers, "max": workers, "idleTimeout": 3600},
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "timeout": 60_000,
        "env": {"RUNPOD_LOG_LEVEL": "WARN", "INKCLOAK_CONCURRENCY": str(WORKER_CONCURRENCY)},
    }
    own = ["--port", str(port), "--data", str(stand.checkout.var / "runpod"), "--key", gpu_demo.KEY]
    own += ["--endpoint", gpu_demo.ENDPOINT, "--image", gpu_demo.IMAGE, "--settings", json.dumps(endpoint)]
    own += ["--command", shlex.join([str(stand.checkout.python), "-m", "benchmarks.timed_worker"])]
    arguments = ("-m", "tests.loopback.runpod", *own)
    return stand.program("runpod", *arguments, ready_words='"endpoint"', settings={})


def product(stand: Stand, environment: Mapping[str, str]) -> list[Program]:
    """The product's processes that take part."""
    everything = programs.product(stand.checkout, HOST).programs({**stand.environment, **environment})
    return [program for program in everything if program.name in PROGRAMS]


def with_workers(stand: Stand, ports_: Ports, count: int, options: argparse.Namespace) -> Outcome:
    """Starts everything for so many workers, measures, ends it."""
    from benchmarks import dispatch_load as load

    alone = load.queue(f"alone-{count}", options.texts)
    running = start(stand, ports_, count)
    before = processor.used(stand.pids())
    rate = load.throughput(alone, stand.until, LONGEST_SECONDS)
    cpu = {name: round(value - before.get(name, 0.0), 1) for name, value in processor.used(stand.pids()).items()}
    seconds = options.pasted * INTERVAL_SECONDS + MARGIN_SECONDS
    beside = load.queue(f"beside-{count}", round(seconds * IDEAL * count))
    pasted = load.interactive(beside, options.pasted, INTERVAL_SECONDS, stand.until)
    stand.until(lambda: not beside.waiting(), LONGEST_SECONDS, "the second bulk job")
    stand.stop(*running)
    return Outcome(rate, rate / (IDEAL * count), pasted, cpu)


def start(stand: Stand, ports_: Ports, count: int) -> list[str]:
    """The loopback RunPod with its workers up, then the product; their names."""
    wanted = [loopback(stand, ports_.runpod, count), *product(stand, settings_of(ports_, count))]
    stand.start(wanted)
    address = f"http://{HOST}:{ports_.runpod}/_control/state"

    def all_ready() -> bool:
        workers = httpx.get(address, trust_env=False).json()["endpoints"][gpu_demo.ENDPOINT]["workers"]
        return bool(workers["idle"] + workers["running"] >= count)

    with stand.console.step(f"Waiting for {count} workers of RunPod's SDK"):
        stand.until(all_ready, READY_SECONDS, "the workers")
    return [program.name for program in wanted]


def without_batching(stand: Stand, ports_: Ports, options: argparse.Namespace) -> float:
    """Texts a second of one worker with a task and a job for each text."""
    from benchmarks import dispatch_load as load

    texts = load.queue("naive", options.naive)
    running = loopback(stand, ports_.runpod, 1)
    stand.start([running])
    rate = load.naive(texts)
    stand.stop(running.name)
    return rate


def report(outcomes: Mapping[int, Outcome], naive: float) -> None:
    """For a person, then for a machine."""
    figures: dict[str, Any] = {"naive_texts_per_s": round(naive, 1)}
    targets: dict[str, Any] = {}
    for count, found in outcomes.items():
        times = milliseconds(found.pasted)
        print(f"{count} worker{'s'[: count > 1]}: {found.rate:.1f} texts/s, {found.share:.1%} of {IDEAL * count:.1f}")
        print(f"  pasted meanwhile: {len(found.pasted)} texts, p50 {times['p50']} ms, p95 {times['p95']} ms")
        print(f"  processor seconds of the bulk job: {json.dumps(found.cpu)}")
        figures |= {f"texts_per_s_{count}": round(found.rate, 1), f"share_of_ideal_{count}": round(found.share, 3)}
        figures |= {f"pasted_ms_{name}_{count}": value for name, value in times.items()}
        targets |= {f"texts_per_s_{count}": TARGETS[count], f"pasted_ms_p95_{count}": PASTED_TARGET_MS}
    print(f"one text a task: {naive:.1f} texts/s with one worker")
    print(json.dumps({"bench": "dispatch", "figures": figures, "targets": targets}))


def milliseconds(seconds: Sequence[float]) -> dict[str, int | None]:
    """p50 and p95; None of too few, as where other work slows this machine down."""
    if len(seconds) < FEWEST_PASTED:
        return {"p50": None, "p95": None}
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {"p50": round(statistics.median(seconds) * 1000), "p95": round(cuts[-1] * 1000)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("--texts", 5000), ("--pasted", 50), ("--naive", 40)):
        parser.add_argument(name, type=int, default=number)
    parser.add_argument("--workers", type=int, action="append", help="only so many; again for more")
    options = parser.parse_args()
    ports_ = Ports(ports.free_port(), ports.free_port())
    with Stand(settings_of(ports_, 1)) as stand:
        outcomes = {count: with_workers(stand, ports_, count, options) for count in options.workers or TARGETS}
        naive = without_batching(stand, ports_, options)
    report(outcomes, naive)


if __name__ == "__main__":
    run(main)
