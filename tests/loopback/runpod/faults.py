"""What shall go wrong: a list of faults, each with how often, until when, and whom it meets.

A fault is one line of JSON to the control door, as in
    {"fault": "rate_limited", "times": 2, "where": {"op": "run"}, "retry_after": 3}
`where` narrows it down: op, endpoint, worker, job, gpu, cloud, or input_contains. `times` null = until cleared;
`seconds` ends it by the clock. All else are the fault's own values.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ONCE = 1
ALWAYS = None

# kind -> (how often unless told otherwise, what happens and which values it takes)
KINDS: dict[str, tuple[int | None, str]] = {
    "unauthorized": (ONCE, "401"),
    "forbidden": (ONCE, "403"),
    "not_found": (ONCE, "404, as for a wrong endpoint or an expired job"),
    "rate_limited": (ONCE, "429; retry_after: seconds"),
    "server_error": (ONCE, "500; after: true = the request was carried out all the same"),
    "bad_gateway": (ONCE, "502 with an HTML page; after: true likewise"),
    "slow_answer": (ONCE, "carried out, answered after `delay` real seconds"),
    "dropped_answer": (ONCE, "carried out, then the connection is cut"),
    "early_404": (ONCE, "/status does not know the job; forget: true = it is really gone"),
    "status_named": (ALWAYS, "a running job's status reads `status`: RUNNING or something unknown"),
    "progress_after_done": (ONCE, "after the end was seen, the job reads IN_PROGRESS again, once"),
    "output_replaced": (ONCE, "a finished job's output is `output`, or the bare JSON text `raw` (as NaN is none)"),
    "done_refused": (ONCE, "job-done answers `status` (400, 500 …) and records nothing"),
    "done_dropped": (ONCE, "job-done answers 200 and records nothing"),
    "lost_take": (ONCE, "a job is given to a worker that never receives it"),
    "take_refused": (ONCE, "job-take answers `status`"),
    "run_twice": (ONCE, "a job that is handed over stays in the queue for another worker"),
    "worker_crash": (ONCE, "the worker is killed `delay` real seconds after it took a job"),
    "worker_hang": (ONCE, "the worker stands still once it took a job; its heartbeat goes on"),
    "throttled": (ALWAYS, "no GPU for a new worker"),
    "unhealthy": (ALWAYS, "each new worker ends before it is ready"),
    "cold_start": (ALWAYS, "new workers need `seconds_to_start` until ready and `pull_seconds` before that, unbilled"),
    "mixed_versions": (ONCE, "the next new worker gets `env` besides the endpoint's own"),
    "stop_signal_lost": (ONCE, "a cancelled or timed out job is not stopped on its worker"),
    "worker_stop_ignored": (ONCE, "an idle worker is not stopped (and costs)"),
    "webhook_missing": (ONCE, "no delivery"),
    "webhook_duplicate": (ONCE, "delivered twice"),
    "webhook_slow": (ONCE, "delivered `seconds_late` later, by the clock"),
    "max_workers_zero": (ONCE, "the endpoint's max workers is set to 0, as after 7 days without requests"),
    "balance": (ONCE, "the balance becomes `usd`"),
    "billing_lag": (ALWAYS, "billing shows nothing of the last `lag_seconds`"),
    "pod_created_500": (ONCE, "a pod is created, the answer is 500"),
    "no_capacity": (ALWAYS, "creating or starting a pod: 400, no capacity; the catalogue says NONE"),
    "stop_ignored": (ONCE, "a pod's stop, terminate or delete is acknowledged and does nothing"),
    "no_public_port": (ALWAYS, "pods run without public port and address"),
}
AT_ONCE = frozenset({"max_workers_zero", "balance"})  # happen when told, wait for nothing
OF_A_REQUEST = ("unauthorized", "forbidden", "not_found", "rate_limited", "server_error", "bad_gateway",
                "slow_answer", "dropped_answer")  # fmt: skip
WHERE = frozenset({"op", "endpoint", "worker", "job", "gpu", "cloud", "input_contains"})


@dataclass
class Fault:
    """One entry; `left` None = without end, `until` a moment of the clock."""

    id: int
    kind: str
    left: int | None
    until: float | None
    where: Mapping[str, str]
    values: Mapping[str, Any]
    hits: int = field(default=0)

    def meets(self, context: Mapping[str, Any]) -> bool:
        """Whether all that `where` asks for is so."""
        return all(_fits(name, wanted, context) for name, wanted in self.where.items())

    def number(self, name: str, otherwise: float) -> float:
        """A value as number."""
        return float(self.values.get(name, otherwise))

    def to_json(self) -> dict[str, Any]:
        """For the control door."""
        return {"id": self.id, "fault": self.kind, "left": self.left, "hits": self.hits, "where": dict(self.where)}


def _fits(name: str, wanted: str, context: Mapping[str, Any]) -> bool:
    if name == "input_contains":
        return "input" in context and wanted in json.dumps(context["input"], ensure_ascii=False)
    return bool(context.get(name) == wanted)


class Faults:
    """All faults of the account, the oldest first."""

    def __init__(self) -> None:
        self._all: list[Fault] = []
        self._made = 0

    def add(self, data: Mapping[str, Any], now: float) -> Fault:
        """From the control door's JSON; raises ValueError when no such fault or condition exists."""
        kind = str(data.get("fault"))
        if kind not in KINDS:
            raise ValueError(f"no fault is called {kind!r}; there are {', '.join(KINDS)}")
        where = {str(name): str(value) for name, value in dict(data.get("where") or {}).items()}
        if strange := set(where) - WHERE:
            raise ValueError(f"a fault cannot ask for {', '.join(sorted(strange))}")
        self._made += 1
        seconds = data.get("seconds")
        until = None if seconds is None else now + float(seconds)
        values = {name: value for name, value in data.items() if name not in ("fault", "where", "times", "seconds")}
        fault = Fault(self._made, kind, data.get("times", KINDS[kind][0]), until, where, values)
        self._all.append(fault)
        return fault

    def take(self, kind: str, now: float, **context: Any) -> Fault | None:
        """The first fault of this kind that meets this, used up by one; None mostly."""
        return self.first((kind,), now, **context)

    def first(self, kinds: Iterable[str], now: float, **context: Any) -> Fault | None:
        """Likewise for several kinds."""
        self._all = [fault for fault in self._all if fault.left != 0 and (fault.until is None or now < fault.until)]
        for fault in self._all:
            if fault.kind in kinds and fault.meets(context):
                fault.hits += 1
                fault.left = None if fault.left is None else fault.left - 1
                return fault
        return None

    def clear(self, number: int | None = None) -> None:
        """Forget one, or all."""
        self._all = [] if number is None else [fault for fault in self._all if fault.id != number]

    def to_json(self) -> list[dict[str, Any]]:
        """All that are in force."""
        return [fault.to_json() for fault in self._all if fault.left != 0]
