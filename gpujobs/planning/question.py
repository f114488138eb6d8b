"""What somebody wants planned: read from text and held to limits, and turned into the simulator's own values. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gpujobs.planning import arrivals
from gpujobs.planning.arrivals import CLASS, PASTED, SHAPES, Demand
from gpujobs.planning.assumptions import Assumptions, PlanError
from gpujobs.planning.endpoint import Limits

USERS = (1, 100_000_000)  # daily
CHECKS = (1, 1000)  # that one of them pastes in a day; who checks nothing is no daily user
WORDS = (1, 20_000)  # of a pasted text, on average
P95 = (0.1, 3600)  # seconds until a pasted text is answered
BULK_P95 = (1, 86_400)  # seconds until a text of a class or a job is
SHAPE, WISH_SECONDS, BULK_WISH_SECONDS = "office", 2.0, 60.0  # unless somebody says otherwise
SHOWN = 30  # characters of what was given, in a message
DIGITS = 30


NAMES: dict[str, str | Promise] = {
    "users": gettext_lazy("Daily users"),
    "checks": gettext_lazy("Checks a user"),
    "words": gettext_lazy("Words a check"),
    "shape": gettext_lazy("When they come"),
    "p95": gettext_lazy("Seconds for a pasted text"),
    "bulk_p95": gettext_lazy("Seconds for bulk"),
}
LIMITS: dict[str, tuple[float, float]] = {
    "users": USERS,
    "checks": CHECKS,
    "words": WORDS,
    "p95": P95,
    "bulk_p95": BULK_P95,
}


@dataclass(frozen=True, slots=True)
class Question:
    """words: of a pasted text on average; None = as the table of lengths has them.  p95, bulk_p95: wish, in seconds."""

    users: int
    checks: float = arrivals.MEAN_CHECKS
    words: float | None = None
    shape: str = SHAPE
    p95: float = WISH_SECONDS
    bulk_p95: float = BULK_WISH_SECONDS

    def __post_init__(self) -> None:
        """Raises PlanError, which names the limits."""
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:  # NaN is in no order
                raise _refused(name, str(value))
        if self.shape not in SHAPES:
            raise PlanError(
                _("%(what)s: one of %(shapes)s, not “%(given)s”.")
                % {"what": NAMES["shape"], "shapes": ", ".join(SHAPES), "given": str(self.shape)[:SHOWN]}
            )

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read(given: Mapping[str, str]) -> Question:
    """From text, as a form or a command line has it; what is empty or missing has its default. Raises PlanError."""
    text = {name: value.strip() for name, value in given.items() if value and value.strip()}
    fields: dict[str, Any] = {"users": _whole(text.get("users", ""))}
    fields |= {name: _number(name, text[name]) for name in ("checks", "words", "p95", "bulk_p95") if name in text}
    if "shape" in text:
        fields["shape"] = text["shape"]
    return Question(**fields)


def _whole(text: str) -> int:
    plain = text.replace(",", "").replace("_", "")
    if not (plain.isascii() and plain.removeprefix("-").isdigit() and len(plain) <= DIGITS):
        raise _refused("users", text)
    return int(plain)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _refused(name, text) from None


def _refused(name: str, given: str) -> PlanError:
    low, high = LIMITS[name]
    return PlanError(
        _("%(what)s: a number from %(low)s to %(high)s, not “%(given)s”.")
        % {"what": NAMES[name], "low": f"{low:,}", "high": f"{high:,}", "given": given[:SHOWN]}
    )


# --- For the simulator ----------------------------------------------------------------------------------------------


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
    counts = {
        PASTED: wanted.people * wanted.checks,
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
