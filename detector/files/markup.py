"""Paragraphs, headings, lists and tables of a document as the plain text that the normaliser knows how to read.

Marks are Markdown's: the prose finder leaves out headings, lists and tables by them, as it does in a pasted text.
"""

import re
from collections.abc import Sequence

MAX_HEADING_LEVEL = 6
PROSE_CELL_WORDS = 40  # from here on a table is there for the layout, and its cells are paragraphs

_SPACES = re.compile(r"[ \f\v]+")


def heading(text: str, level: int) -> str:
    return f"{'#' * max(1, min(level, MAX_HEADING_LEVEL))} {one_line(text)}"


def item(text: str) -> str:
    return f"- {text}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells: tabs between the cells of a table of data, paragraphs where cells hold prose."""
    cells = [cell for row in rows for cell in row]
    is_layout = all(len(row) < 2 for row in rows) or any(len(cell.split()) >= PROSE_CELL_WORDS for cell in cells)
    if is_layout:
        return paragraphs(cells)
    return "\n".join("\t".join(one_line(cell) for cell in row) for row in rows if any(map(str.strip, row)))


def paragraphs(blocks: Sequence[str]) -> str:
    """Blocks with an empty line between them; empty ones go."""
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip())


def collapse(text: str) -> str:
    """Runs of spaces become one, as a browser shows them; line ends stay."""
    return "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n"))
