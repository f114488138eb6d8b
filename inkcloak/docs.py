"""The API's pages: every operation with its fields, answers and examples, read out of the contract; and every error.

Server-rendered, so that they need no foreign script and no script at all.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from inkcloak import openapi, problem_codes

# Long enough for a verdict.
SAMPLE_TEXT = (
    "The bakery on our corner closes at two, and by one there is rarely any bread left. My neighbour has a theory that "
    "they bake less on purpose, so that people come early and talk to each other in the queue. I asked the baker once. "
    "She laughed, wiped the flour from her glasses, and said that the oven is small and that she likes her afternoons."
)
BACKTICKS = re.compile(r"`([^`]+)`")
SAMPLES = {"text": SAMPLE_TEXT, "name": "laptop", "url": "https://example.com/hook"}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MAX_DEPTH = 3
# What a reader comes for first; anything else follows by its address.
ORDER = ("detections", "batches", "usage", "models", "benchmarks", "webhooks")


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
def reference(request: HttpRequest) -> HttpResponse:
    """`/api/docs/`"""
    context = {"groups": groups(openapi.contract()), "server": settings.PUBLIC_URL, "sample": SAMPLE_TEXT}
    return render(request, "api/reference.html", context)


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
    for path, item in contract["paths"].items():
        for method in openapi.METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["other"])[0]
                operation = _operation(contract, path, method, item[method])
                found.setdefault(tag, Group(tag)).operations.append(operation)
    return sorted(found.values(), key=lambda group: ORDER.index(group.name) if group.name in ORDER else len(ORDER))


def _operation(contract: dict[str, Any], path: str, method: str, said: dict[str, Any]) -> Operation:
    body = _schema_of(said.get("requestBody", {}))
    return Operation(
        id=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said.get("summary", said["operationId"]),
        description=marked(said.get("description", "")),
        is_open={} in said.get("security", [{}]),
        parameters=[
            Field(
                parameter["name"],
                _kind(contract, parameter.get("schema", {})),
                parameter.get("required", False),
                marked(parameter.get("description", "")),
                parameter["in"],
            )
            for parameter in said.get("parameters", [])
        ],
        body=list(_fields(contract, body)),
        answers=[_answer(contract, status, answer) for status, answer in said["responses"].items()],
        curl=_curl(contract, path, method, said),
        python=_python(contract, path, method, said),
    )


def _answer(contract: dict[str, Any], status: str, said: dict[str, Any]) -> Answer:
    schema = _schema_of(said)
    phrase = HTTPStatus(int(status)).phrase
    fields = [] if status >= "400" else list(_fields(contract, schema))
    return Answer(status, phrase, marked(said.get("description", "")), fields)


def marked(text: str) -> SafeString:
    """Escaped, with what stands between backticks as code."""
    return mark_safe(BACKTICKS.sub(r"<code>\1</code>", escape(text)))  # noqa: S308 - escaped on the spot


# --- Schemas as rows ----------------------------------------------------------------------------------------


def _resolve(contract: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in the place of a reference to it; the first alternative that is not null."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _resolve(contract, contract["components"]["schemas"][name]) | _without(schema, "$ref")
    for several in ("allOf", "oneOf", "anyOf"):
        kinds = [one for one in schema.get(several, []) if one.get("type") != "null"]
        if kinds:
            return _resolve(contract, kinds[0]) | _without(schema, several)
    return schema


def _without(schema: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}


def _fields(contract: dict[str, Any], schema: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[Field]:
    whole = _resolve(contract, schema)
    if _is_list(whole):
        yield from _fields(contract, whole["items"], f"{prefix}[]" if prefix else "", depth)
        return
    for name, inner in whole.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        resolved = _resolve(contract, inner)
        required = name in whole.get("required", ())
        yield Field(path, _kind(contract, inner), required, marked(resolved.get("description", "")))
        if depth < MAX_DEPTH - 1:
            yield from _fields(contract, inner, path, depth + 1)


def _is_list(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return "items" in schema and (kind == "array" or (isinstance(kind, list) and "array" in kind))


def _kind(contract: dict[str, Any], schema: dict[str, Any]) -> str:
    """For people: `"human" | "ai" | null`, `list of object`, `string (uuid)`."""
    whole = _resolve(contract, schema)
    if "enum" in whole:
        return " | ".join(json.dumps(value) for value in whole["enum"])
    kinds = whole.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if _is_list(whole):
        names[names.index("array")] = f"list of {_kind(contract, whole['items'])}"
    shown = " | ".join(names)
    return f"{shown} ({whole['format']})" if whole.get("format") not in (None, "double") else shown


# --- Examples -----------------------------------------------------------------------------------------------


def _schema_of(said: dict[str, Any]) -> dict[str, Any]:
    """Of a body or an answer, whatever its media type."""
    contents: list[dict[str, Any]] = list(said.get("content", {}).values())
    schema: dict[str, Any] = contents[0].get("schema", {}) if contents else {}
    return schema


def example_body(contract: dict[str, Any], said: dict[str, Any]) -> Any:
    """The smallest body that makes sense: what the contract gives as its example, or its required fields."""
    content = said.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    if given := content.get("examples"):
        return next(iter(given.values()))["value"]
    return _example(contract, content["schema"])


def _example(contract: dict[str, Any], schema: dict[str, Any], name: str = "") -> Any:
    whole = _resolve(contract, schema)
    if "example" in whole:
        return whole["example"]
    if "enum" in whole:
        return whole["enum"][0]
    if _is_list(whole):
        return [_example(contract, whole["items"], name)]
    kind = whole.get("type")
    if kind == "object":
        properties = whole.get("properties", {})
        return {key: _example(contract, properties[key], key) for key in whole.get("required", ())}
    return {"integer": 1, "number": 0.01, "boolean": False}.get(str(kind), SAMPLES.get(name, "example"))


def _curl(contract: dict[str, Any], path: str, method: str, said: dict[str, Any]) -> str:
    address = f'"{settings.PUBLIC_URL}{PLACEHOLDER.sub(lambda found: "$" + found[1].upper(), path)}"'
    lines = [f"curl {address}" if method == "get" else f"curl -X {method.upper()} {address}"]
    if {} not in said.get("security", [{}]):
        lines.append('-H "Authorization: Bearer $INKCLOAK_API_KEY"')
    body = example_body(contract, said)
    if body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    elif "requestBody" in said:
        lines.append('-F "files=@essay.txt"')
    return " \\\n  ".join(lines)


def _python(contract: dict[str, Any], path: str, method: str, said: dict[str, Any]) -> str:
    named = PLACEHOLDER.sub(lambda found: "{os.environ['" + found[1].upper() + "']}", path)
    address = f'"{settings.PUBLIC_URL}{named}"'
    arguments = [f"f{address}" if named != path else address]
    if {} not in said.get("security", [{}]):
        arguments.append('headers={"Authorization": f"Bearer {os.environ[\'INKCLOAK_API_KEY\']}"}')
    body = example_body(contract, said)
    if body is not None:
        arguments.append(f"json={body!r}")
    elif "requestBody" in said:
        arguments.append('files={"files": open("essay.txt", "rb")}')
    call = "".join(f"\n    {argument}," for argument in arguments)
    result = "print(answer.status_code)" if method == "delete" else "print(answer.json())"
    return f"import os\n\nimport httpx\n\nanswer = httpx.{method}({call}\n)\nanswer.raise_for_status()\n{result}"
