"""Fonts of the PDF, and which of them has a character.

Every character that is shown goes through `marked`: our fonts first, DejaVu Sans for other scripts, and a box for what
neither has. So nothing that a text holds can break a report or vanish from it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import cast
from xml.sax.saxutils import escape

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

UI, UI_BOLD, TEXT, REST = "Schibsted", "Schibsted-Bold", "Literata", "DejaVu"
FILES = {UI: "schibsted-regular.ttf", UI_BOLD: "schibsted-bold.ttf", TEXT: "literata.ttf", REST: "dejavu-sans.ttf"}
FOLDER = Path(__file__).parent / "fonts"
BOLD = re.compile("(</?b>)")
MAX_PARTS = 100  # of a line: more changes of font take seconds, and one font for all of it none
BOX = "\u25a1"
# Spaces that are not in our fonts; Spanish percentages have the first.
AS_SPACE = dict.fromkeys(map(ord, "\u202f\u2007"), "\u00a0") | dict.fromkeys(map(ord, "\t\v\f\u0085\u2028\u2029"), " ")


@cache
def ready() -> None:
    """Loads the fonts, once a process."""
    for name, file in FILES.items():
        pdfmetrics.registerFont(TTFont(name, str(FOLDER / file)))
    pdfmetrics.registerFontFamily(UI, normal=UI, bold=UI_BOLD, italic=UI, boldItalic=UI_BOLD)


@cache
def _has(font: str) -> frozenset[int]:
    """Code points that a font has."""
    ready()
    return frozenset(cast(TTFont, pdfmetrics.getFont(font)).face.charToGlyph)


def marked(text: str, font: str = UI) -> str:
    """Markup of a paragraph in `font` that shows exactly this text."""
    text = text.translate(AS_SPACE)
    if _has(font).issuperset(map(ord, text)):
        return escape(text)
    parts = list(_parts(text, font))
    if len(parts) > MAX_PARTS:
        parts = list(_parts(text, REST))
    return "".join(
        escape(part) if name == font else f'<font name="{name}">{escape(part)}</font>' for name, part in parts
    )


def with_bold(text: str) -> str:
    """Markup of words of ours, which may set parts of a sentence apart with <b>."""
    return "".join(part if BOLD.fullmatch(part) else marked(part) for part in BOLD.split(text) if part)


def _parts(text: str, font: str) -> Iterator[tuple[str, str]]:
    """(name of a font, what it draws). A space goes with what is before it."""
    before = font
    drawn: list[tuple[str, str]] = []
    for char in text:
        name = before if char == " " else _font_of(char, font)
        before = name or REST
        drawn.append((before, char if name else _instead(char)))
    for name, group in groupby(drawn, key=itemgetter(0)):
        yield name, "".join(char for _name, char in group)


@lru_cache(maxsize=8192)
def _font_of(char: str, font: str) -> str:
    """ "" where no font has it."""
    return next((name for name in (font, REST) if ord(char) in _has(name) and not _is_unseen(char)), "")


def _instead(char: str) -> str:
    """Of what can't be drawn: nothing for what has no shape anyway, a box for the rest."""
    return "" if _is_unseen(char) else BOX


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and char != "\u00ad"
