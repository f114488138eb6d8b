"""What one character becomes, whatever stands around it: the normaliser's table of single characters.

Standard library only. Rules that need neighbours (emoji, marks, look-alikes, hyphenation, dashes) live in normalise.py.
"""

import unicodedata
from functools import lru_cache

MAX_EXPANSION = 8  # characters one may unfold to; longer ones (Arabic phrases in one sign) stay as they are
_WIDTH = {"<wide>", "<narrow>"}
_STYLE = {"<font>", "<circle>", "<square>"}

_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u275d\u275e\u301d\u301e\u301f\u2033\u02ba\u02ee", '"')
_QUOTES |= dict.fromkeys(
    "\u2018\u2019\u201a\u201b\u2039\u203a\u275b\u275c\u2032\u02bc\u02b9\u02bb\u02bd\u00b4\u055a", "'"
)
_HYPHENS = dict.fromkeys("\u2010\u2011\u2043\u2212\ufe63\uff0d", "-")
_DASHES = dict.fromkeys("\u2012\u2013", "\u2013") | dict.fromkeys(
    "\u2014\u2015\u2e3a\u2e3b\ufe58\ufe31\ufe32", "\u2014"
)
# Invisible although they are letters, marks or unassigned: fillers, joiners, variation selectors (outside emoji).
_INVISIBLE = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u180b\u180c\u180d\u180f\u2065"
# Signs of category Cf which are seen, before Arabic and Syriac numbers and in Kaithi and hieroglyphs.
_VISIBLE_FORMAT = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
EMOJI_JOINERS = "\u200d\ufe0e\ufe0f"  # kept inside emoji, see normalise.py
FLAG_TAGS = "".join(map(chr, range(0xE0020, 0xE0080)))

_FIXED: dict[str, tuple[str, str]] = {
    **{c: (new, "quote") for c, new in _QUOTES.items()},
    **{c: (new, "dash") for c, new in (_HYPHENS | _DASHES).items() if c != new},
    **dict.fromkeys(_INVISIBLE, ("", "invisible")),
    **dict.fromkeys("\x0b\x0c\x85\u2028\u2029", ("\n", "space")),
    "\u00ad": ("", "soft_hyphen"),
    "\u2026": ("...", "ellipsis"),
    "\u2800": (" ", "space"),
    "\u2044": ("/", "compatibility"),
    "\u2215": ("/", "compatibility"),
    "\uf0b7": ("\u2022", "compatibility"),  # the bullet of the Symbol font, as word processors paste it
}


@lru_cache(maxsize=8192)
def fold(char: str) -> tuple[str, str] | None:
    """(replacement, kind) of one character, or None when it stays as it is."""
    if char in _FIXED:
        return _FIXED[char]
    if " " <= char <= "~" or char in "\n\t":
        return None
    category = unicodedata.category(char)
    if category in _BY_CATEGORY:
        return None if char in _VISIBLE_FORMAT else _BY_CATEGORY[category]
    if category == "Cn":
        return _unassigned(char)
    if "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return "", "invisible"
    if "\U0001f150" <= char <= "\U0001f169" or "\U0001f170" <= char <= "\U0001f189":
        return chr(ord("A") + (ord(char) - 0x1F150) % 32), "styled"
    return _compatibility(char)


_BY_CATEGORY = {
    "Cs": ("", "surrogate"),
    "Cc": ("", "control"),
    "Cf": ("", "invisible"),
    "Zs": (" ", "space"),
    "Co": ("", "control"),
}


def _unassigned(char: str) -> tuple[str, str] | None:
    code = ord(char)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "", "control"
    if 0xE0000 <= code <= 0xE0FFF or 0xFFF0 <= code <= 0xFFF8:  # default ignorable, reserved
        return "", "invisible"
    return None


def _compatibility(char: str) -> tuple[str, str] | None:
    """Unicode's own folding (NFKC), unless it makes a spacing accent into a blank with a loose mark."""
    tag = unicodedata.decomposition(char).partition(" ")[0]
    new = unicodedata.normalize("NFKC" if tag.startswith("<") else "NFC", char)
    if new == char or len(new) > MAX_EXPANSION or (new[0] == " " and len(new) > 1):
        return None
    new = "".join((fold(c) or (c,))[0] for c in new)
    if tag in _WIDTH:
        return new, "full_width"
    if tag in _STYLE:
        return new, "styled"
    if "\ufb00" <= char <= "\ufb4f":
        return new, "ligature"
    return new, "compatibility"
