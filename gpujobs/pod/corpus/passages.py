"""Documents -> passages of 50-600 words that begin and end with a sentence. Pure: the same text, the same cuts.

A passage takes whole paragraphs while they fit its length, which is drawn by a hash, so that lengths vary as in the
other corpora. It ends early at a heading once it is long enough; paragraphs that are too long are cut at sentence
ends. Imports: cleaning, documents, gpujobs.pod.shared.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from gpujobs.pod.corpus.cleaning import is_prose, mask, tidy
from gpujobs.pod.corpus.documents import Document
from gpujobs.pod.shared.language import detect
from gpujobs.pod.shared.prose import BLOCK_JOINER, count_words, read
from gpujobs.pod.shared.sentences import sentence_spans

MIN_WORDS, MAX_WORDS = 50, 600
SHORTEST_AIM, LONGEST_AIM = 70, 380  # words, drawn evenly in the logarithm: short texts are many in service too
WHOLE_PARAGRAPH_WORDS = 120  # longer paragraphs may be parted between sentences
MIN_KEPT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph, or a sentence of a long one."""

    text: str
    words: int
    opens_paragraph: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """group: the document, by name.  text: paragraphs joined by an empty line, as the product reads blocks."""

    group: str
    text: str


def passages(document: Document, language: str) -> Iterator[Passage]:
    """The passages of one document, in reading order."""
    name, number, kept = document.name, 0, list[Piece]()
    for section in document.sections:
        for piece in _pieces(section, language):
            if kept and _words(kept) + piece.words > _aim(name, number) and _words(kept) >= MIN_WORDS:
                yield from _passage(name, kept)
                number, kept = number + 1, []
            kept.append(piece)
        if _words(kept) >= SHORTEST_AIM:  # a heading ends a passage that is long enough
            yield from _passage(name, kept)
            number, kept = number + 1, []
    yield from _passage(name, kept)


def _aim(name: str, number: int) -> float:
    share = hashlib.sha256(f"{name}#{number}".encode()).digest()[0] / 255
    return float(SHORTEST_AIM * (LONGEST_AIM / SHORTEST_AIM) ** share)


def _pieces(section: tuple[str, ...], language: str) -> Iterator[Piece]:
    for raw in section:
        paragraph = tidy(raw)
        if not is_prose(paragraph) or not _in_language(paragraph, language):
            continue
        spans = [(0, len(paragraph))]
        if count_words(paragraph) > WHOLE_PARAGRAPH_WORDS:
            spans = sentence_spans(paragraph, language)
        for start, end in spans:
            sentence = paragraph[start:end].strip()
            yield Piece(sentence, count_words(sentence), start == 0)


def _in_language(paragraph: str, language: str) -> bool:
    """Translations leave some paragraphs in English; English sources need no look at each paragraph."""
    return language == "en" or detect(paragraph).language == language


def _words(kept: list[Piece]) -> int:
    return sum(piece.words for piece in kept)


def _passage(name: str, kept: list[Piece]) -> Iterator[Passage]:
    joined = "".join((BLOCK_JOINER if piece.opens_paragraph else " ") + piece.text for piece in kept)
    text = mask(joined.strip())
    words = count_words(text)
    if MIN_WORDS <= words <= MAX_WORDS:
        reading = read(text)
        if reading.words >= max(MIN_WORDS, MIN_KEPT_SHARE * words):
            yield Passage(name, text)
