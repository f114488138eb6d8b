"""DOCX: paragraphs in order, as the finished document shows them. Hidden, white, tiny and deleted text is left out.

python-docx opens the package; the walk over its XML is ours, since the library's own leaves out insertions, content
controls and text boxes. Macros are never looked at, and a document type declaration, which the format forbids and
every attack by entities needs, is refused before any parser sees it.
"""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO

import docx
from docx.document import Document
from docx.oxml.ns import qn
from lxml.etree import LxmlError, _Element

from detector.files import markup
from detector.files.kinds import checked_zip
from detector.files.limits import MAX_NESTING, Found, Part, Refused

TINY_HALF_POINTS = 4  # w:sz up to 2 points: nobody reads that
WHITE = frozenset({"FFFFFF", "FEFEFE", "FDFDFD"})
P, R, T, TBL, TR, TC = (qn(f"w:{name}") for name in ("p", "r", "t", "tbl", "tr", "tc"))
DELETED = frozenset({qn("w:delText"), qn("w:moveFrom")})
SKIPPED = frozenset({"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback", qn("w:instrText")})
MARKS = {
    qn("w:tab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
    qn("w:softHyphen"): "\u00ad",
}
VAL = qn("w:val")
NOTES = {"footnotes": "footnotes", "endnotes": "footnotes", "comments": "comments"}

_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9._\-]+)[\"']")
_ASCII_LIKE = re.compile(rb"(?:utf-8|us-ascii|ascii|iso-8859-\d+|windows-125\d)", re.IGNORECASE)
_FORBIDDEN = re.compile(rb"<!DOCTYPE|<!ENTITY", re.IGNORECASE)
_HEADING = re.compile(r"heading ?([1-9])|(title|subtitle)$", re.IGNORECASE)


def read(data: bytes) -> Found:
    found = Found("docx")
    with checked_zip(data) as archive:
        _check_parts(archive, found)
    try:
        document = docx.Document(BytesIO(data))
    except (KeyError, ValueError, LxmlError, zipfile.BadZipFile, docx.exceptions.PythonDocxError):
        raise Refused("file_broken") from None
    walk = _Walk(found, _Styles(document))
    body = document.element.body
    if body is None:
        raise Refused("file_broken")
    found.parts.append(Part(markup.paragraphs(list(walk.blocks(body)))))
    return found


def _check_parts(archive: zipfile.ZipFile, found: Found) -> None:
    for name in archive.namelist():
        lower = name.lower()
        if lower.endswith("vbaproject.bin"):
            found.note("macros")
        if not lower.endswith((".xml", ".rels")):
            continue
        try:
            content = archive.read(name)
        except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError):
            raise Refused("file_broken") from None
        _check_xml(content)
        part = lower.rpartition("/")[2].removesuffix(".xml")
        if part in NOTES and re.search(rb"<w:t[ >]", content):
            found.note(NOTES[part])


def _check_xml(content: bytes) -> None:
    """No document type, in any encoding in which one could hide: the format allows UTF-8 and UTF-16 alone."""
    is_wide = b"\x00" in content[:4] or content.startswith((b"\xff\xfe", b"\xfe\xff"))
    plain = content.replace(b"\x00", b"") if is_wide else content
    encoding = _ENCODING.search(plain[:200])
    is_known = encoding is None or _ASCII_LIKE.fullmatch(encoding[1]) or encoding[1].lower().startswith(b"utf-16")
    if not is_known or not plain.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
        raise Refused("file_broken")
    if _FORBIDDEN.search(plain):
        raise Refused("docx_entities")


class _Styles:
    """Which styles hide their text, and which are headings; a style is also what it is based on."""

    def __init__(self, document: Document) -> None:
        self.hidden: set[str] = set()
        self.headings: dict[str, int] = {}
        based: dict[str, str] = {}
        for style in document.styles.element.iterchildren(qn("w:style")):
            key = style.get(qn("w:styleId"), "")
            name = _val(style.find(qn("w:name"))) or key
            if _on(style.find(f"{qn('w:rPr')}/{qn('w:vanish')}")):
                self.hidden.add(key)
            if match := _HEADING.match(name):
                self.headings[key] = int(match[1] or 1)
            if parent := _val(style.find(qn("w:basedOn"))):
                based[key] = parent
        for key in based:
            self._inherit(key, based)

    def _inherit(self, key: str, based: dict[str, str]) -> None:
        above, seen = key, {key}
        while (above := based.get(above, "")) and above not in seen:
            seen.add(above)
            if above in self.hidden:
                self.hidden.add(key)


class _Walk:
    """Blocks of text under an element of the document."""

    def __init__(self, found: Found, styles: _Styles) -> None:
        self.found = found
        self.styles = styles

    def blocks(self, parent: _Element, depth: int = 0) -> Iterator[str]:
        if depth > MAX_NESTING // 20:
            raise Refused("file_broken")
        for child in parent.iterchildren():
            if child.tag == P:
                yield from self._paragraph(child, depth)
            elif child.tag == TBL:
                yield markup.table(list(self._rows(child, depth)))
            elif child.tag not in SKIPPED:
                yield from self.blocks(child, depth + 1)

    def _rows(self, table: _Element, depth: int) -> Iterator[list[str]]:
        for row in table.iter(TR):
            if next(row.iterancestors(TBL)) is table:
                cells = (cell for cell in row.iter(TC) if next(cell.iterancestors(TR)) is row)
                yield [markup.paragraphs(list(self.blocks(cell, depth + 1))) for cell in cells]

    def _paragraph(self, paragraph: _Element, depth: int) -> Iterator[str]:
        style = _val(paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}"))
        boxes: list[_Element] = []
        text = "".join(self._runs(paragraph, style, boxes))
        if text.strip():
            if style in self.styles.headings:
                yield markup.heading(text, self.styles.headings[style])
            elif paragraph.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None:
                yield markup.item(text)
            else:
                yield text
        for box in boxes:
            yield from self.blocks(box, depth + 1)

    def _runs(self, paragraph: _Element, style: str, boxes: list[_Element]) -> Iterator[str]:
        """The paragraph's own text, whatever its runs are wrapped in; text boxes in it come after."""
        stack = list(reversed(paragraph))
        while stack:
            element = stack.pop()
            if element.tag in SKIPPED:
                continue
            if element.tag in DELETED:
                self.found.hide("deleted", "".join(map(str, element.itertext())))
            elif element.tag == qn("w:txbxContent"):
                boxes.append(element)
            elif element.tag == R:
                yield from self._run(element, style, stack)
            elif element.tag == qn("w:p"):
                boxes.append(element)
            else:
                stack += reversed(element)

    def _run(self, run: _Element, style: str, stack: list[_Element]) -> Iterator[str]:
        text = "".join(_text_of(run))
        kind = self._hidden_kind(run, style)
        if kind:
            self.found.hide(kind, text)
        elif text:
            yield text
        stack += [child for child in run if child.tag not in MARKS and child.tag not in (T, qn("w:rPr"))]

    def _hidden_kind(self, run: _Element, paragraph_style: str) -> str:
        properties = run.find(qn("w:rPr"))
        own = properties if properties is not None else run
        vanish = own.find(qn("w:vanish"))
        styles = {paragraph_style, _val(own.find(qn("w:rStyle")))}
        if _on(vanish) or (vanish is None and styles & self.styles.hidden):
            return "vanish"
        if (_val(own.find(qn("w:color"))) or "").upper() in WHITE and not _is_shaded(run):
            return "white"
        size = _val(own.find(qn("w:sz")))
        return "tiny" if size.isdigit() and int(size) <= TINY_HALF_POINTS else ""


def _text_of(run: _Element) -> Iterator[str]:
    for child in run:
        if child.tag == T:
            yield child.text or ""
        elif child.tag in MARKS:
            yield MARKS[child.tag]


def _is_shaded(run: _Element) -> bool:
    """Whether something dark may lie behind: a highlight, or the shading of run, paragraph, cell or table."""
    if run.find(f"{qn('w:rPr')}/{qn('w:highlight')}") is not None:
        return True
    around = [run, *run.iterancestors()]
    shadings = (found for element in around for found in element.iterfind(f"./*/{qn('w:shd')}"))
    return any((shading.get(qn("w:fill")) or "auto").lower() not in ("auto", "ffffff") for shading in shadings)


def _val(element: _Element | None) -> str:
    return "" if element is None else element.get(VAL, "")


def _on(element: _Element | None) -> bool:
    """A switch is on by being there, unless it says otherwise."""
    return element is not None and element.get(VAL, "1").lower() not in ("0", "false", "off")
