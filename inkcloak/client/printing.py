"""What the command says, in the words of the web pages: about the text, never about who wrote it. Pure.

full()   everything about one text        line()   one of many        summary()   counts at the end
record() one text for programs
"""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from inkcloak.client.checking import Checked
from inkcloak.client.errors import InkcloakError, Problem
from inkcloak.client.shapes import Detection, RateCard, Usage

# The same words as detector.views.story, which a test holds them to.
HEADLINES = {
    "ai": "Likely AI-written",
    "mixed": "Parts are likely AI-written",
    "human": "No sign of AI writing found",
    "insufficient": "Not enough to judge",
}
HUMAN_BUT_NEAR = "No clear sign of AI writing"
REASONS = {
    "too_short": "the text is too short",
    "no_prose": "there is too little running prose",
    "unsupported_language": "the text is in a language that this model has not been measured on",
}
CAUTION = "A score is evidence, not proof: it must not be the only basis for acting against somebody."
COLOURS = {"ai": "red", "mixed": "yellow"}
WIDEST = max(map(len, (*HEADLINES.values(), HUMAN_BUT_NEAR)))
LABEL_WIDTH = 32
MAX_PASSAGES = 20


def headline(detection: Detection) -> str:
    """The verdict in a few words."""
    if detection.verdict == "human" and detection.confidence == "low":
        return HUMAN_BUT_NEAR
    return HEADLINES.get(detection.verdict or "", str(detection.verdict))


def full(one: Checked) -> str:
    """Lines about one text that has its verdict."""
    detection = one.detection
    assert detection is not None  # noqa: S101 - of what has no problem
    lines = [f"{safe(title(one))}: {_coloured(detection, headline(detection))}"]
    if detection.probability is None:
        lines.append(f"  {REASONS.get(detection.reason or '', detection.reason)}; nothing was charged")
    else:
        numbers = [
            (
                "probability that the text is AI",
                f"{percent(detection.probability)} (confidence: {detection.confidence})",
            ),
            ("share of the text marked AI", percent(detection.ai_fraction or 0.0)),
        ]
        lines += [_row(*pair) for pair in [*numbers, *_card(detection.rate_card), *_passages(detection)]]
        lines += [_row("flags of human texts allowed", percent(detection.max_fpr))] if detection.max_fpr else []
    lines += [_row(*pair) for pair in _around(detection)]
    return "\n".join(lines)


def line(one: Checked) -> str:
    """One line about one of many texts that has its verdict."""
    detection = one.detection
    assert detection is not None  # noqa: S101
    share = "" if detection.probability is None else percent(detection.probability)
    said = _coloured(detection, headline(detection).ljust(WIDEST))
    return f"{said}  {share:>7}  {detection.confidence or '':<6}  {safe(title(one))}"


def heading() -> str:
    """Over such lines."""
    return f"{'verdict'.ljust(WIDEST)}  {'AI':>7}  {'sure':<6}  text"


def trouble(one: Checked) -> str:
    """Why there is no verdict."""
    return f"{safe(title(one))}: {reason(one.problem)}"


def reason(error: InkcloakError | None) -> str:
    """An error for people, with what we need to look into it."""
    if not isinstance(error, Problem):
        return safe(str(error))
    faults = "".join(f" {fault.pointer}: {fault.detail}" for fault in error.errors)
    quoted = f", request {error.request_id}" if error.request_id else ""
    return safe(f"{error.detail}{faults} ({error.code}{quoted})")


def summary(found: Sequence[Checked]) -> str:
    """Counts of verdicts."""
    verdicts = [one.detection.verdict for one in found if one.problem is None and one.detection is not None]
    parts = [f"{verdicts.count(name)} {name}" for name in HEADLINES if name in verdicts]
    missing = len(found) - len(verdicts)
    return ", ".join([*parts, *([f"{missing} not checked"] if missing else [])])


def record(one: Checked) -> dict[str, Any]:
    """The API's object with the name of what it is about; `problem` as the API says it."""
    detection = one.detection.raw if one.detection is not None and one.problem is None else None
    return {"name": one.name, "row": one.row, "detection": detection, "problem": _problem(one.problem)}


def usage(found: Usage) -> str:
    """Words and requests."""
    words, requests = found.words, found.requests
    rows = [
        ("plan", f"{found.plan}{'' if found.live else ' (test key: uses nothing up)'}"),
        ("words this month", f"{words.used:,} used, {words.held:,} held, {words.left:,} left of {words.limit:,}"),
        ("counted anew", f"{words.resets_at:%Y-%m-%d %H:%M %Z}"),
        ("requests this minute", f"{requests.left} left of {requests.limit}"),
    ]
    return "\n".join(_row(*pair).strip() for pair in rows)


def title(one: Checked) -> str:
    return one.name if one.row is None else f"{one.name}:{one.row}"


def safe(text: str) -> str:
    """Without what a terminal would obey: names and answers come from elsewhere."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def percent(share: float) -> str:
    return f"{share:.1%}"


def _card(card: RateCard | None) -> Iterable[tuple[str, str]]:
    if card is not None:
        yield (
            "human texts like this one",
            f"{card.k} of {card.n} were flagged ({percent(card.low)} to {percent(card.high)})",
        )


def _passages(detection: Detection) -> Iterable[tuple[str, str]]:
    marked = [f"{part.start}-{part.end}" for part in detection.segments or () if part.label == "ai"]
    if marked:
        more = f" and {len(marked) - MAX_PASSAGES} more" if len(marked) > MAX_PASSAGES else ""
        yield "marked characters", ", ".join(marked[:MAX_PASSAGES]) + more


def _around(detection: Detection) -> Iterable[tuple[str, str]]:
    for name, parts in (("cleaned", detection.cleaned), ("left out", detection.left_out)):
        kinds = [part.kind for part in parts or ()]
        if kinds:
            yield name, ", ".join(dict.fromkeys(kinds))
    tier = f", {detection.tier}" if detection.tier else ""
    degraded = ", a stand-in: the GPU was out of reach" if detection.degraded else ""
    yield "model", f"{detection.model} {detection.model_version}{tier}{degraded}"
    yield "check", f"{detection.id}, {detection.usage.words_charged} words charged"


def _row(name: str, value: str) -> str:
    return f"  {name.ljust(LABEL_WIDTH)} {safe(value)}"


def _coloured(detection: Detection, text: str) -> str:
    colour = COLOURS.get(detection.verdict or "")
    return click.style(text, fg=colour, bold=True) if colour else text


def _problem(error: InkcloakError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    if not isinstance(error, Problem):
        return {"status": None, "code": error.code, "detail": str(error), "errors": [], "request_id": None}
    return {
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
        "errors": [{"pointer": one.pointer, "code": one.code, "detail": one.detail} for one in error.errors],
        "request_id": error.request_id or None,
    }
