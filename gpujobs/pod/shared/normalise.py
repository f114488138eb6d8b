"""The one way in which a text is cleaned before anything reads it, with an exact map back to the original.

    characters()   single characters, emoji joiners, marks, look-alikes; keeps lines, tabs and runs of spaces
    layout()       line-end hyphenation, dashes, dots, spaces, spaces around punctuation
    normalise()    both, until nothing changes any more

Training, evaluation, pod and site call it alike: whatever it changes is invisible to the model, so that typography
and disguise carry no label. prose.py finds prose between the two steps.
Pure; imports folding, hyphenation, lookalikes, mapped, punctuation.
Kinds of `cleaned`: see KINDS. Case is kept. Offsets are code points of the original.
"""

import unicodedata
from array import array
from collections import Counter
from dataclasses import dataclass

import regex

from gpujobs.pod.shared.folding import EMOJI_JOINERS, FLAG_TAGS, fold
from gpujobs.pod.shared.hyphenation import join_hyphenated
from gpujobs.pod.shared.lookalikes import replace_lookalikes
from gpujobs.pod.shared.mapped import Mapped
from gpujobs.pod.shared.punctuation import space_punctuation

NORMALISER_VERSION = "2"
KINDS = (
    "invisible", "control", "surrogate", "soft_hyphen", "lookalike", "full_width", "styled", "ligature",
    "compatibility", "combining", "space", "quote", "dash", "ellipsis", "hyphenation", "markup",
)  # fmt: skip

MAX_ROUNDS = 4  # a second round finds nothing in any ordinary text; the limit bounds hostile ones
MAX_MARKS = 4  # marks kept on a letter of a script that needs them; Latin letters keep only what NFC composes
MARKS_READ = 16  # marks of one letter that are looked at: normalising an endless row of them is quadratic


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How often one kind of thing was cleaned: characters replaced or removed (for hyphenation: words joined)."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Normalised:
    """text: clean.  starts, ends: (len(text),) ranges of the original in code points, both non-decreasing."""

    text: str
    starts: "array[int]"
    ends: "array[int]"
    cleaned: tuple[Cleaned, ...]


def clean_characters(text: str, counts: "Counter[str]") -> Mapped:
    """characters() until nothing changes any more: what prose.py starts from."""
    mapped = Mapped.of(text)
    for _ in range(MAX_ROUNDS):
        before = mapped.text
        mapped = characters(mapped, counts)
        if mapped.text == before:
            break
    return mapped


def normalise(text: str) -> Normalised:
    """The clean text; normalising it again changes nothing. Never raises, whatever the characters."""
    counts: Counter[str] = Counter()
    mapped = Mapped.of(text)
    for _ in range(MAX_ROUNDS):
        before = mapped.text
        mapped = layout(characters(mapped, counts), counts)
        if mapped.text == before:
            break
    return Normalised(mapped.text, mapped.starts, mapped.ends, tally(counts))


def tally(counts: "Counter[str]") -> tuple[Cleaned, ...]:
    """In the order of KINDS, without zeros."""
    return tuple(Cleaned(kind, counts[kind]) for kind in KINDS if counts[kind])


# --- single characters -------------------------------------------------------------------------------------------

_LINE_END = regex.compile(r"\r\n?")
_EMOJI = r"[\p{Extended_Pictographic}--[\u203c\u2049\u2122\u2139\u24c2\u3297\u3299\U0001f170-\U0001f189]]"
_FACE = rf"{_EMOJI}[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
_FLAG = r"\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f"
_JOINED = regex.compile(
    rf"(?P<keep>{_FLAG}|{_FACE}(?:\u200d{_FACE})*|[0-9#*]\ufe0f(?=\u20e3))|[{EMOJI_JOINERS}{FLAG_TAGS}]+", regex.V1
)
_MARK = r"[\p{M}--[\ufe0e\ufe0f]]"
_CLUSTER = regex.compile(rf"(?P<base>[^\p{{M}}]|[\ufe0e\ufe0f])?+(?P<marks>{_MARK}+)", regex.V1)
_LATIN_OR_COMMON = regex.compile(r"[\p{Latin}\p{Common}\ufe0e\ufe0f]")
_CONTEXTUAL = set(EMOJI_JOINERS + FLAG_TAGS)
_KEYCAP = "\u20e3"


def characters(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    """Everything that concerns single characters; adds to `counts`. Lines, tabs and runs of spaces are kept."""
    if "\r" in mapped.text:
        mapped = mapped.rewrite(_LINE_END, lambda _: "\n")
    found = Counter(mapped.text)
    mapped = _fold(mapped, found, counts)  # first: an invisible character between a face and its selector parts none
    if found.keys() & _CONTEXTUAL:
        mapped = _drop_loose_joiners(mapped, counts)
    if mapped.text.isascii():
        return mapped
    present = set(mapped.text)
    if any(unicodedata.category(c)[0] == "M" for c in present):
        mapped = mapped.rewrite(_CLUSTER, lambda match: _cluster(match, counts))
        present = set(mapped.text)
    mapped, replaced = replace_lookalikes(mapped, present)
    counts["lookalike"] += replaced
    return mapped


def _drop_loose_joiners(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    def replace(match: "regex.Match[str]") -> str | None:
        if match["keep"] is not None:
            return None
        counts["invisible"] += len(match[0])
        return ""

    return mapped.rewrite(_JOINED, replace)


def _fold(mapped: Mapped, found: "Counter[str]", counts: "Counter[str]") -> Mapped:
    """Characters that become others wherever they stand."""
    table: dict[str, str] = {}
    for char, times in found.items():
        folded = None if char in _CONTEXTUAL else fold(char)
        if folded is not None:
            table[char] = folded[0]
            counts[folded[1]] += times
    if not table:
        return mapped
    one = "[" + "".join(map(regex.escape, table)) + "]"
    removed = "".join(map(regex.escape, (char for char, new in table.items() if not new)))
    pattern = regex.compile(rf"[{removed}]+|{one}" if removed else one, cache_pattern=False)
    return mapped.rewrite(pattern, lambda match: table[match[0][0]])


def _cluster(match: "regex.Match[str]", counts: "Counter[str]") -> str:
    """A base and its marks, composed. Latin letters and signs lose what does not compose: it is decoration."""
    base, marks = match["base"] or "", match["marks"]
    keep = _KEYCAP if base == "\ufe0f" and marks[0] == _KEYCAP else ""
    if not base or base.isspace() or keep:
        counts["combining"] += len(marks) - len(keep)
        return base + keep
    if not _LATIN_OR_COMMON.match(base):
        counts["combining"] += max(0, len(marks) - MAX_MARKS)
        return unicodedata.normalize("NFC", base + marks[:MAX_MARKS])
    new = unicodedata.normalize("NFC", base + marks[:MARKS_READ])[0]
    used = len(unicodedata.normalize("NFD", new)) - len(unicodedata.normalize("NFD", base))
    counts["combining"] += len(marks) - used
    return new


# --- layout ------------------------------------------------------------------------------------------------------

_DASH = regex.compile(r"[ \t]*[\u2013\u2014]+(?:[ \t]*[\u2013\u2014]+)*[ \t]*")
_DOUBLE_HYPHEN = regex.compile(r"(?<=[^\s\-])(?:[ \t]+-{2,3}(?=\s|\Z)|-{2,3}(?!-))[ \t]*")
_DOTS = regex.compile(r"(?<!\.)\.(?:[ \t]\.){2,}(?!\.)")
_BLANKS = regex.compile(r"[ \t]*\n[ \t\n]*|[ \t]{2,}|\t")
_ENDS = regex.compile(r"\A\s+|(?<!\s)\s+\Z")
_CLOSING = set(".,;:!?)]}%\n")


def layout(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    """Hyphenation, dashes, dots and spaces; adds to `counts`. Single line ends stay, blank lines become one."""
    mapped = join_hyphenated(mapped, counts)
    if "\u2013" in mapped.text or "\u2014" in mapped.text:
        mapped = mapped.rewrite(_DASH, lambda match: _dash(match, counts))
    if "--" in mapped.text:
        mapped = mapped.rewrite(_DOUBLE_HYPHEN, lambda match: _dash(match, counts))
    if ". ." in mapped.text:
        mapped = mapped.rewrite(_DOTS, lambda match: "." * match[0].count("."))
    mapped = mapped.rewrite(_BLANKS, _blank)
    return space_punctuation(mapped.trimmed())


def _dash(match: "regex.Match[str]", counts: "Counter[str]") -> str:
    """A hyphen with spaces around it, as plain typewriting has it; a range of numbers ("1914–18") has none."""
    counts["dash"] += sum(not c.isspace() for c in match[0])
    text, (begin, end) = match.string, match.span()
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if before.isdigit() and after.isdigit() and match[0] == "\u2013":
        return "-"
    left = "" if before in ("", "\n") else " "
    return left + "-" + ("" if not after or after in _CLOSING else " ")


def _blank(match: "regex.Match[str]") -> str:
    return "\n" * min(match[0].count("\n"), 2) or " "
