"""What somebody wants planned: read from text and held to limits, and turned into the simulator's own values. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpujobs.planning import arrivals
from gpujobs.planning.arrivals import CLASS, PASTED, SHAPES, Demand
from gpujobs.planning.assumptions import Assumptions, PlanError
from gpujobs.planning.endpoint import Limits

USERS = (1, 100_000_000)  # daily
CHECKS = (1, 1000)  # that one of them pastes in a day; who checks nothing is no daily user
WORDS = (1, 20_000)  # of a pasted text, on average
P95 = (0.1, 3600)  # seconds until a pasted text is answered
BULK_P95 = (1, 86_400)  # seconds until a text of a class or a job is


@dataclass(frozen=True, slots=True)
class Question:
    """words: of a pasted text on average; None = as the table of lengths has them.  p95, bulk_p95: seconds, the wish."""

    users: int
    checks: float = arrivals.MEAN_CHECKS
    words: float | None = None
    shape: str = "office"
    p95: float = 2.0
    bulk_p95: float = 60.0

    def __post_init__(self) -> None:
        """Raises PlanError, which names the limits."""
        _within("daily users", self.users, USERS)
        _within("checks a user", self.checks, CHECKS)
        if self.words is not None:
            _within("words a check", self.words, WORDS)
        if self.shape not in SHAPES:
            raise PlanError(f"shape: one of {', '.join(SHAPES)}, not {str(self.shape)[:30]!r}")
        _within("p95 seconds", self.p95, P95)
        _within("p95 seconds of bulk", self.bulk_p95, BULK_P95)

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read(given: Mapping[str, str]) -> Question:
    """From text, as a form or a command line has it; what is empty or missing has its default. Raises PlanError."""
    text = {name: value.strip() for name, value in given.items() if value and value.strip()}
    if "users" not in text:
        raise PlanError(f"daily users: a whole number from {_limits(USERS)}")
    fields: dict[str, Any] = {"users": _whole(text["users"])}
    for name, what, limits in (
        ("checks", "checks a user", CHECKS),
        ("words", "words a check", WORDS),
        ("p95", "p95 seconds", P95),
        ("bulk_p95", "p95 seconds of bulk", BULK_P95),
    ):
        if name in text:
            fields[name] = _number(what, text[name], limits)
    if "shape" in text:
        fields["shape"] = text["shape"]
    return Question(**fields)


def demand(question: Question, book: Assumptions) -> Demand:
    """The day that is asked about."""
    length = 1.0
    if question.words is not None:
        length = question.words * book.number("text.characters_per_word") / arrivals.mean_characters(PASTED)
    return Demand(
        users=question.users,
        checks=question.checks,
        length=length,
        shape=question.shape,
        class_share=book.number("bulk.class_share"),
        api_share=book.number("bulk.api_share"),
        between_seconds=book.number("people.between"),
    )


def words_a_text(wanted: Demand, book: Assumptions) -> float:
    """Of all texts of the day, on average."""
    per_word = book.number("text.characters_per_word")
    people = wanted.users - wanted.teachers - wanted.programs
    counts = {
        PASTED: people * wanted.checks,
        CLASS: wanted.teachers * arrivals.MEAN_CLASS_TEXTS,
        arrivals.API: wanted.programs * arrivals.MEAN_API_TEXTS,
    }
    characters = sum(count * arrivals.mean_characters(kind) for kind, count in counts.items()) * wanted.length
    return characters / sum(counts.values()) / per_word


def limits(book: Assumptions, **settings: Any) -> Limits:
    """An endpoint with the speeds of the assumptions."""
    speeds = {
        "cold_start_seconds": book.number("gpu.cold_start"),
        "alone_seconds": book.number("gpu.alone"),
        "together_seconds": book.number("gpu.together"),
    }
    return Limits(**(speeds | settings))


def _whole(text: str) -> int:
    plain = text.replace(",", "").replace("_", "")
    if not (plain.isascii() and plain.lstrip("+-").isdigit() and len(plain) <= 30):
        raise PlanError(f"daily users: a whole number from {_limits(USERS)}, not {text[:30]!r}")
    return int(plain)


def _number(what: str, text: str, ends: tuple[float, float]) -> float:
    try:
        return float(text)
    except ValueError:
        raise PlanError(f"{what}: a number from {_limits(ends)}, not {text[:30]!r}") from None


def _within(what: str, value: float, ends: tuple[float, float]) -> None:
    low, high = ends
    if not math.isfinite(value) or not low <= value <= high:
        raise PlanError(f"{what}: from {_limits(ends)}, not {value!r}"[:200])


def _limits(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{low:,} to {high:,}"
