"""All objects of the account by class and id, lists with Stripe's cursors, ids that repeat with the same seed."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from tests.loopback.stripe.encoding import whole
from tests.loopback.stripe.errors import invalid, missing

Json = dict[str, Any]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
MOST_LISTED = 100
OFTEN_LISTED = 10


class Store:
    """The newest last. `kind` is Stripe's `object`."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.rows: dict[str, dict[str, Json]] = {}
        self._kind_of: dict[str, str] = {}
        self._made = 0

    def new_id(self, prefix: str, letters: int = 24) -> str:
        """The next id; the same one for the same seed and history."""
        self._made += 1
        digest, drawn = hashlib.sha256(f"{self.seed}:{self._made}".encode()).digest(), ""
        number = int.from_bytes(digest * 3, "big")
        while len(drawn) < letters:
            number, at = divmod(number, len(LETTERS))
            drawn += LETTERS[at]
        return f"{prefix}_{drawn}"

    def add(self, row: Json) -> Json:
        """Keep it; `object` and `id` say where."""
        self.rows.setdefault(row["object"], {})[row["id"]] = row
        self._kind_of[row["id"]] = row["object"]
        return row

    def to_json(self) -> Json:
        """For the state file."""
        return {"seed": self.seed, "made": self._made, "rows": self.rows}

    def restore(self, data: Json) -> None:
        """From the state file."""
        self.seed, self._made, self.rows = data["seed"], data["made"], data["rows"]
        self._kind_of = {number: kind for kind, rows in self.rows.items() for number in rows}

    @property
    def made(self) -> int:
        """How many ids there have been: whether anything is new."""
        return self._made

    def drop(self, row: Json) -> None:
        """Forget it."""
        del self.rows[row["object"]][row["id"]]
        del self._kind_of[row["id"]]

    def get(self, kind: str, given: Any, param: str = "id") -> Json:
        """Raises Refusal 404."""
        found = self.rows.get(kind, {}).get(str(given))
        if found is None:
            raise missing(kind, str(given), param)
        return found

    def find(self, given: str) -> Json | None:
        """Of whatever class."""
        kind = self._kind_of.get(given)
        return self.rows[kind][given] if kind else None

    def all(self, kind: str, **where: Any) -> list[Json]:
        """In the order of making, those whose fields are so."""
        return [
            row
            for row in self.rows.get(kind, {}).values()
            if all(row.get(name) == value for name, value in where.items())
        ]


def paged(rows: Iterable[Json], params: Json, url: str, keep: Callable[[Json], bool] = lambda _: True) -> Json:
    """A list object, the newest first (rows come oldest first)."""
    found = [row for row in reversed(list(rows)) if keep(row) and _created_fits(row, params.get("created"))]
    limit = whole(params, "limit", OFTEN_LISTED) or 0
    if not 1 <= limit <= MOST_LISTED:
        raise invalid(f"This value must be between 1 and {MOST_LISTED}.", "limit")
    places = {row["id"]: at for at, row in enumerate(found)}
    if after := params.get("starting_after"):
        found = found[_place(places, after, "starting_after") + 1 :]
    elif before := params.get("ending_before"):
        end = _place(places, before, "ending_before")
        start = max(0, end - limit)
        return {"object": "list", "url": url, "has_more": start > 0, "data": found[start:end]}
    return {"object": "list", "url": url, "has_more": len(found) > limit, "data": found[:limit]}


def _place(places: dict[str, int], given: str, param: str) -> int:
    if given not in places:
        raise missing("object", given, param)
    return places[given]


def _created_fits(row: Json, asked: Any) -> bool:
    if not asked:
        return True
    made = int(row.get("created") or 0)
    if isinstance(asked, str):
        return made == int(asked)
    tests = {"gt": made.__gt__, "gte": made.__ge__, "lt": made.__lt__, "lte": made.__le__}
    return all(tests[name](int(value)) for name, value in asked.items() if name in tests)
