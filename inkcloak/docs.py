"""The API's pages: quickstart, every operation with fields, answers and examples, every error, what has changed.

Operations are read out of the contract (docs_schemas, docs_examples), changes out of docs/api-changelog.md
(docs_changelog). Server-rendered, so that they need no foreign script and no script at all.
"""

import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from inkcloak import docs_changelog, docs_examples, docs_schemas, openapi, problem_codes
from inkcloak.docs_quickstart import QUICKSTART_TEXT

BACKTICKS, BOLD = re.compile(r"`([^`]+)`"), re.compile(r"\*\*([^*]+)\*\*")
MAX_LEVELS = 3  # of fields within fields
# What a reader comes for first; anything else follows by its address.
ORDER = tuple(tag["name"] for tag in openapi.TAGS)


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a body: `segments[].start`. place: query, path or header."""

    name: str
    kind: str
    required: bool
    description: SafeString
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """status: as three digits.  fields: none for a problem."""

    status: str
    phrase: str
    description: SafeString
    fields: list[Field]

    @property
    def is_error(self) -> bool:
        return self.status >= "400"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one address."""

    id: str
    method: str
    path: str
    summary: str
    description: SafeString
    is_open: bool
    parameters: list[Field]
    body: list[Field]
    answers: list[Answer]
    curl: str
    python: str


@dataclass(slots=True)
class Group:
    """Operations about one thing."""

    name: str
    operations: list[Operation] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").replace("-", " ").capitalize()


@require_safe
def quickstart(request: HttpRequest) -> HttpResponse:
    """`/api/docs/quickstart/`: its commands are run as they stand by tests/flows/test_quickstart.py."""
    text = QUICKSTART_TEXT
    context = {"server": settings.PUBLIC_URL, "text": text, "line": " ".join(text.split())}
    return render(request, "api/quickstart.html", context)


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """`/api/docs/`"""
    contract = openapi.contract()
    context = {
        "groups": groups(contract),
        "file": docs_examples.FILE,
        "variables": docs_examples.variables(contract),
    }
    return render(request, "api/reference.html", context)


@require_safe
def changelog(request: HttpRequest) -> HttpResponse:
    """`/api/docs/changelog/`"""
    entries = [
        {"title": entry.title, "stamp": entry.stamp, "changes": [marked(change) for change in entry.changes]}
        for entry in docs_changelog.entries()
    ]
    return render(request, "api/changelog.html", {"entries": entries})


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    """`/api/docs/errors`: where `type` of every problem leads to."""
    rows = [
        {"code": code, "status": status, "meaning": meaning}
        for code, (status, meaning) in sorted(problem_codes.CODES.items())
    ]
    return render(request, "api/errors.html", {"rows": rows})


def groups(contract: dict[str, Any]) -> list[Group]:
    """The operations of a contract by what they are about."""
    found: dict[str, Group] = {}
    for path, method, said in docs_schemas.operations(contract, openapi.METHODS):
        tag = (said.get("tags") or ["other"])[0]
        found.setdefault(tag, Group(tag)).operations.append(_operation(contract, path, method, said))
    return sorted(found.values(), key=lambda group: ORDER.index(group.name) if group.name in ORDER else len(ORDER))


def _operation(contract: dict[str, Any], path: str, method: str, said: dict[str, Any]) -> Operation:
    return Operation(
        id=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said.get("summary", said["operationId"]),
        description=marked(said.get("description", "")),
        is_open=not docs_examples.needs_key(said),
        parameters=[
            Field(
                parameter["name"],
                docs_schemas.kind(contract, parameter.get("schema", {})),
                parameter.get("required", False),
                marked(parameter.get("description", "")),
                parameter["in"],
            )
            for parameter in said.get("parameters", [])
        ],
        body=_fields(contract, said.get("requestBody", {})),
        answers=[_answer(contract, status, answer) for status, answer in said["responses"].items()],
        curl=docs_examples.curl(path, method, said),
        python=docs_examples.python(path, method, said),
    )


def _answer(contract: dict[str, Any], status: str, said: dict[str, Any]) -> Answer:
    fields = [] if status >= "400" else _fields(contract, said)
    return Answer(status, HTTPStatus(int(status)).phrase, marked(said.get("description", "")), fields)


def _fields(contract: dict[str, Any], said: dict[str, Any]) -> list[Field]:
    """Of a body or an answer."""
    _media, schema = docs_schemas.content_of(said)
    return [
        Field(row.path, row.kind, row.required, marked(row.schema.get("description", "")))
        for row in docs_schemas.rows(contract, schema, MAX_LEVELS)
    ]


def marked(text: str) -> SafeString:
    """Escaped, with what stands between backticks as code, between double stars bold."""
    code = BACKTICKS.sub(r"<code>\1</code>", escape(text))
    return mark_safe(BOLD.sub(r"<b>\1</b>", code))  # noqa: S308 - escaped on the spot
