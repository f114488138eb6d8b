"""JSON as the API reads and writes it: one meaning for each body, and a named limit for everything else.

Repeated names, NaN, infinity, deep nesting and anything but an object are refused, since programs disagree about what
they mean; the size is known before it is read.
"""

import json
import math
from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from inkcloak.errors import Invalid

# 100,000 characters of four bytes, each escaped as two surrogates, are 1.2 MB.
MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 32
# Names under which a key would be sent in the body: it belongs into the header, where no log keeps it.
KEY_FIELDS = frozenset({"api_key", "apikey", "api-key", "access_token", "authorization", "secret_key"})


class StrictJSONParser(JSONParser):
    """A view may name its own limit: `max_body_bytes`."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        context = parser_context or {}
        limit = getattr(context.get("view"), "max_body_bytes", MAX_BODY_BYTES)
        return loads(_read(stream, limit, context.get("request")))


class SafeJSONRenderer(JSONRenderer):
    """A lone surrogate that came in must not break the answer that names it."""

    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        try:
            rendered: bytes = super().render(data, accepted_media_type, renderer_context)
        except UnicodeEncodeError:
            rendered = json.dumps(data, cls=self.encoder_class, ensure_ascii=True).encode()
        return rendered


def loads(content: bytes) -> dict[str, Any]:
    """The object that these bytes mean. Raises Invalid with what is wrong, never quoting any of it."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid("bad_encoding", _("The body is not UTF-8.")) from None
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # also an integer of more than 4,300 digits
        place = f"{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else "-"
        message = _("The body is not valid JSON (line:column %(place)s).")
        raise Invalid("malformed_json", message % {"place": place}) from None
    if not isinstance(value, dict):
        raise Invalid("not_an_object", _("The body must be a JSON object: { … }."))
    _check_depth(value)
    if not KEY_FIELDS.isdisjoint(map(str.lower, value)):
        raise Invalid("key_in_body", _("Send the API key in the Authorization header only, never in the body."))
    return value


def _read(stream: IO[Any], limit: int, request: Any) -> bytes:
    try:
        announced = int(request.META.get("CONTENT_LENGTH") or 0) if request is not None else 0
    except ValueError:
        announced = 0
    content: bytes = b"" if announced > limit else stream.read(limit + 1)
    if max(announced, len(content)) > limit:
        raise too_large(limit)
    return content


def too_large(limit: int) -> Invalid:
    """limit: bytes."""
    message = _("The body has more than %(limit)d bytes, which is the limit here.")
    return Invalid("too_large", message % {"limit": limit})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Invalid("duplicate_name", _("A name appears twice in one object of the body."))
    return found


def _finite(number: str) -> float:
    """Also called with NaN and Infinity, which JSON does not have, and with 1e999, which no double holds."""
    value = float(number)
    if not math.isfinite(value):
        raise Invalid("not_a_number", _("The body holds a number that is no finite number."))
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise _too_deep()


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [child for child in value.values() if isinstance(child, dict | list)]
    return [child for child in value if isinstance(child, dict | list)]


def _too_deep() -> Invalid:
    return Invalid("too_deep", _("The body is nested deeper than %(limit)d levels.") % {"limit": MAX_DEPTH})
