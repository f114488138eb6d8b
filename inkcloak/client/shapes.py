"""What comes back, as frozen dataclasses: fields have the API's own names and meanings.

    Detection   one check: verdict, numbers, segments, rate card, versions, cost     Item, FileItem   one text of many
    Quote       what a check would cost           Usage   what is used and left      ModelVersion     what can be called

Every `from_json` takes the API's object and ignores names that it doesn't know, so that a newer service still answers
an older client. `raw` keeps the object as it came.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from inkcloak.client.errors import InkcloakError, Problem, problem_of

FINISHED = ("done", "failed")


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the scored text, in Unicode code points of the text as it was sent. label: "ai" or "human"."""

    start: int
    end: int
    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Characters that were set aside before reading; never evidence by themselves."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that is no prose, and was not scored. Code points, `end` exclusive."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RateCard:
    """How often human texts like this one were flagged: `k` of `n`; `low` to `high` is the 95 % interval of that rate.

    group: what "like this one" means: language, genre, words.
    """

    k: int
    n: int
    low: float
    high: float
    group: Mapping[str, Any]

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "RateCard":
        counted = {name: found[name] for name in ("k", "n", "low", "high")}
        return cls(**counted, group={name: value for name, value in found.items() if name not in counted})


@dataclass(frozen=True, slots=True)
class Balance:
    """Words that the account may still use."""

    limit: int
    left: int
    resets_at: datetime

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Balance":
        return cls(int(found["limit"]), int(found["left"]), moment(found["resets_at"]))


@dataclass(frozen=True, slots=True)
class Cost:
    """words_charged: for good.  words_held: while the text is being checked; charged or given back then."""

    words_charged: int
    words_held: int
    balance: Balance | None

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Cost":
        balance = found.get("balance")
        held = Balance.from_json(balance) if balance else None
        return cls(int(found["words_charged"]), int(found["words_held"]), held)


@dataclass(frozen=True, slots=True)
class Detection:
    """One check. Everything about its verdict is None until it is finished, and numbers are where there is no verdict.

    verdict: "human", "mixed", "ai", or "insufficient" with its `reason`.  confidence: "high", "medium" or "low".
    probability: calibrated, that the text is AI.  ai_fraction: share of the scored characters marked AI.
    max_fpr: the share of human texts that may be called AI.  degraded: scored by a stand-in, the GPU was out of reach.
    segments, cleaned, left_out, rate_card: None in lists and batches, which leave out what is long: `client.get(id)`.
    """

    id: str
    live: bool
    status: str
    failure: str | None
    created_at: datetime
    finished_at: datetime | None
    source: str
    batch: str | None
    rerun_of: str | None
    cached: bool
    pinned: bool
    store: bool
    metadata: Mapping[str, str]
    file_name: str | None
    verdict: str | None
    reason: str | None
    confidence: str | None
    probability: float | None
    ai_fraction: float | None
    max_fpr: float | None
    language: str
    words: int
    characters: int
    scored_characters: int | None
    tier: str | None
    degraded: bool | None
    model: str | None
    model_version: str | None
    normaliser_version: str | None
    calibration_version: str | None
    usage: Cost
    segments: tuple[Segment, ...] | None
    cleaned: tuple[Cleaned, ...] | None
    left_out: tuple[LeftOut, ...] | None
    rate_card: RateCard | None
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def is_finished(self) -> bool:
        """Whether nothing will change any more."""
        return self.status in FINISHED

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Detection":
        plain: dict[str, Any] = {name: found.get(name) for name in _PLAIN}
        return cls(
            **plain,
            id=str(found["id"]),
            status=str(found["status"]),
            live=bool(found.get("live", True)),
            created_at=moment(found["created_at"]),
            finished_at=moment_or_none(found.get("finished_at")),
            metadata=dict(found.get("metadata") or {}),
            usage=Cost.from_json(found["usage"]),
            segments=_each(Segment, found.get("segments")),
            cleaned=_each(Cleaned, found.get("cleaned")),
            left_out=_each(LeftOut, found.get("left_out")),
            rate_card=RateCard.from_json(card) if (card := found.get("rate_card")) else None,
            raw=found,
        )


_PLAIN = (
    "failure", "source", "batch", "rerun_of", "cached", "pinned", "store", "file_name", "verdict", "reason",
    "confidence", "probability", "ai_fraction", "max_fpr", "language", "words", "characters", "scored_characters",
    "tier", "degraded", "model", "model_version", "normaliser_version", "calibration_version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """One of many texts: a check, or why it is none. place: among the texts of the call, from 0."""

    place: int
    detection: Detection | None
    problem: InkcloakError | None

    @property
    def is_finished(self) -> bool:
        return self.detection is None or self.detection.is_finished


@dataclass(frozen=True, slots=True)
class FileRead:
    """What was found in one file. place: among the files of the call, from 0.

    kind: "pdf", "docx", "html", "csv", "text".  texts: rows of a table with a text; 1 for any other file.
    hidden: characters left out because no reader of the file sees them, by kind.  notes: what else was left out.
    """

    place: int
    name: str
    kind: str | None
    texts: int
    hidden: Mapping[str, int]
    notes: tuple[str, ...]
    encoding: str | None
    problem: InkcloakError | None

    @classmethod
    def from_json(cls, place: int, name: str, found: Mapping[str, Any]) -> "FileRead":
        return cls(
            place=place,
            name=name,
            kind=found.get("kind"),
            texts=int(found["texts"]),
            hidden=dict(found.get("hidden") or {}),
            notes=tuple(found.get("notes") or ()),
            encoding=found.get("encoding"),
            problem=problem_in(found),
        )


@dataclass(frozen=True, slots=True)
class FileItem(Item):
    """One text of a file, or a file without any. row: of a table, from 1 with its header."""

    file: FileRead
    row: int | None


@dataclass(frozen=True, slots=True)
class Quote:
    """What a check would cost; nothing was stored. sufficient: whether there would be a verdict, else `reason`."""

    sufficient: bool
    reason: str | None
    cached: bool
    language: str
    words: int
    characters: int
    words_to_charge: int
    affordable: bool
    balance: Balance

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Quote":
        names = (
            "sufficient", "reason", "cached", "language", "words", "characters", "words_to_charge", "affordable",
        )  # fmt: skip
        return cls(**{name: found[name] for name in names}, balance=Balance.from_json(found["balance"]))


@dataclass(frozen=True, slots=True)
class Words:
    """Words of this month: used + held + left = limit."""

    limit: int
    used: int
    held: int
    left: int
    period_start: datetime
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of this minute."""

    limit: int
    left: int
    window_seconds: int
    resets_in_seconds: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What the account has used and what is left. live: False for a test key, which uses nothing up."""

    account: str
    plan: str
    live: bool
    words: Words
    requests: Requests
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Usage":
        words, requests = found["words"], found["requests"]
        counts = {name: int(words[name]) for name in ("limit", "used", "held", "left")}
        return cls(
            account=str(found["account"]),
            plan=str(found["plan"]),
            live=bool(found["live"]),
            words=Words(**counts, period_start=moment(words["period_start"]), resets_at=moment(words["resets_at"])),
            requests=Requests(**{name: int(requests[name]) for name in Requests.__dataclass_fields__}),
            raw=found,
        )


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version that can be called. max_fprs: measured limits by language.  flip_rate: None where not measured."""

    version: str
    name: str
    default: bool
    tiers: tuple[str, ...]
    languages: tuple[str, ...]
    max_fprs: Mapping[str, tuple[float, ...]]
    default_max_fpr: float
    min_words: int
    max_characters: int
    normaliser_version: str
    calibration_version: str
    flip_rate: float | None
    released_at: datetime

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "ModelVersion":
        names = ("version", "name", "default", "default_max_fpr", "min_words", "max_characters")
        versions = ("normaliser_version", "calibration_version", "flip_rate")
        return cls(
            **{name: found[name] for name in (*names, *versions)},
            tiers=tuple(found["tiers"]),
            languages=tuple(found["languages"]),
            max_fprs={language: tuple(limits) for language, limits in found["max_fprs"].items()},
            released_at=moment(found["released_at"]),
        )


def moment(written: str) -> datetime:
    """Raises ValueError, TypeError."""
    return datetime.fromisoformat(written)


def moment_or_none(written: str | None) -> datetime | None:
    return None if written is None else moment(written)


def problem_in(found: Mapping[str, Any]) -> Problem | None:
    """The problem of a single text or file inside of an answer that is none."""
    said = found.get("problem")
    return problem_of(int(said["status"]), said) if said else None


def _each(kind: Any, found: Any) -> Any:
    """Objects as instances of a flat dataclass; None stays None."""
    if found is None:
        return None
    return tuple(kind(**{name: one[name] for name in kind.__dataclass_fields__}) for one in found)
