"""Mixed documents of held-out texts, and the rule fitted on them."""

from dataclasses import replace

import numpy as np
import tiny

from gpujobs.pod.borders import fit_rule
from gpujobs.pod.dataset import Row
from gpujobs.pod.mixed import Mixed, documents, writer
from gpujobs.pod.segments import FULL_WEIGHT_TOKENS, Sentence
from gpujobs.pod.shared.sentences import sentence_spans

ROWS = [replace(row, text=" ".join([row.text] * 5)) for row in tiny.rows(training=80)[:80]]


class Telling:
    """Stands for a reader whose sentences say mostly right who wrote them: AI sentences have more AI words."""

    def sentences(self, texts: list[tuple[str, str]]) -> list[list[Sentence]]:
        return [[self._sentence(text, *span) for span in sentence_spans(text, language)] for text, language in texts]

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        words = text[start:end].lower().replace(".", "").split()
        told = sum(word in tiny.AI[2:] for word in words) - sum(word in tiny.HUMAN[2:] for word in words)
        return Sentence(start, end, FULL_WEIGHT_TOKENS, (float(told), 0.0, 0.0))


def test_it_makes_documents_of_two_writers_in_one_genre() -> None:
    found = documents(ROWS, 20, seed=1)
    assert len(found) == 20
    for document in found:
        assert set(document.labels) == {0, 1}
        assert document.spans[-1][1] == len(document.text)
        assert 0.02 < document.ai_share < 0.98
    assert found == documents(ROWS, 20, seed=1) != documents(ROWS, 20, seed=2)


def test_it_makes_none_where_a_genre_has_one_class() -> None:
    rows = [replace(row, domain="story" if row.label else "news") for row in ROWS]
    assert documents(rows, 20, seed=1) == []


def test_it_takes_the_ai_text_on_the_same_passage_half_the_time() -> None:
    paired: list[Row] = [replace(row, group=f"g{number // 2}") for number, row in enumerate(ROWS)]
    first = {(row.label, row.text.split(".")[0]): row.group for row in paired}
    found = documents(paired, 30, seed=3)
    groups = [
        {first[label, document.text[start:end].split(".")[0]] for (start, end), label in _opening(document)}
        for document in found
    ]
    assert sum(len(of_both) == 1 for of_both in groups) >= len(found) / 4


def _opening(document: Mixed) -> list[tuple[tuple[int, int], int]]:
    """The first two pieces: each opens with its text's first sentence."""
    return list(zip(document.spans, document.labels, strict=True))[:2]


def test_it_says_who_wrote_a_sentence() -> None:
    document = Mixed("x" * 30, "en", "news", ((0, 10), (11, 20), (21, 30)), (0, 1, 0))
    told = [writer(Sentence(a, b, 5, (0.0, 0.0, 0.0)), document) for a, b in ((0, 9), (11, 20), (21, 30))]
    assert told == [0, 1, 0]


def test_it_fits_a_rule_that_finds_the_changes() -> None:
    mixed = documents(ROWS, 30, seed=5)
    rule = fit_rule(Telling(), mixed, ROWS)
    assert rule.weights[0] > 0
    shares = []
    for document in documents(ROWS, 30, seed=6):
        (sentences,) = Telling().sentences([(document.text, "en")])
        path = rule.states(sentences)
        marked = sum(s.end - s.start for s, state in zip(sentences, path, strict=True) if state)
        shares.append(abs(marked / len(document.text) - document.ai_share))
    assert np.mean(shares) < 0.1
    one_writer = " ".join(["We saw rain and he said no."] * 12)
    (sentences,) = Telling().sentences([(one_writer, "en")])
    assert rule.segments(sentences) == [(0, len(one_writer))]
