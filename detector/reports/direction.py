"""Words written from right to left, put in the order in which they are drawn from left to right.

We judge English and Spanish, so such words are quotations of a line or less in a report; what is longer is turned piece
by piece. It is what can be had without shaping: letters of Arabic stand unjoined.
"""

import regex

PIECE_CHARACTERS = 60  # about a line: a turned piece that wraps would be read in the wrong order
LETTER = r"[\p{Bidi_Class=R}\p{Bidi_Class=AL}]\p{M}*"
PHRASE = regex.compile(rf"(?:{LETTER})+(?:[ \u00a0,.;:'\"\u060c\u05f3\u05f4-]+(?:{LETTER})+)*")
CLUSTER = regex.compile(r"\X")


def visual(line: str) -> str:
    """The line as a reader from left to right draws it. Its length stays."""
    return PHRASE.sub(lambda found: " ".join(map(_turned, _pieces(found[0]))), line)


def _pieces(phrase: str) -> list[str]:
    """The phrase at its spaces, in pieces that fit a line."""
    pieces: list[str] = []
    for word in phrase.split(" "):
        if pieces and len(pieces[-1]) + 1 + len(word) <= PIECE_CHARACTERS:
            pieces[-1] += " " + word
        else:
            pieces.append(word)
    return pieces


def _turned(phrase: str) -> str:
    return "".join(reversed(CLUSTER.findall(phrase)))
