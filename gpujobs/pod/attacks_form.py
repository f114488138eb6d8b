"""What changes how a text looks and none of its words: wrapping, typography, invisible characters, Markdown.

    replace_some()   a share of what a pattern finds, replaced: what nearly every attack is made of
    hard_wrap() …    text, rng, language -> text; pure, the same for the same seed, never raising

No verdict may change by any of these: attacks.TRANSFORMS_OF_FORM names them.
May be imported by: attacks. Imports numpy and attacks_words.
"""

import re
import textwrap
from collections.abc import Callable, Iterator

import numpy as np

from gpujobs.pod.attacks_words import HEADINGS

WRAP_COLUMNS = 72
BOLD_WORD_SHARE = 0.05
ITALIC_WORD_SHARE = 0.03
HEADING_SHARE = 0.3  # of paragraphs that get a heading
BULLET_SHARE = 0.3  # of paragraphs that become an item
COMMA_TO_DASH_SHARE = 0.15
DASH_BACK_SHARE = 0.5  # of the dashes that were there before
NO_BREAK_HYPHEN_SHARE = 0.3
NBSP_SHARE = 0.2  # of spaces
SOFT_HYPHEN_SHARE = 0.2  # of words that are long enough
MARK_SHARE = 0.02  # of letters followed by an invisible mark
DIVIDED_SHARE = 0.8  # of line ends where a word can be divided
SPACE_BEFORE_SHARE = 0.15  # of punctuation marks
NO_SPACE_AFTER_SHARE = 0.1  # of commas
DOUBLE_SPACE_SHARE = 0.3  # of sentence ends

_LETTER = r"[^\W\d_]"


def replace_some(
    pattern: re.Pattern[str], text: str, share: float, rng: np.random.Generator, new: Callable[[re.Match[str]], str]
) -> str:
    """The text with a share of the matches, rounded down and drawn without replacement, replaced by `new`."""
    matches = list(pattern.finditer(text))
    pieces: list[str] = []
    last = 0
    for at in sorted(rng.choice(len(matches), int(len(matches) * share), replace=False).tolist()):
        match = matches[at]
        pieces += (text[last : match.start()], new(match))
        last = match.end()
    return "".join((*pieces, text[last:]))


def pick(options: str | tuple[str, ...], rng: np.random.Generator) -> str:
    """One of the strings, or characters of one string, all as likely."""
    return options[int(rng.integers(len(options)))]


# --- layout --------------------------------------------------------------------------------------------------------

_LINE_END = re.compile(r"(?<![ \t])[ \t]*\n\s*")
_LINE_BREAK = re.compile(r"\n|\Z")


def paragraph_merge(text: str, rng: np.random.Generator, language: str) -> str:
    """All line ends become spaces."""
    return _LINE_END.sub(" ", text)


def hard_wrap(text: str, rng: np.random.Generator, language: str) -> str:
    """Each line wrapped at WRAP_COLUMNS, as e-mail is."""
    return "\n".join(
        textwrap.fill(line, WRAP_COLUMNS, break_long_words=False, break_on_hyphens=False) for line in text.split("\n")
    )


def line_end_hyphenation(text: str, rng: np.random.Generator, language: str) -> str:
    """Each line wrapped at WRAP_COLUMNS with words divided between syllables, as print does it."""
    return "\n".join("\n".join(_divided_lines(line.split(" "), rng)) for line in text.split("\n"))


def _divided_lines(words: list[str], rng: np.random.Generator) -> Iterator[str]:
    line = ""
    for word in words:
        room = WRAP_COLUMNS - len(line) - 1
        if not line or len(word) <= room:
            line = f"{line} {word}" if line else word
            continue
        cut = _last_cut(word, room - 1) if rng.random() < DIVIDED_SHARE else 0
        yield f"{line} {word[:cut]}-" if cut else line
        line = word[cut:]
    yield line


_SYLLABLE_END = re.compile(
    r"(?<=[aeiouáéíóúü])(?=[bcdfghjklmnñpqrstvwxz][aeiouáéíóúü])"  # vo-wel
    r"|(?<=[aeiouáéíóúü][lmnrst])(?=[bcdfghjkmnñpqstvwxz][aeiouáéíóúü])"  # con-sonant
)
_DIVISIBLE = re.compile(rf"({_LETTER}{{6,}})[.,;:!?]*")


def _last_cut(word: str, room: int) -> int:
    """Where to divide a word so that its head fits into `room` characters; 0 where it can't be divided."""
    match = _DIVISIBLE.fullmatch(word)
    letters = match[1] if match else ""
    cuts = [m.start() for m in _SYLLABLE_END.finditer(letters) if 2 <= m.start() <= min(room, len(letters) - 3)]
    return cuts[-1] if cuts else 0


def trailing_spaces(text: str, rng: np.random.Generator, language: str) -> str:
    """One to three spaces at the end of each line."""
    return _LINE_BREAK.sub(lambda match: " " * int(rng.integers(1, 4)) + match[0], text)


# --- typography ----------------------------------------------------------------------------------------------------

_OPENING = re.compile(r"(?<![^\s(\[{\u2014\u2013\"'])([\"'])(?=\S)")
_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
_LIGATURE = re.compile("|".join(_LIGATURES))
_LONG_DASH = re.compile(rf"(?<={_LETTER})[ \t]*[\u2013\u2014]+[ \t]*(?={_LETTER})")
_HYPHEN_AS_DASH = re.compile(r"(?<=\w) (?:-|--) (?=\w)")
_COMMA = re.compile(rf"(?<={_LETTER}), (?={_LETTER})")
_HYPHEN = re.compile(rf"(?<={_LETTER})-(?={_LETTER})")
_SPACE = re.compile(r"(?<=\S) (?=\S)")
_BEFORE_MARK = re.compile(r"(?<=\w)(?=[,;:.!?](?:\s|\Z))")
_SENTENCE_SPACE = re.compile(r"(?<=[.!?]) (?=\S)")


def smart_quotes(text: str, rng: np.random.Generator, language: str) -> str:
    """Straight quotes and apostrophes as a word processor sets them; in Spanish half of the texts get guillemets."""
    double = "«»" if language == "es" and rng.random() < 0.5 else "“”"
    text = _OPENING.sub(lambda match: double[0] if match[1] == '"' else "‘", text)
    return text.replace('"', double[1]).replace("'", "’")


def dashes(text: str, rng: np.random.Generator, language: str) -> str:
    """Some dashes become hyphens or commas; hyphens that serve as dashes, and some commas, become dashes."""
    text = replace_some(_LONG_DASH, text, DASH_BACK_SHARE, rng, lambda _: pick((" - ", ", ", " -- "), rng))
    style = pick(("\u2014", " \u2014 ", " \u2013 "), rng)
    text = _HYPHEN_AS_DASH.sub(style, text)
    text = replace_some(_COMMA, text, COMMA_TO_DASH_SHARE, rng, lambda _: style)
    return replace_some(_HYPHEN, text, NO_BREAK_HYPHEN_SHARE, rng, lambda _: pick("\u2010\u2011", rng))


def ligatures(text: str, rng: np.random.Generator, language: str) -> str:
    """ff, fi, fl, ffi and ffl as the single characters that PDF files hold."""
    return _LIGATURE.sub(lambda match: _LIGATURES[match[0]], text)


def nbsp(text: str, rng: np.random.Generator, language: str) -> str:
    """A share of the spaces as no-break, narrow no-break or thin ones."""
    return replace_some(_SPACE, text, NBSP_SHARE, rng, lambda _: pick("\u00a0\u00a0\u202f\u2009", rng))


def punctuation_spacing(text: str, rng: np.random.Generator, language: str) -> str:
    """Some marks with a space before them, some commas without one after them, some sentences two spaces apart."""
    text = replace_some(_SENTENCE_SPACE, text, DOUBLE_SPACE_SHARE, rng, lambda _: "  ")
    text = replace_some(_COMMA, text, NO_SPACE_AFTER_SHARE, rng, lambda _: ",")
    return replace_some(_BEFORE_MARK, text, SPACE_BEFORE_SHARE, rng, lambda _: " ")


# --- what is not seen ----------------------------------------------------------------------------------------------

_LONG_WORD = re.compile(rf"{_LETTER}{{6,}}")
_AFTER_LETTER = re.compile(rf"(?<={_LETTER})(?=\w|[ ,.])")
_MARKS = "\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2069\ufeff"  # joiners, directions, BOM


def soft_hyphen(text: str, rng: np.random.Generator, language: str) -> str:
    """A soft hyphen inside a share of the long words."""

    def divide(match: re.Match[str]) -> str:
        at = int(rng.integers(2, len(match[0]) - 2))
        return f"{match[0][:at]}\u00ad{match[0][at:]}"

    return replace_some(_LONG_WORD, text, SOFT_HYPHEN_SHARE, rng, divide)


def bom_and_controls(text: str, rng: np.random.Generator, language: str) -> str:
    """A byte order mark first, joiners and marks of direction here and there, as copying from web pages brings."""
    return "\ufeff" + replace_some(_AFTER_LETTER, text, MARK_SHARE, rng, lambda _: pick(_MARKS, rng))


# --- Markdown ------------------------------------------------------------------------------------------------------

_PARAGRAPH_START = re.compile(rf"(?:(?<=\n\n)|\A)(?:[*_]{{1,2}})?{_LETTER}")
_PLAIN_WORD = re.compile(rf"(?<!\S){_LETTER}{{3,}}(?=[\s,;:])")


def markdown(text: str, rng: np.random.Generator, language: str) -> str:
    """Markdown made up around a text: headings, items, bold and italic words.

    A paragraph that opens with a sign or number (an item, a quotation, a table) gets neither heading nor bullet.
    """
    titles = HEADINGS.get(language, HEADINGS["en"])
    bullet = pick(("- ", "* ", "1. ", "\u2022 "), rng)

    def dress(match: re.Match[str]) -> str:
        heading = f"## {pick(titles, rng)}\n\n" if rng.random() < HEADING_SHARE else ""
        return heading + (bullet if rng.random() < BULLET_SHARE else "") + match[0]

    bold = replace_some(_PLAIN_WORD, text, BOLD_WORD_SHARE, rng, lambda match: f"**{match[0]}**")
    italic = pick("*_", rng)
    marked = replace_some(_PLAIN_WORD, bold, ITALIC_WORD_SHARE, rng, lambda match: f"{italic}{match[0]}{italic}")
    return _PARAGRAPH_START.sub(dress, marked)
