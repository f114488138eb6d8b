"""Words divided at a line's end: joined again, and real compounds kept. Pure; imports mapped alone.

"exam-\\nple" becomes "example". The hyphen stays (and only the line end goes) when the text itself shows a compound:
the hyphenated word occurs elsewhere, it has a hyphen already ("state-of-the-\\nart"), or a part is one that mostly
makes compounds ("well-\\nknown", "age-\\nbased").
"""

from collections import Counter

import regex

from gpujobs.pod.shared.mapped import Mapped

_DIVIDED = regex.compile(
    r"(?<![\p{L}\-])(?:\p{L}++-(?=\p{L}))*+\p{L}++"  # a word, from its begin
    r"(?:-[ \t]*+\n[ \t]*+\p{Ll}\p{L}*+(?:-\p{L}++)*+)++-?+"  # and what follows on the next lines
)
_BREAK = regex.compile(r"-[ \t]*\n[ \t]*")
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


def join_hyphenated(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    """The text without divided words; counts them as "hyphenation". Compounds keep their hyphen on one line."""
    if "-\n" not in mapped.text and "- \n" not in mapped.text and "-\t\n" not in mapped.text:
        return mapped
    if not _DIVIDED.search(mapped.text):
        return mapped
    words = Counter(word.lower() for word in _WORDS.findall(_DIVIDED.sub(" ", mapped.text)))

    return mapped.rewrite(_DIVIDED, lambda match: _join(match[0], words, counts))


def _join(divided: str, words: "Counter[str]", counts: "Counter[str]") -> str:
    """A word over two or more lines, on one."""
    first, *rest = _BREAK.split(divided)
    parts = [first]
    for part in rest:
        tail = part.partition("-")[0].lower()
        if part in _SUSPENDED:
            parts += ("- ", part)
            continue
        counts["hyphenation"] += 1
        parts += ("-" if _is_compound(parts[-1].lower(), tail, "-" in part, words) else "", part)
    return "".join(parts)


def _is_compound(head: str, tail: str, goes_on: bool, words: "Counter[str]") -> bool:
    if "-" in head or goes_on or words[f"{head}-{tail}"]:
        return True
    if words[head + tail]:
        return False
    return tail in _TAILS or (head in _HEADS and tail not in _SUFFIXES)
