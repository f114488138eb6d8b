"""The JSON that site and pod speak, as frozen dataclasses with a version. Standard library only.

Site and image are deployed at different times: `CONTRACT_VERSION` goes with every request and answer, and a
mismatch is an error of its own instead of a wrong verdict. Offsets are code points of the text that was sent
(the prose the model reads), never of the customer's original: only the site keeps that map.
May be imported by: everything. Imports: nothing of ours.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

CONTRACT_VERSION = 1


class ContractError(ValueError):
    """The other side's message is not one of this contract. Never carries the text itself."""


@dataclass(frozen=True, slots=True)
class TextIn:
    """One text to score. `id` is ours and comes back untouched; `language` is an ISO 639-1 code."""

    id: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """A batch for one model version. `run_id` and `attempt` are echoed, so that late answers are recognised."""

    run_id: str
    attempt: int
    model_version: str
    texts: tuple[TextIn, ...]
    contract_version: int = CONTRACT_VERSION

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScoreRequest":
        """Raises ContractError on another version, missing fields or wrong types."""
        _check_version(data)
        try:
            texts = tuple(TextIn(str(t["id"]), _text(t["text"]), str(t["language"])) for t in data["texts"])
            return cls(str(data["run_id"]), int(data["attempt"]), str(data["model_version"]), texts)
        except ContractError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ContractError(f"malformed score request: {type(error).__name__}") from None


@dataclass(frozen=True, slots=True)
class WindowScore:
    """One window of a text: [start, end) in code points of the text sent.

    score: raw logit, higher is more AI-like.  probability: calibrated, in [0, 1].
    """

    start: int
    end: int
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class TextOut:
    """Scores of one text, or `error` (a stable code) with no windows. Windows cover the text without gaps.

    genre: the model's guess, which picks the line of the rate card; empty where the model makes none.
    padding: tokens of nothing that the engine multiplied beside it, about; None where the worker doesn't say.
    """

    id: str
    score: float
    probability: float
    windows: tuple[WindowScore, ...]
    tokens: int
    error: str = ""
    genre: str = ""
    padding: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreResponse:
    """What a pod answers for one ScoreRequest; `execution_ms` is the time inside the scorer."""

    run_id: str
    attempt: int
    model: str
    model_version: str
    calibration_version: str
    normaliser_version: str
    texts: tuple[TextOut, ...]
    execution_ms: int
    contract_version: int = CONTRACT_VERSION

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types; raises ContractError when a number is not finite (NaN is no JSON)."""
        data = asdict(self)
        try:
            json.dumps(data, allow_nan=False)
        except ValueError:
            raise ContractError("a score is not finite") from None
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScoreResponse":
        """Raises ContractError on another version, missing fields, or scores that are not finite."""
        _check_version(data)
        try:
            return cls(
                run_id=str(data["run_id"]),
                attempt=int(data["attempt"]),
                model=str(data["model"]),
                model_version=str(data["model_version"]),
                calibration_version=str(data["calibration_version"]),
                normaliser_version=str(data["normaliser_version"]),
                texts=tuple(_text_out(t) for t in data["texts"]),
                execution_ms=int(data["execution_ms"]),
            )
        except ContractError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ContractError(f"malformed score response: {type(error).__name__}") from None


def match(request: ScoreRequest, response: ScoreResponse) -> None:
    """Raises ContractError unless the response answers exactly this request, text by text."""
    if (response.run_id, response.attempt) != (request.run_id, request.attempt):
        raise ContractError("the answer belongs to another run")
    if response.model_version != request.model_version:
        raise ContractError("the answer comes from another model version")
    if [t.id for t in response.texts] != [t.id for t in request.texts]:
        raise ContractError("the answer has other texts than the request")


def _check_version(data: Mapping[str, Any]) -> None:
    if data.get("contract_version") != CONTRACT_VERSION:
        raise ContractError(f"contract version {data.get('contract_version')!r}, expected {CONTRACT_VERSION}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ContractError("a text is not a string")
    return value


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ContractError("a score is not a finite number")
    return float(value)


def _text_out(data: Mapping[str, Any]) -> TextOut:
    windows: Sequence[Mapping[str, Any]] = data["windows"]
    return TextOut(
        id=str(data["id"]),
        score=_finite(data["score"]),
        probability=_finite(data["probability"]),
        windows=tuple(
            WindowScore(int(w["start"]), int(w["end"]), _finite(w["score"]), _finite(w["probability"])) for w in windows
        ),
        tokens=int(data["tokens"]),
        error=str(data.get("error", "")),
        genre=str(data.get("genre", "")),
        padding=None if data.get("padding") is None else int(data["padding"]),
    )
