"""Plain text -> sections of paragraphs. Pure.

    read_text()     paragraphs are parted by empty lines; underlined or numbered single lines are headings
    read_mail()     the same after the header lines of a message
    read_records()  records parted by a separator line, each a section (the format of fortune)
    read_dict()     a dictionary in dictd's format: a line at the margin starts an entry

Imports: documents, gpujobs.pod.shared.
"""

import re
from collections import Counter

from gpujobs.pod.corpus.documents import in_sections
from gpujobs.pod.shared.hyphenation import join_hyphenated
from gpujobs.pod.shared.mapped import Mapped

_EMPTY_LINES = re.compile(r"\n[ \t]*\n+")
_UNDERLINED = re.compile(r"^[^\n]{1,80}\n[ \t]*([=\-~*^+#_.])\1{2,}[ \t]*$")
_HEADING = re.compile(r"^[^\n]{1,80}[^\n.!?:;,\"')\]]$")
_RULE = re.compile(r"^[\W_]+$")
_LISTING = re.compile(r"(?<=\n\n)(-{4,})\n.*?\n\1$", re.DOTALL | re.MULTILINE)  # a heading's line follows its heading
_CODE_INDENT = 8
_CODE_CHARS = re.compile(r"[{}<>|\\$=;]")


def read_text(text: str) -> tuple[tuple[str, ...], ...]:
    """Sections of a plain text file."""
    whole = join_hyphenated(Mapped.of(text.replace("\r\n", "\n").strip("\n")), Counter()).text
    return in_sections([_paragraph(block) for block in _EMPTY_LINES.split(whole)])


def _paragraph(block: str) -> str | None:
    block = block.strip("\n")
    if _UNDERLINED.match(block) or (_HEADING.match(block.strip()) and len(block.split()) < 9):
        return None
    return "" if _RULE.match(block) or _is_code(block) else block


def _is_code(block: str) -> bool:
    lines = block.splitlines()
    deep = all(line.startswith((" " * _CODE_INDENT, "\t")) for line in lines)
    return deep and len(_CODE_CHARS.findall(block)) > len(lines)


def read_mail(text: str) -> tuple[tuple[str, ...], ...]:
    """Sections of a message; quoted lines, fenced listings and what follows a signature mark are left out."""
    _, _, body = text.replace("\r\n", "\n").partition("\n\n")
    body = _LISTING.sub("", body.partition("\n-- \n")[0])
    return read_text("\n".join(line for line in body.splitlines() if not line.startswith(">")))


def read_records(text: str, separator: str = "%") -> tuple[tuple[str, ...], ...]:
    """One section a record; each of its paragraphs a paragraph."""
    records = re.split(rf"^{re.escape(separator)}[ \t]*$", text.replace("\r\n", "\n"), flags=re.MULTILINE)
    paragraphs = (tuple(p for p in _EMPTY_LINES.split(record.strip()) if p.strip()) for record in records)
    return tuple(section for section in paragraphs if section)


def read_dict(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """(headword, paragraphs) of each entry."""
    entries: list[tuple[str, list[str]]] = []
    for line in text.replace("\r\n", "\n").splitlines():
        if line and not line[0].isspace():
            entries.append((line.strip(), []))
        elif entries:
            entries[-1][1].append(line.strip())
    bodies = ((word, _EMPTY_LINES.split("\n".join(lines).strip("\n"))) for word, lines in entries)
    return [(word, tuple(p for p in body if p.strip())) for word, body in bodies]
