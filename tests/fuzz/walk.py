"""Each operation once with ids of things that exist: first what makes them, then what reads them, last what deletes.

An operation that the contract gains is walked without a word here, unless it needs a body: then it needs its line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

import requests
import schemathesis
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.schemas import APIOperation, BaseSchema

from tests import samples
from tests.fuzz.callers import Caller
from tests.fuzz.contract import NEVER

# Operations that make something, in the order in which one needs the other -> the name of its id in addresses.
MAKERS = {
    "create_detection": "detection_id",
    "create_batch": "batch_id",
    "create_from_files": "",
    "create_share": "share_id",
    "create_webhook": "webhook_id",
    "test_webhook": "delivery_id",
}
PATIENT = {"Prefer": "wait=60"}


def bodies(port: int) -> dict[str, Any]:
    """What to send where a body is needed. port: of a receiver on loopback."""
    return {
        "create_detection": {"text": samples.HUMAN, "metadata": {"name": "fuzz"}},
        "create_batch": {"texts": [{"text": samples.AI}, {"text": samples.SHORT}, {"text": ""}]},
        "create_from_files": {"files": [samples.SPANISH.encode()], "store": "true"},
        "create_webhook": {"url": f"https://127.0.0.1:{port}/hooks", "events": ["detection.completed"]},
        "change_webhook": {"description": "walked"},
        "rotate_webhook_secret": {"overlap_hours": 1},
    }


@dataclass
class Walk:
    """Where a caller has been. statuses: of each operation that answered as it should.  ids: for addresses."""

    statuses: dict[str, int] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


def through(schema: BaseSchema, caller: Caller, port: int, *, making_only: bool = False) -> Walk:
    """All operations, held against the contract; each must succeed, or be named in NEVER and be refused.

    making_only: what is made stays, for others to use its ids.
    """
    walked = Walk()
    for operation in in_order(schema):
        if making_only and name_of(operation) not in MAKERS:
            continue
        _visit(operation, caller, walked, bodies(port))
    return walked


def in_order(schema: BaseSchema) -> list[APIOperation]:
    """Makers, then what changes nothing that another one needs, then deletions: the longest address first."""
    makers = list(MAKERS)

    def place(operation: APIOperation) -> tuple[int, int, str]:
        name = name_of(operation)
        if name in MAKERS:
            return 0, makers.index(name), ""
        return (2, -len(operation.path), name) if operation.method.upper() == "DELETE" else (1, 0, operation.path)

    return sorted(operations_of(schema), key=place)


def operations_of(schema: BaseSchema) -> Iterator[APIOperation]:
    for found in schema.get_all_operations():
        yield found.ok()


def name_of(operation: APIOperation) -> str:
    """Its operationId."""
    return str(operation.definition.raw["operationId"])


def never(caller: Caller, name: str) -> bool:
    """Whether this caller is always refused there."""
    return any(fnmatch(name, pattern) for pattern in NEVER[caller.name])


def _visit(operation: APIOperation, caller: Caller, walked: Walk, known: Mapping[str, Any]) -> None:
    name = name_of(operation)
    named = {one["name"] for one in operation.definition.raw.get("parameters", ()) if one["in"] == "path"}
    missing = named - walked.ids.keys()
    if missing and not never(caller, name):
        walked.findings.append(f"{name}: the walk has no {', '.join(sorted(missing))}; MAKERS names who makes one")
        return
    case = operation.Case(
        path_parameters={one: walked.ids.get(one, "00000000-0000-4000-8000-000000000000") for one in named},
        headers=dict(PATIENT),
        **({"body": known[name]} if name in known else {}),
        **({"media_type": next(iter(operation.definition.raw["requestBody"]["content"]))} if name in known else {}),
    )
    key = {"Authorization": f"Bearer {caller.token}"} if caller.token else {}
    try:
        answer = case.call(headers=key)
        case.validate_response(answer, headers=key)
    except FailureGroup as group:
        walked.findings += [finding(caller, name, failure) for failure in group.exceptions]
        return
    except requests.RequestException as error:
        walked.findings.append(f"{caller.name}: {name}: no answer ({type(error).__name__})")
        return
    _note(name, answer, caller, walked)


def _note(name: str, answer: schemathesis.Response, caller: Caller, walked: Walk) -> None:
    good = answer.status_code < 300
    if good == never(caller, name):
        said = "succeeded, which NEVER denies" if good else answer.content.decode(errors="replace")[:500]
        walked.findings.append(f"{caller.name}: {name}: {answer.status_code} {said}")
        return
    walked.statuses[name] = answer.status_code
    if good and MAKERS.get(name):
        walked.ids[MAKERS[name]] = str(answer.json()["id"])


def finding(caller: Caller, name: str, failure: Failure) -> str:
    """One line and what schemathesis says."""
    return f"{caller.name}: {name}: {failure.title}\n    " + "\n    ".join(failure.message.splitlines())
