"""The checked text in the PDF: every character in its place, passages marked AI set apart by colour and a line.

Bounded: a text of very many lines would make hundreds of pages out of nothing. What is not shown is said.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Paragraph, Spacer

from detector import highlighting
from detector.highlighting import Run
from detector.models import Submission
from detector.reports import direction
from detector.reports.typefaces import TEXT, UI, marked
from detector.templatetags import ink

MAX_LINES = 2_500  # about 60 pages of lines with a word each
MAX_LINE_CHARACTERS = 2_000  # a paragraph is laid out as a whole: longer ones are cut, at a space where there is one
MAX_WORD_CHARACTERS = 60  # wider than a line
MAX_SPACES = 40
SPACES = re.compile(r"^ +| {2,}(?=\S)")
BLANK_LINE_POINTS = 6
SOFT, MARKER, MARKER_LINE = "#4a5f66", "#ffebbd", "#9a5b00"
SCORE_POINTS = 6.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a run that lies in one line. last: nothing of the run that is seen follows."""

    run: Run
    text: str
    last: bool


def flowables(submission: Submission, style: ParagraphStyle) -> Iterator[Flowable]:
    """The text, line by line. style: of a line."""
    verdict = submission.verdict
    shown = 0
    for number, line in enumerate(_lines(highlighting.runs(submission.text, verdict.segments, verdict.left_out))):
        if number >= MAX_LINES:
            yield Paragraph(marked(_rest(len(submission.text) - shown)), style)
            return
        shown += sum(len(piece.text) for piece in line) + 1
        if any(piece.text.strip() for piece in line):
            yield Paragraph("".join(map(_markup, line)), style)
        else:
            yield Spacer(1, BLANK_LINE_POINTS)


def legend() -> str:
    """What the marks mean, as markup that shows them."""
    return " &nbsp; ".join(
        [
            _as_ai(marked(_("marked AI, with its probability"))) + _score(0.97),
            marked(_("judged, not marked")),
            f'<font color="{SOFT}" size="8">{marked(_("left out"))}</font>',
        ]
    )


def _rest(characters: int) -> str:
    said = ngettext(
        "The text has too many lines for a PDF: %(n)s more character is in the signed JSON report.",
        "The text has too many lines for a PDF: %(n)s more characters are in the signed JSON report.",
        characters,
    )
    return said % {"n": ink.whole(characters)}


def _lines(runs: list[Run]) -> Iterator[list[Piece]]:
    """The pieces of each line, and of each part of a line that is too long."""
    line: list[Piece] = []
    length = 0
    for run in runs:
        parts = list(_parts(run.text, MAX_LINE_CHARACTERS - length))
        last = max((number for number, part in enumerate(parts) if part.strip()), default=-1)
        for number, part in enumerate(parts):
            if number:
                yield line
                line, length = [], 0
            line.append(Piece(run, part, number == last))
            length += len(part)
    yield line


def _parts(text: str, room: int) -> Iterator[str]:
    """The text at its line ends; longer lines at a space. room: characters left in the line that it goes on."""
    for line in text.split("\n"):
        while len(line) > room:
            cut = line.rfind(" ", 0, room) + 1 or room
            yield line[:cut]
            line, room = line[cut:], MAX_LINE_CHARACTERS
        yield line
        room = MAX_LINE_CHARACTERS


def _markup(piece: Piece) -> str:
    run = piece.run
    shown = SPACES.sub(_kept, " ".join(map(_broken, piece.text.split(" "))))
    text = marked(direction.visual(shown), TEXT)
    if not text:
        return ""
    if run.mark == "ai":
        return _as_ai(text) + (_score(run.probability) if piece.last else "")
    if run.mark == "left_out":
        return f'<font color="{SOFT}" size="8">{text}</font>'
    return text


def _score(probability: float | None) -> str:
    return f'<super size="{SCORE_POINTS}"><font name="{UI}">{marked(ink.share(probability))}</font></super>'


def _kept(spaces: re.Match[str]) -> str:
    """Paragraphs swallow spaces; those that indent a line, or set words apart, are meant."""
    return "\u00a0" * min(len(spaces[0]), MAX_SPACES)


def _as_ai(markup: str) -> str:
    return f'<u color="{MARKER_LINE}" width="0.6" offset="-1.6"><font backColor="{MARKER}">{markup}</font></u>'


def _broken(word: str) -> str:
    """Where a word is wider than a line, it goes on in the next one."""
    if len(word) <= MAX_WORD_CHARACTERS:
        return word
    return " ".join(word[at : at + MAX_WORD_CHARACTERS] for at in range(0, len(word), MAX_WORD_CHARACTERS))
