"""What every reader gives: a document in sections of paragraphs. Pure, imports nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """name: stable within its source (a file, a chapter, an address); texts of one document share a group.

    sections: paragraphs of running text in reading order; headings have become the borders between sections.
    """

    name: str
    sections: tuple[tuple[str, ...], ...]


def in_sections(marked: list[str | None]) -> tuple[tuple[str, ...], ...]:
    """Paragraphs with None for each heading -> sections without empty ones."""
    sections: list[list[str]] = [[]]
    for paragraph in marked:
        if paragraph is None:
            sections.append([])
        elif paragraph.strip():
            sections[-1].append(paragraph)
    return tuple(tuple(section) for section in sections if section)
