"""Schemas of the contract as rows: `segments[].start`, what kind it is, whether it must be there. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One field. schema: with references resolved.  kind: for people, as kind() says it."""

    path: str
    kind: str
    required: bool
    schema: Schema


def resolve(contract: Schema, schema: Schema) -> Schema:
    """A schema in the place of a reference to it; the first alternative that is not null."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return resolve(contract, contract["components"]["schemas"][name]) | _without(schema, "$ref")
    for several in ("allOf", "oneOf", "anyOf"):
        kinds = [one for one in schema.get(several, []) if one.get("type") != "null"]
        if kinds:
            return resolve(contract, kinds[0]) | _without(schema, several)
    return schema


def rows(contract: Schema, schema: Schema, levels: int, prefix: str = "") -> Iterator[Row]:
    """Every field, and below each its own, `levels` deep."""
    whole = resolve(contract, schema)
    if is_list(whole):
        yield from rows(contract, whole["items"], levels, f"{prefix}[]" if prefix else "")
        return
    for name, inner in whole.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        yield Row(path, kind(contract, inner), name in whole.get("required", ()), resolve(contract, inner))
        if levels > 1:
            yield from rows(contract, inner, levels - 1, path)


def kind(contract: Schema, schema: Schema) -> str:
    """For people: `"human" | "ai" | null`, `list of object`, `string (uuid)`."""
    whole = resolve(contract, schema)
    if "enum" in whole:
        return " | ".join(json.dumps(value) for value in whole["enum"])
    kinds = whole.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if is_list(whole):
        names[names.index("array")] = f"list of {kind(contract, whole['items'])}"
    shown = " | ".join(names)
    return f"{shown} ({whole['format']})" if whole.get("format") not in (None, "double") else shown


def is_list(schema: Schema) -> bool:
    said = schema.get("type")
    return "items" in schema and (said == "array" or (isinstance(said, list) and "array" in said))


def content_of(said: Schema) -> tuple[str, Schema]:
    """The media type of a body or an answer, the first if there are several, and its schema; "" where it has none."""
    for media, content in said.get("content", {}).items():
        return media, content.get("schema", {})
    return "", {}


def operations(contract: Schema, methods: tuple[str, ...]) -> Iterator[tuple[str, str, Schema]]:
    """(path, method, operation) in the contract's order."""
    for path, item in contract["paths"].items():
        for method in methods:
            if method in item:
                yield path, method, item[method]


def _without(schema: Schema, name: str) -> Schema:
    return {key: value for key, value in schema.items() if key != name}
