"""HTML as its reader sees it: parsed as browsers do (lexbor), what is hidden left out and counted.

Hidden: the attributes `hidden` and `aria-hidden`, and what an element's own style or a simple rule of a style sheet
inside the page hides. Scripts and style sheets from elsewhere are never loaded.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from detector.files import markup
from detector.files.decoding import decode
from detector.files.limits import MAX_NESTING, Found, Part, Refused

NEVER_SHOWN = frozenset({
    "head", "script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "math", "canvas", "audio",
    "video", "select", "textarea", "button", "input", "datalist", "title", "meta", "link", "frameset",
})  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "body", "blockquote", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "main", "nav", "ol", "p", "section",
    "summary", "ul", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre", "table", "caption", "html",
})  # fmt: skip
CELLS, ROW = frozenset({"td", "th"}), "tr"
HEADINGS = {f"h{level}": level for level in range(1, 7)}
MAX_RULES = 500  # of style sheets that are looked at
MAX_STYLE_CHARACTERS = 200_000

_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?<![\w-])opacity\s*:\s*0?\.?0*\s*(?:[;!}]|$)"
    r"|font-size\s*:\s*(?:0|[01](?:\.\d+)?\s*p[xt])|(?:text-indent|left|top|margin-left)\s*:\s*-\d{3,}"
    r"|(?<![\w-])color\s*:\s*transparent|clip-path\s*:\s*inset\(\s*(?:50|100)%|clip\s*:\s*rect\(\s*0",
    re.IGNORECASE,
)
_WHITE = re.compile(r"(?<![\w-])color\s*:\s*(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))", re.IGNORECASE)
_BACKGROUND = re.compile(r"background", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}@;]{1,300})\{([^{}]*)\}")
_AT_BLOCK = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")


@dataclass(slots=True)
class _Open:
    """An element whose end is still to come: where to go on, and what its text becomes then."""

    next: LexborNode | None
    tag: str
    hidden: bool
    on_colour: bool
    pre: bool
    before: list[str] = field(default_factory=list)  # the text of the parent so far, where this one has its own
    row: list[str] | None = None
    rows: list[list[str]] | None = None


def read(data: bytes) -> Found:
    text, encoding = decode(data, html=True)
    found = Found("html", encoding=encoding)
    tree = LexborHTMLParser(text)
    if tree.root is None:
        raise Refused("file_empty")
    shown = _Walk(found, _hidden_by_sheets(tree)).text(tree.root)
    found.parts.append(Part(_tidy(shown)))
    return found


class _Walk:
    """Depth first without recursion: pages of a hundred thousand open tags are sent by whoever looks for limits."""

    def __init__(self, found: Found, hidden_ids: frozenset[int]) -> None:
        self.found = found
        self.hidden_ids = hidden_ids
        self.out: list[str] = []

    def text(self, root: LexborNode) -> str:
        stack: list[_Open] = [_Open(None, "", False, False, False)]
        node: LexborNode | None = root
        while stack:
            if node is None:
                closed = stack.pop()
                self._close(closed, stack)
                node = closed.next
                continue
            opened = self._open(node, stack[-1])
            if opened is None:
                node = node.next
                continue
            stack.append(opened)
            if len(stack) > MAX_NESTING:
                raise Refused("html_nesting", limit=MAX_NESTING)
            node = node.child
        return "".join(self.out)

    def _open(self, node: LexborNode, parent: _Open) -> _Open | None:
        """The element, to be walked into; None for text, comments and what has no inside."""
        if node.is_text_node:
            self._write(node.text_content or "", parent)
            return None
        if not node.is_element_node:
            return None
        tag = (node.tag or "").lower()
        if tag == "br":
            self._write_plain("\n", parent)
            return None
        if tag in NEVER_SHOWN:
            return None
        style = str(node.attributes.get("style") or "")
        on_colour = parent.on_colour or bool(_BACKGROUND.search(style)) or "bgcolor" in node.attributes
        hidden = parent.hidden or self._hides(node, style, on_colour)
        opened = _Open(node.next, tag, hidden, on_colour, parent.pre or tag == "pre")
        if tag in BLOCKS or tag in CELLS or tag == ROW:
            opened.before, self.out = self.out, []
        if tag == "table":
            opened.rows = []
        return opened

    def _close(self, closed: _Open, stack: list[_Open]) -> None:
        if not (closed.tag in BLOCKS or closed.tag in CELLS or closed.tag == ROW):
            return
        inside, self.out = "".join(self.out), closed.before
        table = next((opened for opened in reversed(stack) if opened.rows is not None), None)
        if closed.tag in CELLS and table is not None and table.rows is not None:
            if not table.rows:
                table.rows.append([])
            table.rows[-1].append(_tidy(inside))
        elif closed.tag == ROW and table is not None and table.rows is not None:
            table.rows.append([])
        else:
            rows = [row for row in closed.rows or [] if row]
            self.out.append(_block(closed.tag, inside, rows))

    def _write(self, text: str, parent: _Open) -> None:
        if parent.hidden:
            self.found.hide("style", text)
        else:
            self._write_plain(text if parent.pre else re.sub(r"[ \t\n\f\r]+", " ", text), parent)

    def _write_plain(self, text: str, parent: _Open) -> None:
        if not parent.hidden:
            self.out.append(text)

    def _hides(self, node: LexborNode, style: str, on_colour: bool) -> bool:
        attributes = node.attributes
        if "hidden" in attributes or str(attributes.get("aria-hidden") or "").lower() == "true":
            return True
        if style and (_HIDES.search(style) or (not on_colour and _WHITE.search(style))):
            return True
        return bool(self.hidden_ids) and node.mem_id in self.hidden_ids


def _block(tag: str, inside: str, rows: list[list[str]]) -> str:
    if rows:
        return f"\n\n{_tidy(inside)}\n\n{markup.table(rows)}\n\n"
    if not inside.strip():
        return "\n\n"
    if tag in HEADINGS:
        return f"\n\n{markup.heading(inside, HEADINGS[tag])}\n\n"
    if tag == "li":
        return f"\n{markup.item(_tidy(inside))}"
    if tag == "pre":
        return "\n\n```\n" + inside.strip("\n").replace("```", "'''") + "\n```\n\n"
    if tag == "blockquote":
        return "\n\n" + "\n".join(f"> {line}" if line else ">" for line in _tidy(inside).split("\n")) + "\n\n"
    return f"\n\n{inside.strip()}\n\n"


def _tidy(text: str) -> str:
    """Lines without spaces around them, and never more than one empty one; fenced blocks as they are."""
    pieces = re.split(r"(^```\n.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    tidy = [piece if number % 2 else markup.collapse(piece) for number, piece in enumerate(pieces)]
    return re.sub(r"\n{3,}", "\n\n", "".join(tidy)).strip("\n")


def _hidden_by_sheets(tree: LexborHTMLParser) -> frozenset[int]:
    """The elements that simple rules of the page's own style sheets hide; rules for print and the like don't count."""
    found: set[int] = set()
    for selector in list(_hiding_selectors(tree))[:MAX_RULES]:
        try:
            found.update(node.mem_id for node in tree.css(selector))
        except (SelectolaxError, ValueError):
            continue  # a selector that lexbor does not know
    return frozenset(found)


def _hiding_selectors(tree: LexborHTMLParser) -> Iterator[str]:
    for sheet in tree.css("style"):
        css = _COMMENT.sub("", (sheet.text(deep=True) or "")[:MAX_STYLE_CHARACTERS])
        for selector, body in _RULE.findall(_AT_BLOCK.sub("", css)):
            if _HIDES.search(body):
                yield selector.strip()
