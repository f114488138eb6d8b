"""How people disguise a text without rewriting it, or damage it in passing: attacks for training and evaluation.

    ATTACKS              name -> attack: (text, rng, language) -> text
    RAID_ATTACKS         those of the RAID benchmark, with its names and rates
    TRANSFORMS_OF_FORM   those that leave every word as it was: no verdict may change by them

RAID: Dugan et al. 2024, "RAID: A Shared Benchmark for Robust Evaluation of Machine-Generated Text Detectors", ACL 2024,
section on adversarial attacks; its two attacks that need a language model (paraphrase, synonym) are not here.
Every attack is pure, gives the same for the same seed, and raises on no text. language: ISO 639-1.
May be imported by: training and evaluation. Imports numpy, shared.sentences, attacks_form, attacks_words.
"""

import re
from collections.abc import Callable

import numpy as np

from gpujobs.pod import attacks_form as form
from gpujobs.pod.attacks_form import pick, replace_some
from gpujobs.pod.attacks_words import AMERICAN_BRITISH, ARTICLES, KEY_NEIGHBOURS, LOOKALIKES, MISSPELT
from gpujobs.pod.shared.sentences import sentence_spans

Attack = Callable[[str, np.random.Generator, str], str]

# RAID's rates.
ARTICLE_SHARE = 0.5
DIGIT_SHARE = 0.5
PARAGRAPH_SHARE = 0.5  # of the borders between sentences
FLIPPED_WORD_SHARE = 0.05
EXTRA_SPACE_SHARE = 0.2
MISSPELT_WORD_SHARE = 0.2

SLIP_MIN_LETTERS = 4  # a shorter word is misspelt only as the table has it

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"[0-9]")
_FIRST_LETTER = re.compile(r"(?<![\w'\u2019])[^\W\d_]")
_ARTICLES = {
    language: re.compile(rf"(?<![\w'\u2019-])(?:{'|'.join(words.split())}) +(?=\S)", re.IGNORECASE)
    for language, words in ARTICLES.items()
}
_OTHER_SPELLING = AMERICAN_BRITISH | {british: american for american, british in AMERICAN_BRITISH.items()}
_SURROGATE = re.compile(r"[\ud800-\udfff]")


# --- words ---------------------------------------------------------------------------------------------------------


def alternative_spelling(text: str, rng: np.random.Generator, language: str) -> str:
    """Every American spelling becomes the British one, and the reverse; English alone has them."""
    if language != "en":
        return text
    return _WORD.sub(lambda match: _spelt_otherwise(match[0]), text)


def _spelt_otherwise(word: str) -> str:
    other = _OTHER_SPELLING.get(word.lower())
    return _cased_like(word, other) if other else word


def article_deletion(text: str, rng: np.random.Generator, language: str) -> str:
    """Half of the articles, with the space after them, are gone."""
    pattern = _ARTICLES.get(language)
    return replace_some(pattern, text, ARTICLE_SHARE, rng, lambda _: "") if pattern else text


def misspelling(text: str, rng: np.random.Generator, language: str) -> str:
    """A fifth of the words misspelt: as people commonly do where the table has the word, else by a slip of the finger.

    RAID takes the words that a language model finds likeliest; here they are drawn.
    """
    table = MISSPELT.get(language, {})
    words = list(_WORD.finditer(text))
    able = [i for i, word in enumerate(words) if word[0].lower() in table or len(word[0]) >= SLIP_MIN_LETTERS]
    count = min(len(able), int(len(words) * MISSPELT_WORD_SHARE))
    drawn = {able[i] for i in rng.choice(len(able), count, replace=False)}
    order = iter(range(len(words)))
    return _WORD.sub(lambda match: _misspelt(match[0], table, rng) if next(order) in drawn else match[0], text)


def _misspelt(word: str, table: dict[str, tuple[str, ...]], rng: np.random.Generator) -> str:
    known = table.get(word.lower())
    return _cased_like(word, pick(known, rng)) if known else _slip(word, rng)


def _slip(word: str, rng: np.random.Generator) -> str:
    """Two letters exchanged, one doubled, missing, or the key beside it; never the first, and never the same word."""
    at = int(rng.integers(1, len(word) - 1))
    head, char, after, tail = word[:at], word[at], word[at + 1], word[at + 2 :]
    kind = int(rng.integers(4))
    if kind == 0 and char != after:
        return head + after + char + tail
    if kind == 1:
        return head + char + char + after + tail
    if kind == 2 and char in KEY_NEIGHBOURS:
        return head + pick(KEY_NEIGHBOURS[char], rng) + after + tail
    return head + after + tail


def _cased_like(word: str, new: str) -> str:
    """`new`, which is in small letters, in the case of `word`."""
    if word.isupper() and len(word) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if word[0].isupper() else new


# --- characters ----------------------------------------------------------------------------------------------------


def homoglyph(text: str, rng: np.random.Generator, language: str) -> str:
    """Every letter that has a Cyrillic or Greek twin becomes it."""
    return "".join(pick(LOOKALIKES[char], rng) if char in LOOKALIKES else char for char in text)


def number_swap(text: str, rng: np.random.Generator, language: str) -> str:
    """Half of the digits become another digit."""
    return replace_some(_DIGIT, text, DIGIT_SHARE, rng, lambda match: pick("0123456789".replace(match[0], ""), rng))


def upper_lower(text: str, rng: np.random.Generator, language: str) -> str:
    """One in twenty words has the case of its first letter swapped."""
    return replace_some(_FIRST_LETTER, text, FLIPPED_WORD_SHARE, rng, lambda match: match[0].swapcase())


def whitespace(text: str, rng: np.random.Generator, language: str) -> str:
    """A space is added at a fifth as many places as there are spaces, drawn with replacement: some get several."""
    parts = text.split(" ")
    drawn = rng.integers(max(1, len(parts) - 1), size=int((len(parts) - 1) * EXTRA_SPACE_SHARE))
    extra = np.bincount(drawn, minlength=len(parts))
    return " ".join(part + " " * int(more) for part, more in zip(parts, extra, strict=True))


def zero_width(text: str, rng: np.random.Generator, language: str) -> str:
    """A zero-width space after every character."""
    return "".join(f"{char}\u200b" for char in text)


def lower_case(text: str, rng: np.random.Generator, language: str) -> str:
    """The whole text in small letters."""
    return text.lower()


def paragraph_insertion(text: str, rng: np.random.Generator, language: str) -> str:
    """An empty line at half of the borders between sentences of one paragraph."""
    spans = sentence_spans(_SURROGATE.sub("?", text), language)  # the splitter takes whole characters only
    borders = [start for start, _ in spans[1:] if text[start - 1] == " "]
    drawn = {borders[i] for i in rng.choice(len(borders), int(len(borders) * PARAGRAPH_SHARE), replace=False)}
    return "".join(("\n\n" if start in drawn else "") + text[start:end] for start, end in spans)


def _named(*attacks: Attack) -> dict[str, Attack]:
    return {attack.__name__: attack for attack in attacks}


_RAID: dict[str, Attack] = _named(
    alternative_spelling, article_deletion, homoglyph, misspelling, number_swap, paragraph_insertion, upper_lower,
    whitespace, zero_width,
)  # fmt: skip
RAID_ATTACKS: tuple[str, ...] = tuple(_RAID)

TRANSFORMS_OF_FORM: dict[str, Attack] = _named(
    form.bom_and_controls, form.dashes, form.hard_wrap, form.ligatures, form.line_end_hyphenation, form.markdown,
    form.nbsp, form.paragraph_merge, form.punctuation_spacing, form.smart_quotes, form.soft_hyphen,
    form.trailing_spaces, paragraph_insertion, whitespace, zero_width,
)  # fmt: skip

ATTACKS: dict[str, Attack] = _RAID | _named(lower_case) | TRANSFORMS_OF_FORM
