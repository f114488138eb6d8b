"""Which lines of a text are prose, and what the others are: the layout half of the prose finder.

    find_blocks()   text (cleaned, lines kept) -> blocks in order, covering everything but blank space

Conservative: a line is prose unless its form says otherwise. Pure; imports line_kinds and line_forms.
Wrapping must not matter: every rule that looks at line starts asks whether the line before ended a sentence, so that
a number or dash that wrapping brings to a line's start opens no list.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import regex

from gpujobs.pod.shared import line_forms as forms
from gpujobs.pod.shared.line_kinds import mark_lines

PROSE = "prose"
HEADING_MAX_CHARS = 80  # white space collapsed
HEADING_MAX_WORDS = 12
HEADING_WRAPPED_LINE_CHARS = 60  # a shorter line in a heading of two lines was not wrapped: verse, an address
BODY_MIN_WORDS = 15  # what follows a heading
ITEM_STOPPED_MIN_WORDS = 3  # with a full stop
ITEM_SENTENCE_MIN_WORDS = 6  # with other punctuation
ITEM_LONG_MIN_WORDS = 12  # from here on a list item is prose without end punctuation, too
LIST_MIN_ITEMS = 2  # in a paragraph, for a list that follows its introduction without a blank line
REFERENCE_MIN_SHARE = 0.5  # of the lines after "References" that must look like entries


@dataclass(frozen=True, slots=True)
class Block:
    """Characters [begin, end) of the text: prose, or the kind that it is left out as.

    mark: length of a bullet at its begin, which is not read.  apart: blank lines (or nothing) around it.
    """

    kind: str
    begin: int
    end: int
    mark: int = 0
    apart: bool = False
    item: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    begin: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def find_blocks(text: str) -> list[Block]:
    """Blocks in order, not overlapping; outside them there is only white space."""
    lines = [_Line(m.start(), m.end(), m[0]) for m in _LINE.finditer(text)]
    taken = mark_lines([line.text for line in lines])
    blocks = [block for block in _split(lines, taken) if text[block.begin : block.end].strip()]
    blocks = _with_headings(text, blocks)
    return _without_references(text, blocks)


_LINE = regex.compile(r"[^\n]*+(?:\n|(?<=[^\n])\Z)")


def _split(lines: list[_Line], taken: list[str | None]) -> Iterator[Block]:
    """Runs of lines of one kind, and the paragraphs between them."""
    i = 0
    while i < len(lines):
        j = i + 1
        if taken[i] is None and lines[i].blank:
            i = j
            continue
        while j < len(lines) and taken[j] == taken[i] and (taken[i] is not None or not lines[j].blank):
            j += 1
        if taken[i] is not None:
            yield Block(taken[i] or "", lines[i].begin, lines[j - 1].end)
        else:
            apart = (i == 0 or lines[i - 1].blank or taken[i - 1] is not None) and (
                j == len(lines) or lines[j].blank or taken[j] is not None
            )
            yield from _paragraph(lines[i:j], apart)
        i = j


def _paragraph(lines: list[_Line], apart: bool) -> Iterator[Block]:
    """One paragraph: its list items, and the rest. A title on its first line is read: wrapped, nobody could tell it."""
    starts = [0]
    width = max(len(line.text.rstrip()) for line in lines)
    listed = sum(forms.bullet(line.text) > 0 for line in lines) >= LIST_MIN_ITEMS
    item_before = forms.bullet(lines[0].text) > 0
    for i in range(1, len(lines)):
        line, before = lines[i].text, lines[i - 1].text
        opens = forms.bullet(line) and forms.ends_sentence(before, ":;") and (listed or _would_fit(before, line, width))
        if opens or (item_before and forms.bullet(line)):
            item_before = True
            starts.append(i)
        elif item_before and line[0].isupper() and _would_fit(before, line, width):
            item_before = False
            starts.append(i)
    for i, j in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield _block(lines[i:j], apart and len(starts) == 1)


def _would_fit(before: str, line: str, width: int) -> bool:
    """Whether the first word had room on the line before: then no wrapping put it here."""
    return len(before.rstrip()) + len(line.split(None, 1)[0]) < width


def _block(lines: list[_Line], apart: bool) -> Block:
    begin, end = lines[0].begin, lines[-1].end
    mark = forms.bullet(lines[0].text)
    if not mark:
        return Block(PROSE, begin, end, apart=apart)
    text = " ".join(line.text.strip() for line in lines)[mark:].strip("*_ ")
    words = forms.count_tokens(text, ITEM_LONG_MIN_WORDS)
    enough = ITEM_STOPPED_MIN_WORDS if forms.ends_sentence(text) else ITEM_SENTENCE_MIN_WORDS
    sentence = words >= ITEM_LONG_MIN_WORDS or (words >= enough and forms.ends_sentence(text, ":;,"))
    return Block(PROSE if sentence else "list", begin, end, mark=mark if sentence else 0, apart=apart, item=True)


# --- headings ----------------------------------------------------------------------------------------------------


def _with_headings(text: str, blocks: list[Block]) -> list[Block]:
    """Short lines that stand above prose become headings. Read from the end: what follows is then known."""
    new: list[Block] = []
    body_follows = False
    for i in range(len(blocks) - 1, -1, -1):
        block = blocks[i]
        if block.kind == PROSE and not block.item:
            part = text[block.begin : block.end].strip()
            if body_follows and block.apart and _is_heading(part):
                block = replace(block, kind="heading")
            else:
                long = forms.count_tokens(part, BODY_MIN_WORDS) >= BODY_MIN_WORDS
                body_follows = long and forms.ends_sentence(part, ":")
        elif block.item:
            body_follows = body_follows or block.kind == PROSE
        new.append(block)
    return new[::-1]


def _is_heading(part: str) -> bool:
    *wrapped, _ = (line.strip() for line in part.split("\n"))
    part = " ".join(part.split())
    if len(part) > HEADING_MAX_CHARS or any(len(line) < HEADING_WRAPPED_LINE_CHARS for line in wrapped):
        return False
    if forms.count_tokens(part, HEADING_MAX_WORDS + 1) > HEADING_MAX_WORDS:
        return False
    bold = part[0] in "*_" and part[-1] in "*_:"
    bare = part.strip("*_ ").rstrip(":") if bold else part
    ends = bare[-1:].isalnum() or bare[-1:] in set(")]%")
    return ends and (bare[0].isalnum() or bare[0] in "\"'([\u00bf\u00a1") and not bare[0].islower()


# --- reference lists ---------------------------------------------------------------------------------------------


def _without_references(text: str, blocks: list[Block]) -> list[Block]:
    """The list of sources at the end: after its heading, or a run of entries without one."""
    end = len(blocks)
    for i in range(len(blocks) - 1, -1, -1):
        part = text[blocks[i].begin : blocks[i].end]
        if len(part) < HEADING_MAX_CHARS and forms.REFERENCE_HEADING.fullmatch(part.strip()):
            if _mostly_entries(text, blocks[i + 1 : end]):
                blocks[i:end] = [_as_reference(block) for block in blocks[i:end]]
            end = i
        elif blocks[i].kind == "heading" and not forms.looks_like_entry(part):
            end = i
        elif blocks[i].kind == PROSE and forms.REFERENCE_HEADING_LINE.match(part):  # no blank line below the heading
            entries = part.strip().split("\n")[1:]
            if _share_of_entries(entries) >= REFERENCE_MIN_SHARE:
                blocks[i] = _as_reference(blocks[i])
    return _without_bare_entries(text, blocks)


def _without_bare_entries(text: str, blocks: list[Block]) -> list[Block]:
    tail = len(blocks)
    while tail and forms.STRONG_ENTRY.match(text[blocks[tail - 1].begin : blocks[tail - 1].end].strip()):
        tail -= 1
    entries = sum(text[block.begin : block.end].strip().count("\n") + 1 for block in blocks[tail:])
    if tail and entries >= forms.REFERENCE_MIN_ENTRIES:
        blocks[tail:] = [_as_reference(block) for block in blocks[tail:]]
    return blocks


def _as_reference(block: Block) -> Block:
    return replace(block, kind="reference", mark=0)


def _mostly_entries(text: str, blocks: list[Block]) -> bool:
    lines = [line for block in blocks for line in text[block.begin : block.end].split("\n")]
    return _share_of_entries(lines) >= REFERENCE_MIN_SHARE


def _share_of_entries(lines: list[str]) -> float:
    lines = [line for line in lines if line.strip()]
    return sum(map(forms.looks_like_entry, lines)) / len(lines) if lines else 0.0
