"""What a single line looks like: a list item, the end of a sentence, an entry of a bibliography. Pure."""

from collections.abc import Iterator
from itertools import islice

import regex

MARK_CONTEXT_CHARS = 12  # before a full stop: room for the longest abbreviation
REFERENCE_MIN_ENTRIES = 2  # of a list of sources without a heading

_DOTS = "\u2022\u2023\u25aa\u25cf\u25cb\u25e6\u25a0\u25a1\u2219\u00b7\u27a2\u2713\u2714"
_NUMBER = r"\d{1,3} ?[.)]|\#\.|\(?(?:[a-z]|[ivx]{1,4}|\d{1,3})\)"
_BULLET = regex.compile(rf"\s*(?:[-+*{_DOTS}\u2013]|{_NUMBER}|\#{{1,6}})[ \t]+(?=\S)")
_CHECKBOX = regex.compile(r"\[[ xX]\][ \t]+")
_TOKEN = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}'\u2019\-]*+")
_SENTENCE_END = regex.compile(r"[.!?\u3002]['\"*_)\]]*(?:\[\d{1,3}\])?\s*$")


def bullet(line: str) -> int:
    """Length of the list mark that opens a line, with the space after it; 0 without one."""
    match = _BULLET.match(line)
    if not match:
        return 0
    box = _CHECKBOX.match(line, match.end())
    return box.end() if box else match.end()


_MARK = rf"(?:[\u2013\u2014]++\s*+(?!\d)|-{{1,3}}\s++(?!\d)|[+*]\s++|(?P<number>{_NUMBER})(?:\s++|\Z))"
_INNER_MARKS = regex.compile(rf"[.!?:;]['\")\]]*+\s++(?P<marks>{_MARK}++)(?=\S|\Z)")
_OPENING_MARKS = regex.compile(r"\s*(?:[\u2013\u2014]++\s*+|-{1,3}\s++|[+*]\s++)++(?=\S)")
_INNER_DOTS = regex.compile(rf"(?<!\S)[{_DOTS}]\s*")
_FIRST_NUMBER = regex.compile(r"\(?[1ai] ?\)|1 ?\.")
_ABBREVIATIONS = frozenset(
    regex.split(
        " ",
        "no nr fig figs vol vols pp pg pag p\u00e1g p\u00e1gs chap ch sec sect art arts n\u00fam num cap ed eds "
        "lib ver approx ca jan feb mar apr jun jul aug sep sept oct nov dec st nos par para cf vs",
    )
)


def opening_marks(text: str) -> int:
    """Length of the dashes and stars that open a paragraph, a dialogue for example."""
    match = _OPENING_MARKS.match(text)
    return match.end() if match else 0


def inner_marks(text: str) -> Iterator[tuple[int, int]]:
    """List marks and dashes of dialogue that stand after a sentence inside a line, as they would open the next one."""
    for match in _INNER_MARKS.finditer(text):
        begin, end = match.span("marks")
        if _marks(match):
            yield begin, end


def inner_dots(text: str) -> Iterator[tuple[int, int]]:
    """Bullets wherever they stand: no sentence has them."""
    if not text.isascii() and any(dot in text for dot in _DOTS):
        yield from (match.span() for match in _INNER_DOTS.finditer(text))


def _marks(match: "regex.Match[str]") -> bool:
    """Whether what ends before the marks is a sentence, or announces a list."""
    number, sign, text = match["number"], match[0][0], match.string
    if sign == ":":
        return number is None or bool(_FIRST_NUMBER.fullmatch(number))
    if sign == ";":
        return number is not None and number.endswith(")")
    if sign != ".":
        return match.end() < len(text)  # "How many? 12." is an answer
    before = text[max(0, match.start() - MARK_CONTEXT_CHARS) : match.start()]
    word = _LAST_WORD.search(before)
    if not word:
        return True
    return len(word[0]) > 1 and not (number and word[0].lower() in _ABBREVIATIONS)


_LAST_WORD = regex.compile(r"\p{L}+\Z")


def count_tokens(text: str, limit: int) -> int:
    """Letters or digits in a row, apostrophes and hyphens inside: spacing around punctuation changes nothing.

    limit: where counting stops.
    """
    return sum(1 for _ in islice(_TOKEN.finditer(text), limit))


def ends_sentence(text: str, also: str = "") -> bool:
    """Whether a text ends as sentences do, or with one of the characters in `also`."""
    tail = text[-40:].rstrip()
    return bool(_SENTENCE_END.search(tail)) or (bool(also) and tail.rstrip("*_")[-1:] in set(also))


_TITLES = (
    r"references?(?: list| cited)?|bibliography|works cited|literature(?: cited)?|sources|further reading|citations|"
    r"referencias(?: bibliogr[aá]ficas)?|bibliograf[ií]a|obras citadas|fuentes(?: consultadas)?|literatura citada"
)
REFERENCE_HEADING = regex.compile(rf"[#*_\s\d.]*(?:{_TITLES})[*_:\s]*", regex.IGNORECASE)
REFERENCE_HEADING_LINE = regex.compile(rf"[#*_\s\d.]*(?:{_TITLES})[*_: ]*\n", regex.IGNORECASE)
_YEAR = regex.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b")
_SOURCE_SIGN = regex.compile(
    r"https?://|www\.|\bdoi\b|\bet al\b|\bpp?\.\s?\d|\bvol\.|\(\s*(?:1[6-9]|20)\d\d|\bISBN\b"
    r"|\bRetrieved\b|\bRecuperado\b"
    r"|^\s*\[\d{1,3}\]|\bPress\b|\bJournal\b|\bRevista\b|\bEditorial\b|\b\d+\s?\(\d+\)",
    regex.IGNORECASE,
)
STRONG_ENTRY = regex.compile(
    r"(?:\[\d{1,3}\]\s+\S.{0,400}"  # "[3] …"
    r"|(?:\d{1,3}\.\s+)?[-\p{L}' ]{2,60},\s(?:\p{Lu}\.[\s,&-]*)+.{0,300}?"  # "Smith, J. and others
    r"\((?:1[6-9]|20)\d\d[a-z]?(?:,[^)]{0,20})?\)\.?.{0,400})",  # (2019, May). …"
    regex.DOTALL,
)


def looks_like_entry(line: str) -> bool:
    """An entry of a bibliography: a year or a link, and something that only sources have."""
    head = line[:400]
    return bool(_SOURCE_SIGN.search(head)) and (bool(_YEAR.search(head)) or "http" in head or "www." in head)
