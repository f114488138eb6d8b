"""Spaces around punctuation as prose has them: none before a mark, one after a comma or a full stop.

    space_punctuation()   "word ." -> "word.", "( word )" -> "(word)", "so,but" -> "so, but", "end.The" -> "end. The"

Kept: " ...", emoticons (":)", "; )"), marks that open something (".NET", "!="), "3 : 4". Spaces are put back between
words alone, never inside numbers, addresses, file names, calls, or abbreviations ("U.S.A", "Ph.D").
Expects single spaces. Pure; imports mapped.
"""

import regex

from gpujobs.pod.shared.mapped import Mapped

CONTEXT_CHARS = 40  # looked at on each side of a mark

_SPACED = (" ,", " .", " ;", " :", " !", " ?", " )", "( ")
_END = r"(?=\s|\Z)"
_BEFORE_MARK = regex.compile(
    r"(?<=[\p{L}\p{M}\p{N}\"')\]%!?._]) (?:"
    rf"(?=(?!\.\.)[.,!?]{{1,3}}[\"')\]]*{_END})(?!(?<=\. )\.)"  # "word ." 'word !"'
    r"|(?=,\p{L})"  # "word ,word"
    rf"|(?=[;:][\"']?{_END})(?![;:] [()DP]{_END})(?!(?<=\d ): \d)"  # "word :" but no "; )" and no "3 : 4"
    r"|(?=\)))"
    r"|(?<![:;=\-]\()(?<=\() (?=[\p{L}\p{N}\"'\u00bf\u00a1])"  # "( word"
)
_COMMA = regex.compile(r",(?=\p{L})")
_STOP = regex.compile(r"[.!?](?=\p{Lu})")
_WORD_BEFORE = regex.compile(r"[\p{L}\p{M}'\-]+\Z")
_WORD_AFTER = regex.compile(r"[\p{L}\p{M}'\-]+")
_NO_PROSE = regex.compile(r"[/\\@=<>{}|#~^`$&+\[\]]|\p{L}\(|\bwww\b")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ONE_LETTER = _set("a e i o u y A E I O U Y")  # words of one letter
_TITLES = _set("Mr Mrs Ms Dr Prof St Sr Sra Srta Dra Vd Ud")
_EXTENSIONS = _set("Net Js Com Org Txt Pdf Md Io Py Html Exe")
_OPENERS = _set(
    "The This That These Those It He She We They You I A An In On At And But So If When While As For To There Then My "
    "His Her Our Their Its What How Why Who Not No Yes After Before However Also One All El La Los Las Un Una En Y "
    "Pero Se Es Por Para De Con Si Que Su Sus Lo No Yo Como Cuando Este Esta Al Del Ella Ellos Mi Me"
)


def space_punctuation(mapped: Mapped) -> Mapped:
    """White space alone changes: a letter or mark is never lost."""
    text = mapped.text
    if any(pair in text for pair in _SPACED):
        mapped = mapped.rewrite(_BEFORE_MARK, lambda _: "")
    mapped = mapped.rewrite(_COMMA, _after_comma)
    return mapped.rewrite(_STOP, _after_stop)


def _after_comma(match: "regex.Match[str]") -> str | None:
    head, tail = _tokens(match)
    before, after = _WORD_BEFORE.search(head), _WORD_AFTER.match(tail)
    if not before or not after or _NO_PROSE.search(head) or _NO_PROSE.search(tail):
        return None
    one, two = before[0], after[0]
    if len(one) == 1 and (one not in _ONE_LETTER or head.strip("\"'(\u00bf\u00a1") != one or len(two) == 1):
        return None
    if len(two) == 1 and (two not in _ONE_LETTER or tail.rstrip(",;:") != two):
        return None
    return ", "


def _after_stop(match: "regex.Match[str]") -> str | None:
    head, tail = _tokens(match)
    before, after = _WORD_BEFORE.search(head), _WORD_AFTER.match(tail)
    if not before or not after or len(before[0]) == 1 or not before[0][-1].islower():
        return None
    one, two, rest = before[0], after[0], tail[after.end() :]
    if _NO_PROSE.search(head) or "." in head or rest[:1] not in ("", ",", ".", ";", ":", "!", "?", '"', ")"):
        return None
    if rest.strip(".,;:!?\"')") or not (two[1:].islower() or two in _ONE_LETTER) or two in _EXTENSIONS:
        return None
    if match[0] == "." and not one.islower() and one not in _TITLES and two.partition("'")[0] not in _OPENERS:
        return None
    return match[0] + " "


def _tokens(match: "regex.Match[str]") -> tuple[str, str]:
    """What stands before and after a mark up to the next spaces, CONTEXT_CHARS at most."""
    text, at = match.string, match.start()
    head = text[max(0, at - CONTEXT_CHARS) : at]
    tail = text[at + 1 : at + 1 + CONTEXT_CHARS]
    return head.split()[-1] if head and not head[-1].isspace() else "", tail.split(None, 1)[0] if tail else ""
