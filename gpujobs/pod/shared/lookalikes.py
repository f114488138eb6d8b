"""Latin words written with letters of other scripts: which are look-alike attacks, and which are real words.

A letter is replaced only inside a word that mixes scripts, or as a whole word when the rest of the text betrays it:
- mixed word ("pаper" with a Cyrillic а): all its look-alikes become Latin, if every foreign letter of it is a
  look-alike or Latin letters are at least as many. No language mixes Greek and Cyrillic in one word: "ΡЕΡ" is mixed.
  Greek small letters (α, γ, ν …) count only in words that have a small Latin letter, or when several such words stand
  in the text, so that TNFα, αSYN and γδT stay.
- a word wholly of look-alikes ("сору", the article "а"): only in a text that is mostly Latin, not beside a real word
  of its script (unless mixed words abound), and only with evidence: mixed words of its script, several of any script,
  or, for words of one letter, no real word of that script at all. Lone Greek letters are mathematics unless several
  mixed words stand elsewhere; small ones unless those hold Greek small letters.
- a word with a letter that looks like no Latin one ("Москва", "кот") is a real word and stays.
Pure. Imports only the table.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass, field

import regex

from gpujobs.pod.shared.confusables import CONFUSABLE, IDENTICAL, LATIN_CONFUSABLE
from gpujobs.pod.shared.mapped import Mapped

MIN_MIXED = 2  # words of any script; fewer leave lone Greek letters as symbols
MIN_SMALL_GREEK = 2  # mixed words with Greek small letters; fewer leave those beside capitals, or alone, as symbols
MIN_ABOUNDING = 5  # mixed words, and more than real foreign ones: then a real word next door proves nothing
MIN_WHOLE_WORDS = 3  # words wholly of look-alikes that are evidence by themselves, without a real word of the script
LATIN_WORDS_PER_FOREIGN = 2  # a text counts as Latin from this ratio on

# Scripts written without spaces end a word: "to吞噬" is a Latin word and a Chinese one.
_LETTERS = r"[[\p{L}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]+"
_WORD = regex.compile(rf"{_LETTERS}(?:'{_LETTERS})*", regex.V1)
_LATIN = regex.compile(r"\p{Latin}")
_GREEK, _CYRILLIC = regex.compile(r"\p{Greek}"), regex.compile(r"\p{Cyrillic}")
_ALL = CONFUSABLE.keys() | LATIN_CONFUSABLE.keys()


@dataclass
class _Evidence:
    """What the words of one text are. mixed, whole, real: words by script; `mixed_words` counts each mixed one once.

    small_greek: mixed words with Greek small letters.  real_at: script of the real foreign words by their position in
    the row of all words.
    """

    latin: int = 0
    mixed_words: int = 0
    small_greek: int = 0
    mixed: "Counter[str]" = field(default_factory=Counter)
    whole: "Counter[str]" = field(default_factory=Counter)
    real: "Counter[str]" = field(default_factory=Counter)
    real_at: dict[int, str] = field(default_factory=dict)

    def mostly_latin(self) -> bool:
        return self.latin + self.mixed_words >= LATIN_WORDS_PER_FOREIGN * self.real.total()

    def beside_real(self, position: int, script: str) -> bool:
        """Whether a real word of the script is a neighbour, in a text whose mixed words are few."""
        if self.mixed_words >= MIN_ABOUNDING and self.mixed_words > self.real.total():
            return False
        return script in (self.real_at.get(position - 1), self.real_at.get(position + 1))

    @property
    def symbols(self) -> bool:
        """Whether Greek small letters beside capitals, or alone, are signs of science."""
        return self.small_greek < MIN_SMALL_GREEK


def replace_lookalikes(mapped: Mapped, characters: set[str]) -> tuple[Mapped, int]:
    """The text with its look-alikes in Latin, and their number. `characters`: those that occur in it."""
    if not characters & _ALL:
        return mapped, 0
    foreign = {c for c in characters if ord(c) > 0x17F and c.isalpha() and not _LATIN.match(c)}
    foreign |= characters & LATIN_CONFUSABLE.keys()
    words, evidence = _survey(mapped.text, foreign)
    new_words = {span: _resolve(word, position, evidence) for position, span, word in words}
    changed = {span: new for span, new in new_words.items() if new is not None}
    if not changed:
        return mapped, 0
    count = sum(old != new for (b, e), w in changed.items() for old, new in zip(mapped.text[b:e], w, strict=True))
    return _substitute(mapped, changed), count


def _survey(text: str, foreign: set[str]) -> tuple[list[tuple[int, tuple[int, int], str]], _Evidence]:
    """All words with a foreign letter, as (position among words, span, word), and what they show together."""
    evidence, words, position = _Evidence(), [], -1
    for position, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        if foreign.isdisjoint(word):
            evidence.latin += 1
            continue
        words.append((position, match.span(), word))
        script = _script(word)
        if _mixed(word) is not None:
            evidence.mixed[script] += 1
            evidence.mixed_words += 1
            evidence.small_greek += any("α" <= c <= "ώ" and c != "ο" for c in word)
        elif all(c in IDENTICAL or not c.isalpha() for c in word):
            evidence.whole[script] += 1
        elif not any(_LATIN.match(c) for c in word):
            evidence.real[script] += 1
            evidence.real_at[position] = script
    return words, evidence


def _script(word: str) -> str:
    """Name of the script of the first letter which is not Latin; "LATIN" for small capitals and the like."""
    letter = next((c for c in word if c.isalpha() and not _LATIN.match(c)), "a")
    return unicodedata.name(letter, "UNKNOWN").split()[0]


def _mixed(word: str, symbols: bool = True) -> str | None:
    """The Latin word behind a word of mixed script, or None when it is none. symbols: Greek ones are to be spared."""
    latin = [c for c in word if _LATIN.match(c)]
    foreign = [c for c in word if c.isalpha() and not _LATIN.match(c)]
    if all(c in LATIN_CONFUSABLE for c in latin):
        return _of_two_scripts(word) if not latin else None
    known = [c for c in foreign if c in CONFUSABLE]
    if not foreign:
        return word.translate(_LATIN_TABLE)
    if len(known) < len(foreign) and len(latin) < len(foreign):
        return None
    new = "".join(_letter(word, i, symbols) for i in range(len(word)))
    return new if new != word else None


def _of_two_scripts(word: str) -> str | None:
    """The Latin word behind one that mixes Greek and Cyrillic and has no Latin letter: all are look-alikes."""
    if not (_GREEK.search(word) and _CYRILLIC.search(word)) or any(c.isalpha() and c not in CONFUSABLE for c in word):
        return None
    return word.translate(_CONFUSABLE_TABLE)


def _letter(word: str, i: int, symbols: bool) -> str:
    char = word[i]
    if char in LATIN_CONFUSABLE:
        return LATIN_CONFUSABLE[char]
    if symbols and "α" <= char <= "ώ" and char != "ο" and not any(c.islower() and _LATIN.match(c) for c in word):
        return char
    return CONFUSABLE.get(char, char)


def _resolve(word: str, position: int, evidence: _Evidence) -> str | None:
    mixed = _mixed(word, evidence.symbols)
    if mixed is not None:
        slip = _mostly_foreign(word) and evidence.beside_real(position, _script(word))
        return None if slip or mixed == word else mixed
    if not all(c in IDENTICAL or not c.isalpha() for c in word) or not evidence.mostly_latin():
        return None
    if evidence.beside_real(position, _script(word)) or not _betrayed(word, evidence):
        return None
    return word.translate(_IDENTICAL_TABLE)


def _mostly_foreign(word: str) -> bool:
    """Beside real words of its script, such a word has a slip of the keyboard in it ("Mосква" with a Latin M)."""
    return sum(c in CONFUSABLE for c in word) > sum(bool(_LATIN.match(c)) for c in word)


def _betrayed(word: str, evidence: _Evidence) -> bool:
    """Whether the rest of the text shows that a word wholly of look-alikes is meant to be Latin."""
    script = _script(word)
    if script == "GREEK" and len(word) == 1:
        return evidence.mixed_words >= MIN_MIXED and not (word.islower() and evidence.symbols)
    if evidence.mixed[script] or evidence.mixed_words >= MIN_MIXED:
        return True
    if evidence.real[script]:
        return False
    return len(word) == 1 or evidence.whole[script] >= MIN_WHOLE_WORDS


def _substitute(mapped: Mapped, words: dict[tuple[int, int], str]) -> Mapped:
    """Letter for letter: the map does not change."""
    texts: list[str] = []
    last = 0
    for (begin, end), word in words.items():
        texts += (mapped.text[last:begin], word)
        last = end
    texts.append(mapped.text[last:])
    return Mapped("".join(texts), mapped.starts, mapped.ends)


_CONFUSABLE_TABLE = str.maketrans(CONFUSABLE)
_LATIN_TABLE = str.maketrans(LATIN_CONFUSABLE)
_IDENTICAL_TABLE = str.maketrans(IDENTICAL)
