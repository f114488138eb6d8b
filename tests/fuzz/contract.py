"""The contract as schemathesis reads it: what is checked of each answer, and what is asked of nobody but loopback.

Exceptions stand here, each with its reason; whatever else differs from the contract is a finding.
"""

import ipaddress
import socket
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import schemathesis
from schemathesis.schemas import BaseSchema

from tests.fuzz.callers import LIVE, NOBODY, TEST, Caller

SCHEMA = "/api/schema/"
SEED = 20261130
REQUEST_SECONDS = 30
STATEFUL_STEPS = 6
# The contract's own examples; each bound of each field, just inside and just outside; made-up data; sequences.
PHASES = ("examples", "coverage", "fuzzing", "stateful")
LONGEST_MADE_UP = 4_000  # characters: what hypothesis' buffer holds
# On every answer, whatever it says.
HEADERS = (
    "ratelimit",
    "ratelimit-policy",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
    "cache-control",
)
# What data that fits the contract may get: a good answer; 401, 403 by its key; nothing there; a moment too early; an
# Idempotency-Key of another request.
ACCEPTED = ["2xx", "401", "403", "404", "409", "422"]
# Data that fits the contract may still be refused by what no schema can say.
RULES_BEYOND_THE_SCHEMA: dict[str, str] = {
    "create_detection": "no such model version; a limit that was not measured; a test key's text that names an error",
    "create_from_files": "no such model version; metadata in a form is a string of JSON",
    "create_share": "so many links of a check work at once",
    "create_webhook": "names must be known to name servers; ten to an account",
    "change_webhook": "names must be known to name servers",
    "test_webhook": "a disabled webhook is sent nothing",
    "resend_webhook_delivery": "a disabled webhook is sent nothing",
}
# Operations that a caller never reaches with success.
NEVER: dict[str, dict[str, str]] = {
    LIVE: {},
    TEST: {"*webhook*": "a test key makes no webhook: 403 wrong_environment"},
    NOBODY: {"*": "everything needs a key: 401"},
}
MAX_BATCH_TEXTS = 1_000


def excused(caller: Caller, check: str, name: str, body: Any) -> bool:
    """What is no fault of the API, and what schemathesis can't be told beforehand."""
    if caller.name == TEST and check == "use_after_free":
        return True  # a test key's checks are all made up: deleting one takes none away
    return name == "create_batch" and check == "negative_data_rejection" and _texts_fail_alone(body)


def _texts_fail_alone(body: Any) -> bool:
    """Around its texts the batch is as it should be: whatever is wrong with one of them is said in its place."""
    if not isinstance(body, Mapping) or not body.keys() <= {"texts", "dry_run"}:
        return False
    texts, dry_run = body.get("texts"), body.get("dry_run")
    return isinstance(texts, list) and 1 <= len(texts) <= MAX_BATCH_TEXTS and dry_run in (None, True, False)


def refuse_all_but_loopback(url: str) -> None:
    """Raises ValueError: fuzzing is for a product of one's own, started for it."""
    host = urlsplit(url).hostname or ""
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError(f"{url} is not on loopback; only a product on this machine is fuzzed")


def schema_of(base_url: str, caller: Caller, *, examples: int, phases: Collection[str] = PHASES) -> BaseSchema:
    """The running product's contract, with this caller's credentials. examples: for each operation and phase."""
    refuse_all_but_loopback(base_url)
    contract = read(base_url)
    # Only what the operations themselves gave is used again: the walk's ids are put in by `real_ids`.
    apart = {"extra-data-sources": {"responses": False}}
    settings: dict[str, Any] = {
        "base-url": base_url,
        "seed": SEED,
        "cache": {"enabled": False},  # what one run learned must not change the next
        "workers": 1,
        "request-timeout": REQUEST_SECONDS,
        "max-redirects": 0,
        "continue-on-failure": True,
        "suppress-health-check": ["all"],
        "output": {"sanitization": {"enabled": False}},  # keys of a product that ends with the run
        "generation": {
            "max-examples": examples,
            "deterministic": True,
            "database": "none",
            "no-shrink": True,
        },
        "checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}},
        "phases": {
            "examples": {"enabled": "examples" in phases, **apart},
            "coverage": {"enabled": "coverage" in phases, **apart},
            "fuzzing": {"enabled": "fuzzing" in phases, **apart},
            "stateful": {"enabled": "stateful" in phases, "max-steps": STATEFUL_STEPS},
        },
        "operations": [
            {
                "include-operation-id": name,
                "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "400"]}},
            }
            for name in (*RULES_BEYOND_THE_SCHEMA, *lists(contract))
        ],
    }
    if caller.token:
        settings["auth"] = {"openapi": {"key": {"bearer": caller.token}}}
    return schemathesis.openapi.from_dict(contract, config=schemathesis.Config.from_dict(settings))


def lists(contract: Mapping[str, Any]) -> list[str]:
    """Operations that take a cursor: which one that is, only a page can say."""
    return [
        operation["operationId"]
        for item in contract["paths"].values()
        for operation in item.values()
        if any(parameter["name"] == "cursor" for parameter in operation.get("parameters", ()))
    ]


def read(base_url: str) -> dict[str, Any]:
    """The contract; but where a text may be long, its pattern is left out, or no text is ever made for it."""
    answer = httpx.get(f"{base_url}{SCHEMA}", timeout=REQUEST_SECONDS, trust_env=False).raise_for_status()
    contract: dict[str, Any] = answer.json()
    for schema in contract["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            if field.get("maxLength", 0) > LONGEST_MADE_UP:
                field.pop("pattern", None)
    return contract


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of loopback that is ours and refuses connections: webhooks go there, and nowhere else."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextmanager
def only_loopback(port: int) -> Iterator[None]:
    """Inside, no webhook is asked for that would have the product send to a made-up address."""

    @schemathesis.hook
    def before_call(_context: schemathesis.HookContext, case: schemathesis.Case, _kwargs: dict[str, Any]) -> None:
        if isinstance(case.body, Mapping) and isinstance(url := case.body.get("url"), str):
            case.body = {**case.body, "url": at_loopback(url, port)}

    try:
        yield
    finally:
        schemathesis.hooks.unregister(before_call)


def at_loopback(url: str, port: int) -> str:
    """The same address with our host in the place of the one named; what names none stays as it is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return url
    return parts._replace(netloc=f"127.0.0.1:{port}").geturl() if host else url
