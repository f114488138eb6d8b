"""docs/api-changelog.md, and the rule that the contract doesn't change without an entry there.

docs/api-contract.txt holds the contract line by line, so that a change is read as a difference: operations, parameters,
fields with their kinds and limits, answers, webhooks, error codes; no words for people. Each entry of the changelog
ends with the digest of the lines that it led to (its stamp). A test holds the newest stamp against the running
contract; `manage.py api_contract` writes both, once the changelog has an entry without a stamp.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from inkcloak import docs_schemas, openapi, problem_codes
from inkcloak.docs_schemas import Schema

CHANGELOG = settings.BASE_DIR / "docs" / "api-changelog.md"
CONTRACT = settings.BASE_DIR / "docs" / "api-contract.txt"
LEVELS = 8  # of fields within fields: deeper than any
LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
STAMP_CHARACTERS = 16
BREAKING = "**Breaking**"  # how a change begins that needs one of a client
HEADING, STAMP = re.compile(r"^## (.+)$", re.MULTILINE), re.compile(r"^Contract: `([0-9a-f]+)`$", re.MULTILINE)
CHANGE = re.compile(r"^- (.+(?:\n  .+)*)$", re.MULTILINE)


class Undocumented(Exception):
    """The changelog lacks what the contract's change needs; the message says what."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What changed at a time. title: a date and a few words.  stamp: of the contract it led to, or "" until then."""

    title: str
    changes: tuple[str, ...]
    stamp: str

    @property
    def is_breaking(self) -> bool:
        return any(change.startswith(BREAKING) for change in self.changes)


def entries(text: str | None = None) -> list[Entry]:
    """Newest first. text: of the changelog, unless it is the file's."""
    parts = HEADING.split(CHANGELOG.read_text(encoding="utf-8") if text is None else text)[1:]
    return [_entry(title, body) for title, body in zip(parts[::2], parts[1::2], strict=True)]


def _entry(title: str, body: str) -> Entry:
    stamp = STAMP.search(body)
    changes = tuple(" ".join(change.split()) for change in CHANGE.findall(body))
    return Entry(title.strip(), changes, stamp[1] if stamp else "")


def stamped(text: str, before: Sequence[str], now: Sequence[str], *, compatible: bool = False) -> str:
    """The changelog with the stamp of the contract `now` under its newest entry; `before` is what it was.

    compatible: no client misses what is gone: a limit was raised, say.
    Raises Undocumented without such an entry, or where something is gone and no change of it is called breaking.
    """
    newest, stamp = entries(text)[0], stamp_of(now)
    if newest.stamp == stamp:
        return text
    if newest.stamp:
        raise Undocumented(f"Say on top of {CHANGELOG.name} what has changed, in an entry without a stamp.")
    if not newest.changes:
        raise Undocumented(f"The newest entry of {CHANGELOG.name} says nothing.")
    gone = sorted({*before} - {*now})
    if gone and not (compatible or newest.is_breaking):
        lines = "\n  ".join(gone)
        raise Undocumented(f"A client may miss these: begin a change of the newest entry with {BREAKING}\n  {lines}")
    second = [found.start() for found in HEADING.finditer(text)][1:2] or [len(text)]
    above, below = text[: second[0]].rstrip(), text[second[0] :]
    return f"{above}\n\nContract: `{stamp}`\n" + (f"\n{below}" if below else "")


def stamp_of(lines: Sequence[str]) -> str:
    """A digest of the contract's lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:STAMP_CHARACTERS]


def kept_lines() -> list[str]:
    """Of docs/api-contract.txt."""
    return CONTRACT.read_text(encoding="utf-8").splitlines() if CONTRACT.exists() else []


# --- The contract as lines ----------------------------------------------------------------------------------


def lines(contract: Schema | None = None) -> list[str]:
    """One line for each thing that a client may rest on, sorted."""
    said = openapi.contract() if contract is None else contract
    found = [f"error {code}: {status}" for code, (status, _meaning) in problem_codes.CODES.items()]
    for path, method, operation in docs_schemas.operations(said, openapi.METHODS):
        found += _of_operation(said, f"{method.upper()} {path}", operation)
    for name, item in said.get("webhooks", {}).items():
        found += _of_body(said, f"webhook {name}", item["post"].get("requestBody", {}))
    return sorted(dict.fromkeys(found))


def _of_operation(contract: Schema, name: str, operation: Schema) -> Iterator[str]:
    yield f"{name} is {operation['operationId']}"
    for said in operation.get("parameters", []):
        yield from _of_value(
            contract, f"{name} {said['in']} {said['name']}", said["schema"], said.get("required", False)
        )
    yield from _of_body(contract, f"{name} body", operation.get("requestBody", {}))
    for status, answer in operation["responses"].items():
        yield f"{name} {status}"
        if status < "400":
            yield from _of_body(contract, f"{name} {status}", answer)


def _of_body(contract: Schema, name: str, said: Schema) -> Iterator[str]:
    media, schema = docs_schemas.content_of(said)
    if media:
        yield f"{name} is {media}"
    for row in docs_schemas.rows(contract, schema, LEVELS):
        yield from _of_value(contract, f"{name} {row.path}", row.schema, row.required)


def _of_value(contract: Schema, name: str, schema: Schema, required: bool) -> Iterator[str]:
    """Each value of an enumeration has a line of its own: one more is an addition, and takes nothing away."""
    whole = docs_schemas.resolve(contract, schema)
    listed = docs_schemas.is_list(whole)
    inner = docs_schemas.resolve(contract, whole["items"]) if listed else whole
    kind = "list of " * listed + "enumeration" if "enum" in inner else docs_schemas.kind(contract, whole)
    limits = [f"{limit} {whole[limit]}" for limit in LIMITS if limit in whole]
    yield f"{name}: {', '.join([kind, *limits, *(['required'] if required else [])])}"
    for value in inner.get("enum", ()):
        yield f"{name} may be {json.dumps(value)}"
