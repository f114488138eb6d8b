"""The contract as OpenAPI 3.1: made from the views once a process, served at `/api/schema/`, shown at `/api/docs/`."""

import hashlib
import json
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator

from inkcloak import docs_examples, docs_schemas, problems
from inkcloak.cursors import CursorPages

CONTENT_TYPE = "application/vnd.oai.openapi+json"
FILE_NAME = "inkcloak-openapi.json"
METHODS = ("get", "post", "put", "patch", "delete")
API = "/api/v1/"
TAGS = (
    {"name": "detections", "description": "A text, or many, or files: checked, read, deleted, checked again."},
    {"name": "batches", "description": "Texts that came in one request."},
    {"name": "usage", "description": "Words of the month, requests of the minute, and a line for each check."},
    {"name": "models", "description": "Model versions that can be called."},
    {"name": "benchmarks", "description": "What was measured of them."},
    {"name": "webhooks", "description": "Messages to your server, by Standard Webhooks."},
)
# What may happen to any request, and what only to some.
ALWAYS = (400, 401, 403, 429, 503)
WITH_ID = (404,)
WITH_BODY = (413, 415)

RATE_HEADERS = {
    "RateLimit": "What is left: r units for t more seconds, of requests and of words.",
    "RateLimit-Policy": "Both limits: q units in w seconds.",
    "X-RateLimit-Limit": "Requests a minute.",
    "X-RateLimit-Remaining": "Requests left in this minute.",
    "X-RateLimit-Reset": "When the next minute begins, in seconds since 1970.",
    "X-Request-ID": "The name of this request: quote it when you write to us.",
}
MORE_HEADERS: dict[str, dict[str, Any]] = {
    "Retry-After": {"description": "Seconds to wait before the next try.", "schema": {"type": "integer", "minimum": 0}},
    "WWW-Authenticate": {"description": "How a key is sent.", "schema": {"type": "string"}},
}
# Statuses whose answers have one of these.
HEADERS_OF = {
    "202": "Retry-After",
    "401": "WWW-Authenticate",
    "409": "Retry-After",
    "429": "Retry-After",
    "503": "Retry-After",
}
FAULT = {
    "type": "object",
    "required": ["pointer", "code", "detail"],
    "properties": {
        "pointer": {"type": "string", "description": "Where in the body, as a JSON pointer."},
        "code": {"type": "string"},
        "detail": {"type": "string"},
    },
}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `code` never changes; `detail` is in the reader's language.",
    "required": ["type", "title", "status", "detail", "code", "errors", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "errors": {"type": "array", "items": FAULT},
        "request_id": {"type": "string"},
    },
}


class BearerKey(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a key is sent, in the contract's words."""

    target_class = "billing.authentication.ApiKeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ink_live_… or ink_test_…"}


def say_what_every_answer_has(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """Adds to each operation the errors and headers that it has without its view's doing, and an example body."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).setdefault("Problem", PROBLEM)
    components["headers"] = {
        name: {"description": said, "schema": {"type": "string"}} for name, said in RATE_HEADERS.items()
    } | MORE_HEADERS
    known = {tag["name"] for tag in TAGS}
    used: dict[str, None] = {}
    for path, _method, operation in docs_schemas.operations(result, METHODS):
        if path.startswith(API):
            _complete(operation)
        docs_examples.fill(result, operation)
        used |= dict.fromkeys(operation.get("tags", ()))
    result["tags"] = [*TAGS, *({"name": name} for name in used if name not in known)]
    return result


@cache
def contract() -> dict[str, Any]:
    """The whole contract as plain data. Views don't change while a process runs."""
    with translation.override("en"):  # one contract, whoever asks for it first
        found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@cache
def _content() -> tuple[bytes, str]:
    content = json.dumps(contract(), ensure_ascii=False, indent=1).encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """For generators of clients and readers; the same for everybody."""
    return _served(request, CONTENT_TYPE, "inline")


@require_safe
def schema_file(request: HttpRequest) -> HttpResponse:
    """The same to save: Postman and others import it from a file, or from this address as plain JSON."""
    return _served(request, "application/json", "attachment")


def _served(request: HttpRequest, content_type: str, disposition: str) -> HttpResponse:
    content, tag = _content()
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(content, content_type=content_type)
        response["Content-Disposition"] = f'{disposition}; filename="{FILE_NAME}"'
    response["ETag"] = tag
    response["Cache-Control"] = "public, max-age=300"
    response["Access-Control-Allow-Origin"] = "*"
    return response


def _complete(operation: dict[str, Any]) -> None:
    content = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
    if content.get("schema", {}).get("$ref", "").startswith("#/components/schemas/Paginated"):
        known = {parameter["name"] for parameter in operation.setdefault("parameters", [])}
        pages = CursorPages().get_schema_operation_parameters(None)
        operation["parameters"] += [parameter for parameter in pages if parameter["name"] not in known]
    places = {parameter["in"] for parameter in operation.get("parameters", [])}
    statuses = {*ALWAYS, *(WITH_ID if "path" in places else ()), *(WITH_BODY if "requestBody" in operation else ())}
    responses = operation["responses"]
    reference = {"schema": {"$ref": "#/components/schemas/Problem"}}
    for status in sorted(statuses):
        fallback = {
            "description": str(problems.of_status(status).detail),
            "content": {problems.CONTENT_TYPE: reference},
        }
        found = responses.setdefault(str(status), fallback)
        found["description"] = found.get("description") or fallback["description"]
    operation["responses"] = dict(sorted(responses.items()))
    for status, answer in operation["responses"].items():
        names = [*RATE_HEADERS, *([HEADERS_OF[status]] if status in HEADERS_OF else ())]
        links = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        answer["headers"] = links | answer.get("headers", {})
