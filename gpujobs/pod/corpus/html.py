"""HTML, DocBook, Mallard and other XML -> sections of paragraphs, by lxml.

    read_html()   bytes -> sections; sloppy old HTML is mended by the parser
    read_xml()    bytes -> sections; entities that nobody defined and broken files are passed over

A paragraph is a run of text between the borders of block elements, so that pages which set text in table cells or
between line breaks are read as well. Code, navigation, notes and figures are left out with all they contain, tables
of DocBook too. No network, no entity is fetched. Imports: documents.
"""

from lxml import etree, html

from gpujobs.pod.corpus.documents import in_sections


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


HEADINGS = _set("h1 h2 h3 h4 h5 h6 title dt term")
PARAGRAPHS = _set("p para simpara")  # a line break in one is no border
CONTAINERS = _set(
    "html body div center blockquote article main section header ul ol dl li dd hr table tbody thead tr td th "
    "caption address fieldset sect1 sect2 sect3 chapter listitem entry note tip step page item document"
)
BLOCKS = HEADINGS | PARAGRAPHS | CONTAINERS
LEFT_OUT = _set(
    "script style nav footer pre form head sup menu toc figure figcaption select textarea "
    "programlisting screen literallayout synopsis cmdsynopsis informaltable indexterm footnote graphic mediaobject "
    "screenshot inlinegraphic legalnotice revhistory authorgroup copyright bookinfo articleinfo refentryinfo info "
    "media links publisher equation informalequation remark"
)
LEFT_OUT_CLASSES = _set(
    "navheader navfooter toc programlisting screen titlepage footer nav_table footnote sphinxsidebar related docnav "
    "legalnotice noprint sidebar revhistory"
)
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "mdash": "\u2014"}


def read_html(data: bytes, encoding: str | None = None) -> tuple[tuple[str, ...], ...]:
    """Sections of an HTML page; empty when there is no element in it."""
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(encoding=encoding, no_network=True))
    except etree.ParserError:
        return ()
    return _sections(root, LEFT_OUT)


def read_xml(data: bytes) -> tuple[tuple[str, ...], ...]:
    """Sections of a DocBook, Mallard or similar file; empty when it is no XML at all."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser=parser)
    return () if root is None else _sections(root, LEFT_OUT | {"table"})


def _sections(root: etree._Element, left_out: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    collector = _Collector(left_out)
    collector.visit(root, in_paragraph=False)
    collector.border()
    return in_sections(collector.marked)


class _Collector:
    """Paragraphs in the order of the page, None for each heading."""

    def __init__(self, left_out: frozenset[str]) -> None:
        self.marked: list[str | None] = []
        self._left_out = left_out
        self._run: list[str] = []

    def border(self) -> None:
        if self._run:
            self.marked.append("".join(self._run))
            self._run = []

    def visit(self, element: etree._Element, *, in_paragraph: bool) -> None:
        if isinstance(element, etree._Entity):
            self._run.append(ENTITIES.get(element.name or "", ""))
        if not isinstance(element.tag, str):  # a comment, an instruction or an entity
            return
        tag = etree.QName(element).localname.lower()
        if tag in self._left_out or LEFT_OUT_CLASSES & set((element.get("class") or "").split()):
            return
        if tag == "br":
            self._run.append(" ")
        if tag in BLOCKS or (tag == "br" and not in_paragraph):
            self.border()
        if tag in HEADINGS:
            self.marked.append(None)
            return
        self._children(element, in_paragraph or tag in PARAGRAPHS)
        if tag in BLOCKS:
            self.border()

    def _children(self, element: etree._Element, in_paragraph: bool) -> None:
        self._run.append(element.text or "")
        for child in element:
            self.visit(child, in_paragraph=in_paragraph)
            self._run.append(child.tail or "")
