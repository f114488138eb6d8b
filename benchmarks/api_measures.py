"""What `make bench-api` measures; each function gives its figures by name. Needs django.setup()."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from django.test import RequestFactory
from django.utils import timezone
from rest_framework.request import Request

from benchmarks import processes, prose
from benchmarks.api_calls import Connection, get, post, rate
from benchmarks.api_stand import Product
from billing.authentication import ApiKeyAuthentication

CONNECTIONS = 4  # at a time: enough to keep one process busy
WARM_UP = 20
CREATES = 4  # of so many other requests, one is a create
BATCH_TEXTS = 1_000
LIST = "/api/v1/detections?limit=50"
MS = 1000

Numbers = dict[str, float]


def lists(product: Product, requests: int) -> dict[str, Any]:
    """Pages of both lists in turns, one request after the other."""
    token, places = product.caller.token, [("web", product.few), ("web-many", product.many)]
    paths = {
        "first": [(name, LIST) for name, _stored in places],
        "middle": [(name, f"{LIST}&cursor={stored.middle()}") for name, stored in places],
    }
    found = {}
    for name, of in paths.items():
        steps = [_page(Connection(product.ports[web]), get(path, token)) for web, path in of]
        found[name] = _compared(_in_turns(steps, requests))
    website = [stored.history for _name, stored in places]
    return found | {"website": _compared(_in_turns(website, requests // 4))}


def _page(connection: Connection, request: bytes) -> Callable[[], float]:
    assert len(connection.send(request).json()["items"]) == 50, "a page is not full"
    return partial(connection.timed, request)


def _compared(times: Sequence[Sequence[float]]) -> Numbers:
    few_ms, many_ms = (statistics.median(taken) * MS for taken in times)
    return {"few_ms": round(few_ms, 2), "many_ms": round(many_ms, 2), "ratio": round(many_ms / few_ms, 2)}


def keys(product: Product, requests: int) -> Numbers:
    """What the check of a key adds."""
    connection, token = Connection(product.ports["web"]), product.caller.token
    steps = [get(f"/api/bench/{name}", token) for name in ("open", "keyed")]
    times = _in_turns([partial(connection.timed, step) for step in steps], requests)
    without, with_key = (statistics.median(taken) * MS for taken in times)
    plain = RequestFactory().get("/", headers={"Authorization": f"Bearer {token}"})
    (alone,) = _in_turns([lambda: _authenticated(Request(plain))], requests)
    return {
        "key_ms_p50": round(statistics.median(alone) * MS, 3),
        "key_http_ms_p50": round(with_key - without, 3),
        "keyed_view_ms_p50": round(with_key, 2),
    }


def _authenticated(request: Request) -> float:
    began = time.perf_counter()
    assert ApiKeyAuthentication().authenticate(request) is not None
    return time.perf_counter() - began


def shares(product: Product, rounds: int, requests: int) -> Numbers:
    """Requests a second of usage and create, and their shares of the bare view's."""
    token = product.caller.token
    texts = _bodies(product, "alone")
    usage, bare = [get("/api/v1/usage", token)] * requests, [get("/small")] * requests
    kinds: dict[str, tuple[str, Callable[[], Sequence[bytes]], int]] = {
        "bare": ("bare", lambda: bare, 200),
        "usage": ("web", lambda: usage, 200),
        "create": ("web", lambda: [next(texts) for _ in range(requests // CREATES)], 202),
    }
    rates, cpu = _rounds(product, kinds, rounds)
    found = {f"{name}_per_s": round(value, 1) for name, value in rates.items()}
    found |= {f"{name}_cpu_ms": round(value * MS, 2) for name, value in cpu.items()}
    return found | {f"{name}_share": round(rates[name] / rates["bare"], 3) for name in ("usage", "create")}


def beside_worker(product: Product, rounds: int, requests: int) -> Numbers:
    """Creates while a worker scores those that came before, on the same cores."""
    texts, bare = _bodies(product, "beside"), [get("/small")] * requests
    kinds: dict[str, tuple[str, Callable[[], Sequence[bytes]], int]] = {
        "bare": ("bare", lambda: bare, 200),
        "create": ("web", lambda: [next(texts) for _ in range(requests // CREATES)], 202),
    }
    rates, _cpu = _rounds(product, kinds, rounds)
    return {
        "create_beside_worker_per_s": round(rates["create"], 1),
        "create_beside_worker_share": round(rates["create"] / rates["bare"], 3),
    }


def _rounds(
    product: Product, kinds: dict[str, tuple[str, Callable[[], Sequence[bytes]], int]], rounds: int
) -> tuple[Numbers, Numbers]:
    """By kind: requests a second, and processor seconds of its process a request. Medians; the first round warms."""
    rates: dict[str, list[float]] = {name: [] for name in kinds}
    cpu: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds + 1):
        for name, (program, some, expected) in kinds.items() if number % 2 else reversed(kinds.items()):
            requests, pid = some(), product.stand.pids()[program]
            before = processes.cpu_seconds(pid)
            found = rate(product.ports[program], requests, CONNECTIONS, expected)
            used = (processes.cpu_seconds(pid) - before) / len(requests)
            product.clear()
            product.stand.go_on()
            if number:
                rates[name].append(found)
                cpu[name].append(used)
    return (
        {name: statistics.median(taken) for name, taken in rates.items()},
        {name: statistics.median(taken) for name, taken in cpu.items()},
    )


def batches(product: Product, rounds: int) -> Numbers:
    """A thousand texts a request, new ones each time. growth: of the most memory that the web process ever held."""
    pid, token = product.stand.pids()["web"], product.caller.token
    connection = Connection(product.ports["web"])
    before, seconds, characters = processes.peak_mb(pid), [], 0
    for number in range(rounds):
        texts = list(prose.texts(BATCH_TEXTS, name=f"batch {number} {timezone.now()}"))
        characters = sum(map(len, texts))
        body = {"texts": [{"text": text} for text in texts]}
        seconds.append(connection.timed(post("/api/v1/detections/batch", token, body), 202))
        product.clear()
    taken = statistics.median(seconds)
    return {
        "batch_s": round(taken, 2),
        "batch_texts_per_s": round(BATCH_TEXTS / taken, 1),
        "batch_characters": characters,
        "batch_peak_mb": round(processes.peak_mb(pid)),
        "batch_peak_growth_mb": round(processes.peak_mb(pid) - before),
    }


def _bodies(product: Product, name: str) -> Iterator[bytes]:
    """Creates of texts that were never sent before."""
    for text in prose.texts(10**6, name=f"{name} {timezone.now()}"):
        yield post("/api/v1/detections", product.caller.token, {"text": text})


def _in_turns(steps: Sequence[Callable[[], float]], times: int) -> list[list[float]]:
    """Seconds of each step, `times` of each, after a few that warm."""
    found: list[list[float]] = [[] for _ in steps]
    for number in range(times + WARM_UP):
        for step, taken in zip(steps, found, strict=True):
            seconds = step()
            if number >= WARM_UP:
                taken.append(seconds)
    return found
