"""What a single line looks like: a list item, the end of a sentence, an entry of a bibliography. Pure."""

import regex

REFERENCE_MIN_ENTRIES = 2  # of a list of sources without a heading

_BULLET = regex.compile(
    r"\s*(?:[-+*\u2022\u2023\u25aa\u25cf\u25cb\u25e6\u25a0\u25a1\u2219\u00b7\u27a2\u2713\u2714\u2013]"
    r"|\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{1,4}|\d{1,3})\)|\#{1,6})[ \t]+(?=\S)"
)
_CHECKBOX = regex.compile(r"\[[ xX]\][ \t]+")
_SENTENCE_END = regex.compile(r"[.!?\u3002]['\"*_)\]]*(?:\[\d{1,3}\])?\s*$")


def bullet(line: str) -> int:
    """Length of the list mark that opens a line, with the space after it; 0 without one."""
    match = _BULLET.match(line)
    if not match:
        return 0
    box = _CHECKBOX.match(line, match.end())
    return box.end() if box else match.end()


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
