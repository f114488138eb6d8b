"""Inside prose: marks of Markdown and HTML go, links and citation numbers are left out, words stay. Pure.

clean_inline()   block -> block without them, and the ranges that were left out
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from gpujobs.pod.shared.mapped import Mapped

_URL_BODY = r"[^\s<>\"'\[\]{}|\\^`]{1,2000}"
_URL = regex.compile(
    rf"[(<\[]?(?P<url>\b(?:https?://|ftp://|www\.){_URL_BODY}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"
    r"|\[(?:url|email|phone)\])",
    regex.IGNORECASE,
)
_BRACKETS = {"(": ")", "<": ">", "[": "]"}
_TARGET = r"\((?:[^()\s]|\([^()\s]{0,300}\)){0,1000}(?:\s+\"[^\"\n]{0,200}\")?\)"
_LINK = regex.compile(rf"(?P<image>!?)\[(?P<text>[^\[\]]{{0,300}})\](?P<target>{_TARGET}|\[[^\[\]]{{0,80}}\])")
_CITATION = regex.compile(
    r"\[(?:[1-9]\d{0,2}(?:\s*[,;\-\u2013]\s*[1-9]\d{0,2}){0,20}|\^[\w-]{1,20}|citation\s+needed|cita\s+requerida)\]"
)
_TAG = regex.compile(r"</?(?:b|i|em|strong|a|span|u|s|sub|sup|code|font|small)(?:\s[^<>]{0,300})?/?>", regex.IGNORECASE)
_BREAK_TAG = regex.compile(
    r"(?:</?(?:p|br|div|li|ul|ol|h[1-6]|blockquote|hr)(?:\s[^<>]{0,300})?/?>\s*)+", regex.IGNORECASE
)
_ENTITY = regex.compile(r"&(?:nbsp|amp|lt|gt|quot|apos|hellip|[mn]dash|[lr][sd]quo|#39|#x27|#8217);")
_ENTITIES = {"nbsp": " ", "amp": "&", "lt": "<", "gt": ">", "quot": '"', "ldquo": '"', "rdquo": '"', "hellip": "..."}
_ENTITIES |= {"mdash": "\u2014", "ndash": "\u2013"}
_EMPHASIS = regex.compile(r"\*{1,3}|_{1,3}|~~|`{1,3}")
_ESCAPE = regex.compile(r"\\(?=[*_`\[\]()#>~|\\])")
_TRAILING = ".,;:!?'\")*_\u2026"
_PUNCTUATION = set(".,;:!?)")


@dataclass(frozen=True, slots=True)
class Gap:
    """Characters [begin, end) of a block that are not read; kind "markup", or the kind they are left out as."""

    begin: int
    end: int
    kind: str


def clean_inline(block: Mapped, counts: "Counter[str]") -> tuple[Mapped, list[tuple[str, int, int]]]:
    """The block without marks, links and citation numbers.

    Returns it with (kind, start, end) of what was left out, in code points of the original; counts "markup".
    """
    block = _unescaped(block, counts)
    gaps = _disjoint(sorted(_gaps(block.text), key=lambda gap: (gap.begin, -gap.end)))
    if not gaps:
        return block, []
    left_out = [(gap.kind, block.starts[gap.begin], block.ends[gap.end - 1]) for gap in gaps if gap.kind != "markup"]
    counts["markup"] += sum(gap.end - gap.begin for gap in gaps if gap.kind == "markup")
    return block.without([_widened(block.text, gap) for gap in gaps]), left_out


def _unescaped(block: Mapped, counts: "Counter[str]") -> Mapped:
    """Tags that break lines as spaces, and entities of HTML as their characters."""
    if "<" in block.text:
        block = block.rewrite(_BREAK_TAG, lambda match: _counted(" ", match[0], counts))
    if "&" in block.text:
        block = block.rewrite(_ENTITY, lambda match: _counted(_ENTITIES.get(match[0][1:-1], "'"), match[0], counts))
    return block


def _counted(new: str, old: str, counts: "Counter[str]") -> str:
    counts["markup"] += sum(not c.isspace() for c in old)
    return new


def _gaps(text: str) -> Iterator[Gap]:
    if "[" in text:
        yield from _links(text)
        yield from (Gap(*m.span(), "reference") for m in _CITATION.finditer(text))
    for match in _URL.finditer(text):
        yield _url(text, match)
    if "<" in text:
        yield from (Gap(*m.span(), "markup") for m in _TAG.finditer(text))
    if "\\" in text:
        yield from (Gap(*m.span(), "markup") for m in _ESCAPE.finditer(text))
    yield from _emphasis(text)


def _links(text: str) -> Iterator[Gap]:
    for match in _LINK.finditer(text):
        if match["image"]:
            yield Gap(*match.span(), "url")
            continue
        if match["text"].isdigit():  # "[3](https://…)": a citation number that links to its source
            yield Gap(*match.span(), "reference")
            continue
        yield Gap(match.start(), match.start("text"), "markup")
        yield Gap(match.end("text"), match.start("target"), "markup")
        yield Gap(*match.span("target"), "url")


def _url(text: str, match: "regex.Match[str]") -> Gap:
    """Without the punctuation of the sentence around it, but with brackets that hold nothing else."""
    begin, end = match.span("url")
    while end > begin + 1 and text[end - 1] in _TRAILING and not (text[end - 1] == ")" and "(" in text[begin:end]):
        end -= 1
    closing = _BRACKETS.get(text[match.start()], "") if match.start() < begin else ""
    if closing and text[end : end + 1] == closing:
        return Gap(match.start(), end + 1, "url")
    return Gap(begin, end, "url")


def _emphasis(text: str) -> Iterator[Gap]:
    """Pairs of equal marks which open before a word and close after one."""
    opened: dict[str, int] = {}
    for match in _EMPHASIS.finditer(text):
        begin, end = match.span()
        before, after = text[begin - 1 : begin] or " ", text[end : end + 1] or " "
        mark = match[0]
        if before == "\\":
            continue
        tight = mark[0] == "_" or len(mark) == 1
        closes = not before.isspace() and not (tight and after.isalnum())
        opens = not after.isspace() and not (tight and before.isalnum())
        if closes and mark in opened:
            at = opened.pop(mark)
            yield Gap(at, at + len(mark), "markup")
            yield Gap(begin, end, "markup")
        elif opens:
            opened[mark] = begin


def _disjoint(gaps: list[Gap]) -> list[Gap]:
    """The first of overlapping ones wins."""
    kept: list[Gap] = []
    for gap in gaps:
        if gap.end > gap.begin and (not kept or gap.begin >= kept[-1].end):
            kept.append(gap)
    return kept


def _widened(text: str, gap: Gap) -> tuple[int, int]:
    """With the blanks before it, where otherwise a blank would stand before punctuation."""
    if gap.kind == "markup":
        return gap.begin, gap.end
    begin = gap.begin
    after = text[gap.end : gap.end + 1]
    if not after or after in _PUNCTUATION:
        while begin and text[begin - 1].isspace():
            begin -= 1
    return begin, gap.end
