"""schemathesis' own phases (examples, coverage of each bound, made-up data, sequences), on ids that exist.

They end with their count of examples; where that takes longer than the time given, they are told to stop.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine import Status, events, from_schema
from schemathesis.engine.recorder import CheckFailureInfo, ScenarioRecorder
from schemathesis.schemas import BaseSchema

from tests.fuzz.callers import Caller
from tests.fuzz.contract import HEADERS, excused
from tests.fuzz.walk import finding, name_of

REAL_IN = 3  # so many in REAL_IN + 1 requests get ids that exist
KEY = "Idempotency-Key"
KEY_DIGITS = 6


@dataclass
class Met:
    """What happened. statuses: how often each was answered, by operation.  requests: altogether."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)  # by what they are, so that each is told once
    stopped: bool = False

    @property
    def requests(self) -> int:
        return sum(sum(counted.values()) for counted in self.statuses.values())


def run(schema: BaseSchema, caller: Caller, *, seconds: float) -> Met:
    """All phases. seconds: after which no new scenario begins."""
    met, deadline = Met(), time.monotonic() + seconds
    stream = from_schema(schema).execute()
    for event in stream:
        if isinstance(event, events.ScenarioFinished):
            _take(event.recorder, caller, met)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            error = event.value if isinstance(event, events.NonFatalError) else event.exception
            met.findings.setdefault(
                f"{type(error).__name__} {error}", f"{caller.name}: {type(error).__name__}: {error}"
            )
        if time.monotonic() > deadline and not met.stopped:
            met.stopped = True
            stream.stop()
    return met


def _take(recorder: ScenarioRecorder, caller: Caller, met: Met) -> None:
    for case_id, interaction in recorder.interactions.items():
        if interaction.response is not None and case_id in recorder.cases:
            name, status = name_of(recorder.cases[case_id].value.operation), interaction.response.status_code
            met.statuses.setdefault(name, Counter())[status] += 1
            if missing := set(HEADERS) - {header.lower() for header in interaction.response.headers}:
                told = f"{caller.name}: {name}: {status} without {', '.join(sorted(missing))}"
                met.findings.setdefault(f"{name} {status} headers", told)
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.status == Status.FAILURE and check.failure_info is not None and case_id in recorder.cases:
                _note(check.name, check.failure_info, recorder.cases[case_id].value, caller, met)


def _note(check: str, failed: CheckFailureInfo, case: schemathesis.Case, caller: Caller, met: Met) -> None:
    name, phase, failure = name_of(case.operation), case.meta.phase.name.value if case.meta else "?", failed.failure
    if not excused(caller, check, name, case.body):
        told = f"{finding(caller, name, failure)}\n    in {phase}: {failed.code_sample[:2000]}"
        met.findings.setdefault(f"{name} {check} {failure.title} {_heading(failure.message)}", told)


def _heading(message: str) -> str:
    return message.partition("\n")[0][:80]


@contextmanager
def real_ids(ids: Mapping[str, str]) -> Iterator[None]:
    """Inside, most addresses whose made-up ids are well formed get those of the walk; what deletes never does.

    And most made-up Idempotency-Keys are new, or nearly every request would only hear that its key was used before.
    """
    turn = 0

    @schemathesis.hook
    def before_call(_context: schemathesis.HookContext, case: schemathesis.Case, _kwargs: dict[str, Any]) -> None:
        nonlocal turn
        meta = case.meta
        if meta is None or meta.phase.name.value == "stateful":
            return
        turn += 1
        if not turn % (REAL_IN + 1):
            return
        named, deletes = case.path_parameters, case.method.upper() == "DELETE"
        if named and named.keys() <= ids.keys() and not deletes and not meta.is_negative_at(ParameterLocation.PATH):
            case.path_parameters = {name: ids[name] for name in named}
        key = case.headers.get(KEY) if case.headers else None
        if isinstance(key, str) and not meta.is_negative_at(ParameterLocation.HEADER):
            case.headers[KEY] = f"{turn:0{KEY_DIGITS}}{key[KEY_DIGITS:]}"

    try:
        yield
    finally:
        schemathesis.hooks.unregister(before_call)
