"""A report as PDF: made by reportlab, in the language that is active, from facts that are there already.

One column on A4: verdict and numbers, what they were measured on, what was read and what not, by which versions; the
text last, if it is asked for. Each page says that it is one of how many, and of which check.
"""

import threading
from io import BytesIO
from typing import Any

from django.db import connection
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, KeepTogether, PageTemplate, Paragraph, Spacer, Table

from detector.models import Submission
from detector.reports import quoted, typefaces, wording
from detector.reports.typefaces import TEXT, UI, UI_BOLD, marked, with_bold
from inkcloak.errors import Unavailable

Style = list[tuple[str, tuple[int, int], tuple[int, int], *tuple[Any, ...]]]
# A report of the longest text takes seconds of this process, which has pages to serve.
ONE_AT_A_TIME = threading.BoundedSemaphore(1)
PATIENCE_SECONDS = 15
RETRY_SECONDS = 5

INK, SOFT, LINE, PETROL = (HexColor(colour) for colour in ("#10242b", "#4a5f66", "#d5dcd9", "#0b5563"))
WASH, AMBER_WASH = HexColor("#eef3f1"), HexColor("#fff3d9")
WIDTH, HEIGHT = A4
SIDE, TOP, BOTTOM = 22 * mm, 24 * mm, 19 * mm
INNER = WIDTH - 2 * SIDE
LABEL_WIDTH = 46 * mm
BAR_POINTS = 4
GAP = 16  # points between columns

BODY = ParagraphStyle("body", fontName=UI, fontSize=9.5, leading=13.5, textColor=INK, spaceAfter=4)
TIGHT = ParagraphStyle("tight", parent=BODY, spaceAfter=1)
HINT = ParagraphStyle("hint", parent=BODY, fontSize=8.2, leading=11.2, textColor=SOFT)
EYEBROW = ParagraphStyle("eyebrow", parent=HINT, fontSize=8.8, spaceAfter=2)
HEADLINE = ParagraphStyle("headline", parent=BODY, fontName=TEXT, fontSize=22, leading=26, spaceAfter=5)
HEADING = ParagraphStyle("heading", parent=BODY, fontName=UI_BOLD, fontSize=10.5, leading=14, spaceBefore=8)
FIGURE = ParagraphStyle("figure", parent=BODY, fontName=UI_BOLD, fontSize=20, leading=25, textColor=PETROL)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=8.8, leading=11.4, spaceAfter=0)
QUOTE = ParagraphStyle("quote", parent=BODY, fontName=TEXT, fontSize=10, leading=14.5, spaceAfter=3)


def pdf(submission: Submission, said: dict[str, Any]) -> bytes:
    """The file. submission: read whole.  said: as in detector.reports.contents; the text is shown where it holds it.

    Raises Unavailable (reports_busy) where others keep this process busy.
    """
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()  # whoever waits here must not hold one that a page needs
    if not ONE_AT_A_TIME.acquire(timeout=PATIENCE_SECONDS):
        message = _("Too many reports are being made at the moment. Try again soon.")
        raise Unavailable("reports_busy", message, retry_after=RETRY_SECONDS)
    try:
        return _made(submission, said)
    finally:
        ONE_AT_A_TIME.release()


def _made(submission: Submission, said: dict[str, Any]) -> bytes:
    typefaces.ready()
    out = BytesIO()
    title = f"InkCloak: {wording.headline(submission)}"
    template = BaseDocTemplate(
        out, pagesize=A4, title=title, author="InkCloak", creator="InkCloak", lang=get_language() or "en"
    )
    frame = Frame(SIDE, BOTTOM, INNER, HEIGHT - TOP - BOTTOM, leftPadding=0, rightPadding=0)
    template.addPageTemplates([PageTemplate(frames=[frame])])
    template.build(_story(submission, said), canvasmaker=_canvas_of(said))
    return out.getvalue()


def _story(submission: Submission, said: dict[str, Any]) -> list[Flowable]:
    verdict = submission.verdict
    parts: list[Flowable] = []
    if not said["live"]:
        parts.append(_box(_("Made up for a test key: no text was read, and nothing here is true."), AMBER_WASH))
    eyebrow = [_("Verdict"), wording.confidence(verdict)]
    parts += [
        Paragraph(with_bold(" · ".join(filter(None, eyebrow))), EYEBROW),
        Paragraph(marked(wording.headline(submission), TEXT), HEADLINE),
        *(Paragraph(marked(words), BODY) for words in wording.summary(submission)),
        _box(wording.caution(), AMBER_WASH),
        *_numbers(submission),
    ]
    if measured := wording.rate_card(verdict):
        parts.append(_box(measured, WASH))
    found = ((_("What we cleaned"), wording.cleaned(verdict)), (_("What we left out"), wording.left_out(verdict)))
    parts.append(_beside([[Paragraph(marked(name), HEADING), *_list(words)] for name, words in found]))
    parts += _section(_("This check"), [_table(wording.details(submission))])
    parts += _section(
        _("This report"), [_table(wording.origin(said)), Spacer(1, 5), Paragraph(marked(wording.how_to_check()), HINT)]
    )
    if "text" in said:
        parts += [Paragraph(marked(_("The text")), HEADING), Paragraph(quoted.legend(), HINT), Spacer(1, 4)]
        parts += quoted.flowables(submission, QUOTE)
    return parts


def _numbers(submission: Submission) -> list[Flowable]:
    found = wording.numbers(submission.verdict)
    if not found:
        return []
    bar_width = INNER / len(found) - GAP
    cells: list[list[Flowable]] = [
        [Paragraph(marked(what), EYEBROW), Paragraph(marked(share), FIGURE), _bar(value, bar_width), Spacer(1, 4),
         Paragraph(marked(meaning), HINT)]
        for what, share, value, meaning in found
    ]  # fmt: skip
    return [_beside(cells)]


def _list(words: list[str]) -> list[Flowable]:
    """The last sentence explains the others, unless it is alone."""
    *found, last = words
    tight = [Paragraph(with_bold(one), TIGHT) for one in found]
    return [*tight, Paragraph(with_bold(last), HINT if found else BODY)]


def _beside(cells: list[list[Flowable]]) -> Table:
    """Columns of the same width."""
    style: Style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), GAP),
    ]
    return Table([cells], colWidths=[INNER / len(cells)] * len(cells), style=style, spaceBefore=6, spaceAfter=4)


def _bar(value: float, width: float) -> Table:
    """The share as a part of the width."""
    bars = [(PETROL, width * value), (LINE, width * (1 - value))]
    shown = [(colour, part) for colour, part in bars if part > 0]
    style: Style = [("BACKGROUND", (at, 0), (at, 0), colour) for at, (colour, _part) in enumerate(shown)]
    widths = [part for _colour, part in shown]
    return Table([[""] * len(shown)], colWidths=widths, rowHeights=[BAR_POINTS], style=style, hAlign="LEFT")


def _box(words: str, colour: Color) -> Table:
    style: Style = [
        ("BACKGROUND", (0, 0), (-1, -1), colour),
        *((side, (0, 0), (-1, -1), 7) for side in ("LEFTPADDING", "RIGHTPADDING", "TOPPADDING")),
    ]
    return Table([[Paragraph(with_bold(words), BODY)]], colWidths=[INNER], style=style, spaceBefore=6, spaceAfter=6)


def _section(name: str, parts: list[Flowable]) -> list[Flowable]:
    return [KeepTogether([Paragraph(marked(name), HEADING), *parts])]


def _table(rows: wording.Rows) -> Table:
    cells = [[Paragraph(marked(name), CELL), Paragraph(marked(value), CELL)] for name, value in rows]
    style: Style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.5, LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
    ]
    return Table(cells, colWidths=[LABEL_WIDTH, INNER - LABEL_WIDTH], style=style)


# --- Every page ----------------------------------------------------------------------------------------------


def _canvas_of(said: dict[str, Any]) -> type[Canvas]:
    """A canvas that draws head and foot of each page when it knows how many there are."""

    class Numbered(Canvas):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.kept: list[dict[str, Any]] = []

        def showPage(self) -> None:
            self.kept.append(dict(self.__dict__))
            self._startPage()  # type: ignore[attr-defined]

        def save(self) -> None:
            for number, page in enumerate(self.kept, 1):
                self.__dict__.update(page)
                _frame_page(self, number, len(self.kept), said)
                super().showPage()
            super().save()

    return Numbered


def _frame_page(canvas: Canvas, number: int, of: int, said: dict[str, Any]) -> None:
    canvas.setFillColor(PETROL)
    canvas.setFont(UI_BOLD, 12)
    canvas.drawString(SIDE, HEIGHT - 17 * mm, "InkCloak")
    canvas.setFillColor(SOFT)
    canvas.setFont(UI, 8)
    canvas.drawRightString(WIDTH - SIDE, HEIGHT - 17 * mm, _("Report of a check"))
    canvas.drawString(SIDE, 13 * mm, said["id"])
    canvas.drawRightString(WIDTH - SIDE, 13 * mm, _("Page %(number)s of %(of)s") % {"number": number, "of": of})
    canvas.setStrokeColor(LINE)
    canvas.line(SIDE, HEIGHT - 19.5 * mm, WIDTH - SIDE, HEIGHT - 19.5 * mm)
