"""Words divided at a line's end: joined again, and real compounds kept. Pure; imports mapped alone.

"exam-\\nple" becomes "example". The hyphen stays (and only the line end goes) when the text itself shows a compound:
the hyphenated word occurs elsewhere, a part is one that mostly makes compounds ("well-\\nknown", "state-of-the-\\nart"),
or both parts occur as words of their own while the joined word does not.
"""

from collections import Counter

import regex

from gpujobs.pod.shared.mapped import Mapped

_DIVIDED = regex.compile(r"(?<![\p{L}\-])(?:\p{L}++-(?=\p{L}))*+\p{L}++(?:-[ \t]*+\n[ \t]*+\p{Ll}\p{L}*+(?:-\p{L}++)*+)++-?+")
_BREAK = regex.compile(r"-[ \t]*\n[ \t]*")
_WORDS = regex.compile(r"\p{L}+(?:-\p{L}+)*")
_HEADS = frozenset(
    "well self half high low long short full part cross all ever far fast first second third two three four five six seven "
    "eight nine ten one single double open free hard left right middle mid large small old new non ex vice post pre anti "
    "state step mother father brother sister peer real world re co e multi".split()
)
_TAILS = frozenset(
    "known based like term time year old made up in out off down level scale range free of the to and by driven related "
    "oriented specific wide class quality half century sized minded called being style friendly aware art date law".split()
)


def join_hyphenated(mapped: Mapped, counts: "Counter[str]") -> Mapped:
    """The text without divided words; counts them as "hyphenation". Compounds keep their hyphen on one line."""
    if "-\n" not in mapped.text and "- \n" not in mapped.text and "-\t\n" not in mapped.text:
        return mapped
    if not _DIVIDED.search(mapped.text):
        return mapped
    words = Counter(word.lower() for word in _WORDS.findall(mapped.text))

    return mapped.rewrite(_DIVIDED, lambda match: _join(match[0], words, counts))


def _join(divided: str, words: "Counter[str]", counts: "Counter[str]") -> str:
    """A word over two or more lines, on one."""
    first, *rest = _BREAK.split(divided)
    parts = [first]
    for part in rest:
        counts["hyphenation"] += 1
        goes_on = "-" in part
        parts += ("-" if _is_compound(parts[-1].lower(), part.partition("-")[0].lower(), goes_on, words) else "", part)
    return "".join(parts)


def _is_compound(head: str, tail: str, goes_on: bool, words: "Counter[str]") -> bool:
    if "-" in head or goes_on or words[f"{head}-{tail}"]:
        return True
    if words[head + tail]:
        return False
    return head in _HEADS or tail in _TAILS or (words[head] > 1 and words[tail] > 1)
