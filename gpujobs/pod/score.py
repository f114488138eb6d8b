"""Texts to calibrated probabilities, by window and document: what handler, worker and evaluation call alike.

    scorer = Scorer.load(folder)
    answer = scorer.score(request)

A text's scores depend on that text alone (to 1e-4): batches only share padding. A text that can't be scored gets an
error code in its own answer: `empty`, `characters` (lone surrogates), `language`, `version`. May be imported by: the
pod's entries and, inside a worker process, the site's local backend. Extra: `cpu`.
"""

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from tokenizers import Tokenizer

from gpujobs.pod import manifest
from gpujobs.pod.calibration import Calibration, Mix
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn, TextOut, WindowScore
from gpujobs.pod.engine import Engine, Logits
from gpujobs.pod.genre_model import GenreModel
from gpujobs.pod.ngrams import NgramModel
from gpujobs.pod.segments import Rule, Sentence, measure
from gpujobs.pod.shared.sentences import sentence_spans
from gpujobs.pod.windows import Window, cut, first_letter, join

DEFAULT_THREADS = 2
SPECIAL_TOKENS = 2  # one before and one after each window


@dataclass(frozen=True, slots=True)
class Raw:
    """Logits before mixing: of each window by encoder and n-grams, with its words."""

    windows: tuple[Window, ...]
    encoder: tuple[float, ...]
    ngrams: tuple[float, ...]
    words: tuple[int, ...]
    tokens: int


class Scorer:
    """A loaded model folder. Use `Scorer.load`; one instance serves one thread at a time."""

    def __init__(self, facts: dict[str, Any], reader: "Reader", genres: GenreModel | None) -> None:
        self.manifest = facts
        self._reader, self._genres = reader, genres
        self._mix = Mix(**facts["calibration"]["mix"])
        self._calibrate = {
            language: Calibration.from_json(values) for language, values in facts["calibration"]["languages"].items()
        }

    @classmethod
    def load(cls, folder: Path, *, threads: int = DEFAULT_THREADS, verify: bool = True) -> "Scorer":
        """The model in `folder`, its files checked against the manifest. Raises manifest.ManifestError."""
        facts = manifest.read(Path(folder), verify=verify)
        reader = Reader(*load_parts(Path(folder), facts["engine"], threads), facts["engine"])
        return cls(facts, reader, load_genres(Path(folder), facts["engine"]))

    @property
    def model(self) -> str:
        return str(self.manifest["model"])

    @property
    def model_version(self) -> str:
        return str(self.manifest["model_version"])

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """Scores of every text of the request, in its order. Errors of single texts are inside their
        answers.
        """
        started = time.monotonic()
        errors = [self._error(text, request.model_version) for text in request.texts]
        good = [text for text, error in zip(request.texts, errors, strict=True) if not error]
        raws = iter(self._reader.read([(text.text, text.language) for text in good]))
        texts = tuple(
            TextOut(text.id, 0.0, 0.0, (), 0, error) if error else self._answer(text, next(raws))
            for text, error in zip(request.texts, errors, strict=True)
        )
        return ScoreResponse(
            run_id=request.run_id,
            attempt=request.attempt,
            model=self.model,
            model_version=self.model_version,
            calibration_version=str(self.manifest["calibration_version"]),
            normaliser_version=str(self.manifest["normaliser_version"]),
            texts=texts,
            execution_ms=round((time.monotonic() - started) * 1000),
        )

    def _error(self, text: TextIn, wanted_version: str) -> str:
        if wanted_version != self.model_version:
            return "version"
        if not text.text.strip():
            return "empty"
        if any("\ud800" <= character <= "\udfff" for character in text.text):
            return "characters"
        return "" if text.language in self._calibrate else "language"

    def _answer(self, text: TextIn, raw: Raw) -> TextOut:
        calibrate = self._calibrate[text.language]
        scores = [self._mix(e, n) for e, n in zip(raw.encoder, raw.ngrams, strict=True)]
        windows = tuple(
            WindowScore(w.start, w.end, score, calibrate(score, words))
            for w, score, words in zip(raw.windows, scores, raw.words, strict=True)
        )
        score = join(scores, raw.windows)
        genre = self._genres.guess(text.text) if self._genres else ""
        return TextOut(text.id, score, calibrate(score, sum(raw.words)), windows, raw.tokens, genre=genre)


class Reader:
    """Texts to raw logits of their windows. Packaging fits mix and calibration on what it answers.

    A text is read once in windows as long as the model takes. Where its sentences say that the writer changes, it is
    read once more in windows that end at the changes, so that each window's number is of one writer.
    """

    def __init__(
        self, tokenizer: Tokenizer, engine: "RunsNetwork", ngrams: NgramModel | None, facts: dict[str, Any]
    ) -> None:
        self._tokenizer, self._engine, self._ngrams = tokenizer, engine, ngrams
        self._first, self._last = int(facts["first_id"]), int(facts["last_id"])
        self._limit = int(facts["window_tokens"]) - SPECIAL_TOKENS
        rule = facts.get("segments")  # None: no token head, never a second reading
        self._rule = Rule(tuple(rule["weights"]), rule["bias"], rule["change_cost"]) if rule else None

    def read(self, texts: Sequence[tuple[str, str]]) -> list[Raw]:
        """Raw logits of each (text, language); the texts must not be empty."""
        tokens = self._tokens(texts)
        windows = [cut(t.text, t.language, t.offsets, self._limit) for t in tokens]
        logits = self._logits(tokens, windows)
        if self._rule is not None:
            spans = [
                self._rule.segments(self._sentences(t, w, found))
                for t, w, found in zip(tokens, windows, logits, strict=True)
            ]
            again = [i for i, found in enumerate(spans) if len(found) > 1]
            for i in again:
                windows[i] = self._cut_at(tokens[i], spans[i])
            second = self._logits([tokens[i] for i in again], [windows[i] for i in again])
            for i, found in zip(again, second, strict=True):
                logits[i] = found
        return [self._raw(*each) for each in zip(tokens, windows, logits, strict=True)]

    def sentences(self, texts: Sequence[tuple[str, str]]) -> list[list[Sentence]]:
        """Every text's sentences with what the first reading finds in them."""
        tokens = self._tokens(texts)
        windows = [cut(t.text, t.language, t.offsets, self._limit) for t in tokens]
        logits = self._logits(tokens, windows)
        return [self._sentences(*each) for each in zip(tokens, windows, logits, strict=True)]

    def _tokens(self, texts: Sequence[tuple[str, str]]) -> list["Tokens"]:
        encodings = self._tokenizer.encode_batch([text for text, _ in texts], add_special_tokens=False)
        return [Tokens(*text, e.ids, e.offsets) for text, e in zip(texts, encodings, strict=True)]

    def _logits(self, tokens: Sequence["Tokens"], windows: Sequence[Sequence[Window]]) -> list[list[Logits]]:
        inputs = [
            [self._first, *t.ids[w.first : w.last], self._last]
            for t, cuts in zip(tokens, windows, strict=True)
            for w in cuts
        ]
        found = iter(self._engine.logits(inputs))
        return [[next(found) for _ in cuts] for cuts in windows]

    def _sentences(self, tokens: "Tokens", windows: Sequence[Window], logits: Sequence[Logits]) -> list[Sentence]:
        inner = [found.tokens[1:-1] for found in logits if found.tokens is not None]
        starts = [first_letter(tokens.text, start, end) for start, end in tokens.offsets]
        ends = windows[-1].last if windows else 0
        spans = sentence_spans(tokens.text, tokens.language)
        return measure(tokens.text, spans, starts[:ends], np.concatenate(inner), self._ngrams)

    def _cut_at(self, tokens: "Tokens", spans: Sequence[tuple[int, int]]) -> list[Window]:
        """Windows that end where the segments do."""
        starts = [first_letter(tokens.text, start, end) for start, end in tokens.offsets]
        found: list[Window] = []
        first = 0
        for start, end in spans:
            last = len(starts) if end == spans[-1][1] else bisect_left(starts, end)
            offsets = [(max(a, start) - start, b - start) for a, b in tokens.offsets[first:last]]
            found += [
                Window(w.start + start, w.end + start, w.first + first, w.last + first)
                for w in cut(tokens.text[start:end], tokens.language, offsets, self._limit)
            ]
            first = last
        return found

    def _raw(self, tokens: "Tokens", windows: Sequence[Window], logits: Sequence[Logits]) -> Raw:
        parts = [tokens.text[w.start : w.end] for w in windows]
        ngrams = [self._ngrams.score(part) if self._ngrams else 0.0 for part in parts]
        words = tuple(len(part.split()) for part in parts)
        documents = tuple(found.document for found in logits)
        return Raw(tuple(windows), documents, tuple(ngrams), words, len(tokens.ids))


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text with its token ids (no special ones) and each token's [start, end) in it."""

    text: str
    language: str
    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]


class RunsNetwork(Protocol):
    """An engine: rows of token ids to logits, in the order given, each row's independent of the others."""

    def logits(self, inputs: Sequence[Sequence[int]]) -> list[Logits]: ...


def load_parts(folder: Path, facts: dict[str, Any], threads: int) -> tuple[Tokenizer, RunsNetwork, NgramModel | None]:
    """Tokenizer, engine and n-grams of a folder, by the `engine` block of its manifest."""
    tokenizer = Tokenizer.from_file(str(folder / facts["tokenizer"]))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    engine = load_engine(folder, facts, threads)
    ngrams = NgramModel.load(folder / facts["ngrams"]) if facts.get("ngrams") else None
    return tokenizer, engine, ngrams


def load_engine(folder: Path, facts: dict[str, Any], threads: int) -> RunsNetwork:
    """What runs the folder's network: torch on a GPU, or with so many threads ONNX Runtime, or OpenVINO where it can.
    Loading torch takes seconds and gigabytes, so only a model that needs it does.
    """
    if facts.get("kind") == "torch":
        from gpujobs.pod.torch_engine import TorchEngine

        return TorchEngine.load(folder, facts)
    if facts.get("kind") == "openvino":
        from gpujobs.pod.openvino_engine import OpenVinoEngine, is_at_home

        if is_at_home():
            return OpenVinoEngine(folder / facts["encoder"], int(facts["pad_id"]), threads)
    return Engine(folder / facts["encoder"], int(facts["pad_id"]), threads)


def load_genres(folder: Path, facts: dict[str, Any]) -> GenreModel | None:
    """The genre model of a folder, None for one without."""
    return GenreModel.load(folder / facts["genres"]) if facts.get("genres") else None
