"""Stripe's form encoding: `items[0][price]=x` becomes {"items": [{"price": "x"}]}; all values arrive as strings."""

import re
from collections.abc import Iterable
from typing import Any

from tests.loopback.stripe.errors import invalid

PART = re.compile(r"\[([^\]]*)\]")
MOST = 10_000  # list entries, against a made-up index


def parse(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The nested object; dicts whose keys are 0, 1, 2 … become lists, `[]` appends."""
    root: dict[str, Any] = {}
    for key, value in pairs:
        name, _, rest = key.partition("[")
        node, parts = root, [name, *PART.findall("[" + rest if rest else "")]
        for part in parts[:-1]:
            node = node.setdefault(part or str(len(node)), {})
            if not isinstance(node, dict):
                raise invalid(f"Invalid parameter: {key}", key)
        node[parts[-1] or str(len(node))] = value
    return {key: _listed(value) for key, value in root.items()}


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdigit() for key in node):
        return [_listed(node[key]) for key in sorted(node, key=int)][:MOST]
    return {key: _listed(value) for key, value in node.items()}


def whole(params: dict[str, Any], name: str, otherwise: int | None = None) -> int | None:
    """An integer parameter; raises Refusal 400 when it is none."""
    given = params.get(name)
    if given in (None, ""):
        return otherwise
    try:
        return int(given)
    except (TypeError, ValueError):
        raise invalid(f"Invalid integer: {given}", name, "parameter_invalid_integer") from None


def flag(params: dict[str, Any], name: str, otherwise: bool = False) -> bool:
    """A boolean parameter."""
    given = params.get(name)
    if given in (None, ""):
        return otherwise
    if str(given).lower() not in ("true", "false"):
        raise invalid(f"Invalid boolean: {given}", name)
    return str(given).lower() == "true"


def merged(old: dict[str, str], given: Any) -> dict[str, str]:
    """Metadata after an update: an empty value removes its key, an empty whole all of them."""
    if given == "":
        return {}
    both = {**old, **{key: str(value) for key, value in (given or {}).items()}}
    return {key: value for key, value in both.items() if value != ""}
