"""What may be sent, strictly: the type that is meant and no other, no unknown names, each limit named.

Numbers are no strings and strings no booleans: what is converted silently is misread silently. Limits of the text
itself are intake's, so that every way in has the same.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.fields import empty

from billing import keys
from detector import intake
from inkcloak.errors import Invalid

MAX_METADATA_NAMES = 20
MAX_METADATA_NAME_CHARACTERS = 40
MAX_METADATA_BYTES = 2048  # as JSON
MAX_BATCH_TEXTS = 1_000
MAX_BATCH_CHARACTERS = 5_000_000

MODEL = re.compile(r"[A-Za-z0-9._-]{1,40}")
LANGUAGE = re.compile(r"[a-z]{2}")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class StrictSerializer(serializers.Serializer[Any]):
    """Names that it does not know are faults: a misspelt option must not be an option left out."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, Mapping):
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                fault = serializers.ErrorDetail(str(_("There is no field of this name.")), "unknown_field")
                raise serializers.ValidationError({name[:MAX_METADATA_NAME_CHARACTERS]: [fault] for name in unknown})
        found: dict[str, Any] = super().to_internal_value(data)
        return {name: value for name, value in found.items() if value is not None}  # null is the default


class Strictly(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The contract says so too, or a generated client would let a misspelt name through."""

    target_class = StrictSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        shape: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return shape | {"additionalProperties": False}


class Exact(serializers.CharField):
    """A string as it was sent. Blank ones meet the same rules as others, and the schema need not allow them apart."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data

    def run_validation(self, data: Any = empty) -> Any:
        return serializers.Field.run_validation(self, data)  # past the framework's own look at blank strings


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": intake.MAX_CHARACTERS, "pattern": r"\S"})
class Text(Exact):
    """Of a check; NUL and lone surrogates are intake's to replace, one for one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = []  # the framework's own refuse NUL


class Word(Exact):
    """A short string, matched as a whole by `pattern`."""

    default_error_messages = {"pattern": _("This is no valid value.")}
    pattern: "re.Pattern[str]"

    def to_internal_value(self, data: Any) -> str:
        word = super().to_internal_value(data)
        if not self.pattern.fullmatch(word):
            self.fail("pattern")
        return word


@extend_schema_field({"type": "string", "pattern": f"^{LANGUAGE.pattern}$"})
class Language(Word):
    pattern = LANGUAGE


@extend_schema_field({"type": "string", "pattern": f"^{MODEL.pattern}$"})
class ModelName(Word):
    pattern = MODEL


class Flag(serializers.BooleanField):
    """true or false, and nothing that resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=type(data).__name__)
        return data


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
class Cap(serializers.FloatField):
    """A false-positive ceiling, given back as manifests spell it: 0.01 -> "0.01"."""

    default_error_messages = {"range": _("This must be a share between 0 and 1, for example 0.01 for 1 %.")}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        if not 0 < data < 1:
            self.fail("range")
        return f"{data:.10g}"


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "propertyNames": {"maxLength": MAX_METADATA_NAME_CHARACTERS, "minLength": 1},
        "maxProperties": MAX_METADATA_NAMES,
        "description": f"Your own labels, given back with each answer; {MAX_METADATA_BYTES} bytes of JSON at most.",
    }
)
class Metadata(serializers.Field[Any, Any, Any, Any]):
    """Names to strings, few and short: it is stored beside each check and never searched."""

    default_error_messages = {
        "invalid": _("This must be an object of strings."),
        "names": _("There may be at most {names} names, each of 1 to {characters} characters."),
        "too_long": _("As JSON this may have at most {bytes} bytes."),
        "characters": _("NUL and lone surrogates can't be stored."),
    }

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
            self.fail("invalid")
        longest = max(map(len, data), default=1)
        if len(data) > MAX_METADATA_NAMES or longest > MAX_METADATA_NAME_CHARACTERS or "" in data:
            self.fail("names", names=MAX_METADATA_NAMES, characters=MAX_METADATA_NAME_CHARACTERS)
        if any(UNSTORABLE.search(part) for pair in data.items() for part in pair):
            self.fail("characters")
        if any(keys.FORMAT.search(part) for pair in data.items() for part in pair):  # it would be stored as it is
            raise Invalid("key_in_body", _("Send the API key in the Authorization header only, never in the body."))
        if len(json.dumps(data, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
            self.fail("too_long", bytes=MAX_METADATA_BYTES)
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_serializer(component_name="Detection")  # the schema's DetectionRequest
class DetectionRequest(StrictSerializer):
    """One text to check."""

    text = Text(
        help_text=f"1 to {intake.MAX_CHARACTERS} characters (Unicode code points), at least one of them visible."
    )
    language = Language(
        required=False,
        allow_null=True,
        help_text="ISO 639-1 code of the text's language, if you know it. It decides where the text leaves that open: "
        "one that is plainly in another language is judged in that, or is `insufficient` where it is unsupported.",
    )
    model = ModelName(
        required=False,
        allow_null=True,
        help_text="A model version of GET /models, which then answers and no other. Default: the one in service.",
    )
    max_fpr = Cap(
        required=False,
        allow_null=True,
        help_text="The share of human texts that may be called AI: 0.005, 0.01 or 0.05 where measured. Default: 0.01.",
    )
    store = Flag(
        required=False, allow_null=True, help_text="false: the text is forgotten as soon as there is a verdict."
    )
    metadata = Metadata(required=False, allow_null=True)
    dry_run = Flag(required=False, allow_null=True, help_text="true: say what it would cost; nothing is stored.")


@extend_schema_field(
    {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_BATCH_TEXTS,
        "items": {"$ref": "#/components/schemas/DetectionRequest"},
    }
)
class Texts(serializers.Field[Any, Any, Any, Any]):
    """Objects, not yet looked into: each is validated, and refused, alone."""

    default_error_messages = {
        "invalid": _("This must be an array of objects, each as POST /detections takes it."),
        "count": _("There must be 1 to {limit} texts."),
    }

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("invalid")
        if not 1 <= len(data) <= MAX_BATCH_TEXTS:
            self.fail("count", limit=MAX_BATCH_TEXTS)
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_serializer(component_name="Batch")
class BatchRequest(StrictSerializer):
    """Texts to check together."""

    texts = Texts(help_text=f"1 to {MAX_BATCH_TEXTS}, with {MAX_BATCH_CHARACTERS} characters together at most.")
    dry_run = Flag(required=False, allow_null=True, help_text="true: say what it would cost; nothing is stored.")
