"""PDF: the text that a reader sees, in reading order, with its line ends (the normaliser joins words divided there).

pdfminer.six, since it places every glyph: spaces are found by distance (files from TeX have none), columns are read one
after the other, and of each glyph we learn colour, size and place, so that what nobody sees is left out:

    invisible   render mode 3 or 7, as under a scan or behind a trick    white   on nothing darker
    tiny        under a point high                                       outside the page
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LAParams, LTChar, LTContainer, LTCurve, LTFigure, LTImage, LTPage, LTTextBox
from pdfminer.pdfdocument import PDFDocument, PDFEncryptionError
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser

from detector.files.limits import MAX_PDF_PAGES, Found, Part, Refused

UNSEEN_MODES = (3, 7)
TINY_POINTS = 1.0
WHITE = 0.98  # of 1; paper white, and what is meant to pass for it
MAX_BACKGROUNDS = 2_000  # of a page; drawings have more, and no white text on them
UNMAPPED = "\ufffc"  # stands for a glyph without a character until it is counted

_SPACES = re.compile(r"[ \t\u00a0]+(?=\n|$)")


def read(data: bytes, max_characters: int) -> Found:
    """Raises Refused: encrypted, too many pages, no text, more than `max_characters` (reading ends there)."""
    found = Found("pdf")
    document = _open(data)
    pages = _pages(document)
    device = _Device(found)
    interpreter = PDFPageInterpreter(device.rsrcmgr, device)
    text = ""
    for page in pages:
        interpreter.process_page(page)
        for block in _blocks(device.get_result()):
            text += _joint(text, block) + block
        if len(text) > max_characters:
            raise Refused("too_long", limit=max_characters)
    found.parts.append(Part(_readable(text, found)))
    return found


def _open(data: bytes) -> PDFDocument:
    try:
        # The empty password opens what is only locked against changes.
        return PDFDocument(PDFParser(BytesIO(data)))
    except PDFEncryptionError:
        raise Refused("file_encrypted") from None


def _pages(document: PDFDocument) -> list[PDFPage]:
    pages: list[PDFPage] = []
    for page in PDFPage.create_pages(document):
        if len(pages) == MAX_PDF_PAGES:
            raise Refused("pdf_pages", limit=MAX_PDF_PAGES)
        pages.append(page)
    return pages


def _joint(text: str, block: str) -> str:
    """An empty line, unless the block goes on with the sentence that the text before it left open."""
    if not text:
        return ""
    is_open = text[-1].isalpha() or text[-1] in ",-"
    return "\n" if is_open and block[:1].islower() else "\n\n"


def _readable(text: str, found: Found) -> str:
    letters = sum(character.isalnum() for character in text)
    unmapped = text.count(UNMAPPED)
    if letters == 0 or unmapped > letters:
        raise Refused("pdf_hidden_only" if found.hidden else "pdf_unmapped" if unmapped else "pdf_no_text")
    if unmapped:
        found.note("unmapped")
    return _SPACES.sub("", text.replace(UNMAPPED, ""))


def _blocks(layout: LTContainer[Any]) -> Iterator[str]:
    for item in layout:
        if isinstance(item, LTTextBox):
            yield item.get_text().strip("\n")
        elif isinstance(item, LTFigure):
            yield from _blocks(item)


class _Device(PDFPageAggregator):
    """Lays out each page without the glyphs that nobody sees."""

    def __init__(self, found: Found) -> None:
        super().__init__(PDFResourceManager(caching=True), laparams=LAParams(all_texts=True))
        self.found = found
        self.mode = 0
        self.unseen: dict[int, str] = {}  # id of a glyph that is still alive -> why it isn't seen
        self.white: set[int] = set()

    def render_string(self, textstate: Any, seq: Any, ncs: Any, graphicstate: Any) -> None:
        self.mode = textstate.render
        super().render_string(textstate, seq, ncs, graphicstate)

    def render_char(self, *arguments: Any) -> float:
        """arguments: as the library's; the last is the graphics state, in which a glyph's colour may change later."""
        advance = super().render_char(*arguments)
        glyph = self.cur_item._objs[-1]
        if self.mode in UNSEEN_MODES:
            self.unseen[id(glyph)] = "invisible"
        elif max(glyph.width, glyph.height) < TINY_POINTS:
            self.unseen[id(glyph)] = "tiny"
        elif _is_white(arguments[-1].ncolor):
            self.white.add(id(glyph))
        return advance

    def handle_undefined_char(self, font: Any, cid: int) -> str:
        return UNMAPPED

    def end_page(self, page: PDFPage) -> None:
        assert isinstance(self.cur_item, LTPage)  # noqa: S101 - as the library says
        self._drop(self.cur_item, self.cur_item, list(_backgrounds(self.cur_item)))
        self.unseen, self.white = {}, set()
        super().end_page(page)

    def _drop(self, container: LTContainer[Any], page: LTPage, backgrounds: list[Any]) -> None:
        kept = []
        for item in container._objs:
            if isinstance(item, LTFigure):
                self._drop(item, page, backgrounds)
            kind = self._kind(item, page, backgrounds) if isinstance(item, LTChar) else ""
            if kind:
                self.found.hide(kind, item.get_text())
            else:
                kept.append(item)
        container._objs = kept

    def _kind(self, glyph: LTChar, page: LTPage, backgrounds: list[Any]) -> str:
        if kind := self.unseen.get(id(glyph)):
            return kind
        x, y = (glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2
        if not (page.x0 <= x <= page.x1 and page.y0 <= y <= page.y1):
            return "outside"
        if id(glyph) not in self.white:
            return ""
        return "" if any(b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1 for b in backgrounds) else "white"


def _backgrounds(container: LTContainer[Any]) -> Iterator[Any]:
    """Pictures and areas that are not white: white text can be read on them."""
    for number, item in enumerate(container):
        if number > MAX_BACKGROUNDS:
            return
        if isinstance(item, LTFigure):
            yield from _backgrounds(item)
        elif isinstance(item, LTImage) or (
            isinstance(item, LTCurve) and item.fill and not _is_white(item.non_stroking_color)
        ):
            yield item


def _is_white(colour: Any) -> bool:
    """Grey, RGB or CMYK as pdfminer gives them; patterns and spot colours are not white."""
    parts = colour if isinstance(colour, tuple | list) else (colour,)
    if not parts or not all(isinstance(part, int | float) for part in parts):
        return False
    if len(parts) == 4:
        return all(part <= 1 - WHITE for part in parts)
    return len(parts) in (1, 3) and all(part >= WHITE for part in parts)
