"""Words divided at a line's end: joined again, and real compounds kept. Pure; imports mapped alone.

"exam-\\nple" becomes "example". The hyphen stays (and only the line end goes) when the text itself shows a compound:
the hyphenated word occurs elsewhere, it has a hyphen already ("state-of-the-\\nart"), or a part is one that mostly
makes compounds ("well-\\nknown", "age-\\nbased"). A line end that became a space is undone behind a prefix that is no
word ("multi- dimensional"), and where the whole word occurs elsewhere.
"""

from collections import Counter

import regex

from gpujobs.pod.shared.mapped import Mapped

_DIVIDED = regex.compile(
    r"(?<![\p{L}\-])(?:\p{L}++-(?=\p{L}))*+\p{L}++"  # a word, from its begin
    r"(?:-[ \t]*+\n[ \t]*+\p{Ll}\p{L}*+(?:-\p{L}++)*+)++-?+"  # and what follows on the next lines
)
_BREAK = regex.compile(r"-[ \t]*\n[ \t]*")
# The line end became a space: a prefix, the space, and one more word. The first pattern finds the few texts with any.
_GAP = regex.compile(r"-(?<=\p{L}-)[ \t]++\p{Ll}")
_SPACED = regex.compile(r"(?<![\p{L}\-])(?P<head>\p{L}++)-[ \t]++(?P<tail>\p{Ll}\p{L}++)")
_WORDS = regex.compile(r"\p{L}+(?:-\p{L}+)*")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HEADS = _set(
    "well self high low long short half full cross single double large small old hard left right middle mother father "
    "vice far fast much first second third two three four five six seven eight nine twenty thirty forty fifty "
    "sixty seventy eighty ninety"
)
_TAILS = _set("based driven oriented friendly minded sized century specific looking")
_SUFFIXES = _set("s er ers est ly ish en ened ens ing ings ed age ages ness ary al ally hood ity itude some th")
_SUSPENDED = _set("and or nor to y o e u ni")  # "pre- and post-war": the hyphen ends the word
_PREFIXES = _set(
    "ex multi non anti semi inter intra micro macro mini mono hyper pseudo quasi neo trans tele poly bio socio psycho "
    "un dis re electro hydro auto geo"
)


def join_hyphenated(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    """The text without divided words; counts them as "hyphenation". Compounds keep their hyphen on one line."""
    text = mapped.text
    if "-\n" not in text and "- " not in text and "-\t" not in text:
        return mapped
    divided, spaced = bool(_DIVIDED.search(text)), bool(_GAP.search(text))
    if not divided and not spaced:
        return mapped
    words = Counter(word.lower() for word in _WORDS.findall(_DIVIDED.sub(" ", text)))
    if divided:
        mapped = mapped.rewrite(_DIVIDED, lambda match: _join(match[0], words, counts))
    return mapped.rewrite(_SPACED, lambda match: _close(match, words, counts)) if spaced else mapped


def _join(divided: str, words: "Counter[str]", counts: "Counter[str]") -> str:
    """A word over two or more lines, on one."""
    first, *rest = _BREAK.split(divided)
    parts = [first]
    for part in rest:
        tail = part.partition("-")[0].lower()
        if part in _SUSPENDED and not words[(parts[-1] + part).lower()]:
            parts += ("- ", part)
            continue
        counts["hyphenation"] += 1
        parts += ("-" if _is_compound(parts[-1].lower(), tail, "-" in part, words) else "", part)
    return "".join(parts)


def _close(match: "regex.Match[str]", words: "Counter[str]", counts: "Counter[str]") -> str | None:
    """A word over two lines that were joined by a space; anything else behind a hyphen is a dash typed tightly."""
    head, tail = match["head"].lower(), match["tail"]
    if tail in _SUSPENDED or not (head in _PREFIXES or words[head + tail]):
        return None
    return _join(f"{match['head']}-\n{tail}", words, counts)


def _is_compound(head: str, tail: str, goes_on: bool, words: "Counter[str]") -> bool:
    if "-" in head or goes_on or words[f"{head}-{tail}"]:
        return True
    if words[head + tail]:
        return False
    return tail in _TAILS or (head in _HEADS and tail not in _SUFFIXES)
