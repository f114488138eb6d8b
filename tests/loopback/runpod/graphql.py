"""GraphQL, as little as still needed: `myself` (the only place that knows the balance) and `gpuTypes`.

A query is read as nested names; arguments and aliases are skipped. Errors come with status 200, as the real ones.
"""

import re
from typing import Any

from aiohttp import web

from tests.loopback.runpod import catalog
from tests.loopback.runpod.gate import rest, world_of
from tests.loopback.runpod.problem import body_of
from tests.loopback.runpod.world import World

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*|[{}()\[\]:,!$=]|-?[0-9.]+')
Selection = dict[str, Any]


class Unreadable(ValueError):
    """No query that this reads."""


def read(query: str) -> Selection:
    """Field name -> its own selection; raises Unreadable."""
    tokens = [token for token in TOKEN.findall(query) if token != ","]
    while tokens and tokens[0] != "{":  # `query Name($x: Y)`
        if tokens.pop(0) == "mutation":
            raise Unreadable("mutations are not served on loopback")
    found, rest_of_it = _selection(tokens[1:])
    if rest_of_it:
        raise Unreadable("unexpected text after the query")
    return found


def _selection(tokens: list[str]) -> tuple[Selection, list[str]]:
    found: Selection = {}
    name = ""
    while tokens:
        token, tokens = tokens[0], tokens[1:]
        if token == "}":
            return found, tokens
        if token == "(":
            tokens = _after_arguments(tokens)
        elif token == "{":
            found[name], tokens = _selection(tokens)
        else:
            name = token
            found.setdefault(name, {})
    raise Unreadable("a brace is not closed")


def _after_arguments(tokens: list[str]) -> list[str]:
    depth = 1
    for at, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return tokens[at + 1 :]
    raise Unreadable("a parenthesis is not closed")


def _pick(value: Any, selection: Selection, path: str) -> Any:
    if isinstance(value, list):
        return [_pick(each, selection, path) for each in value]
    if not isinstance(value, dict) or not selection:
        return value
    for name in selection:
        if name not in value:
            raise Unreadable(f'Cannot query field "{name}" on type "{path}".')
    return {name: _pick(value[name], inner, name) for name, inner in selection.items()}


def _everything(world: World) -> dict[str, Any]:
    return {
        "myself": {
            "id": "user_loopback",
            "email": "founder@localhost",
            "clientBalance": world.ledger.balance_nanousd() / 1e9,
            "currentSpendPerHr": world.ledger.per_hour_nanousd() / 1e9,
            "spendLimit": world.spend_limit_nanousd / 1e9,
            "underBalance": world.ledger.balance_nanousd() <= 0,
            "maxServerlessConcurrency": world.quota(),
        },
        "gpuTypes": [_gpu(gpu) for gpu in catalog.GPUS],
    }


def _gpu(gpu: catalog.Gpu) -> dict[str, Any]:
    price = gpu.pod_nanousd_per_hour / 1e9 or None
    lowest = {"uninterruptablePrice": price, "minimumBidPrice": None, "stockStatus": "High" if price else "None"}
    return {
        "id": gpu.id,
        "displayName": gpu.name,
        "memoryInGb": gpu.memory_gb,
        "securePrice": price,
        "communityPrice": price,
        "lowestPrice": lowest,
    }


async def answer(request: web.Request) -> web.Response:
    """One query."""
    body = await body_of(request)
    try:
        data = _pick(_everything(world_of(request)), read(str(body.get("query", ""))), "Query")
    except Unreadable as problem:
        return web.json_response({"errors": [{"message": str(problem)}]})
    return web.json_response({"data": data})


def routes() -> list[web.RouteDef]:
    """One door."""
    return [web.post("/graphql", rest("graphql", answer))]
