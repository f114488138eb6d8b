"""Texts to calibrated probabilities, by window and document: what handler, worker and evaluation call alike.

    scorer = Scorer.load(folder)
    answer = scorer.score(request)

A text's scores depend on that text alone (to 1e-4): batches only share padding. A text that can't be scored gets an
error code in its own answer: `empty`, `characters` (lone surrogates), `language`, `version`. May be imported by: the
pod's entries and, inside a worker process, the site's local backend. Extra: `cpu`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from gpujobs.pod import manifest
from gpujobs.pod.calibration import Calibration, Mix
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn, TextOut, WindowScore
from gpujobs.pod.engine import Engine
from gpujobs.pod.ngrams import NgramModel
from gpujobs.pod.windows import Window, cut, join

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

    def __init__(self, facts: dict[str, Any], tokenizer: Tokenizer, engine: Engine, ngrams: NgramModel | None) -> None:
        self.manifest = facts
        self._reader = Reader(tokenizer, engine, ngrams, facts["engine"])
        self._mix = Mix(**facts["calibration"]["mix"])
        self._calibrate = {
            language: Calibration.from_json(values) for language, values in facts["calibration"]["languages"].items()
        }

    @classmethod
    def load(cls, folder: Path, *, threads: int = DEFAULT_THREADS, verify: bool = True) -> "Scorer":
        """The model in `folder`, its files checked against the manifest. Raises manifest.ManifestError."""
        facts = manifest.read(Path(folder), verify=verify)
        tokenizer, engine, ngrams = load_parts(Path(folder), facts["engine"], threads)
        return cls(facts, tokenizer, engine, ngrams)

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
        return TextOut(text.id, score, calibrate(score, sum(raw.words)), windows, raw.tokens)


class Reader:
    """Texts to raw logits of their windows. Packaging fits mix and calibration on what it answers."""

    def __init__(self, tokenizer: Tokenizer, engine: Engine, ngrams: NgramModel | None, facts: dict[str, Any]) -> None:
        self._tokenizer, self._engine, self._ngrams = tokenizer, engine, ngrams
        self._first, self._last = int(facts["first_id"]), int(facts["last_id"])
        self._limit = int(facts["window_tokens"]) - SPECIAL_TOKENS

    def read(self, texts: Sequence[tuple[str, str]]) -> list[Raw]:
        """Raw logits of each (text, language); the texts must not be empty."""
        encodings = self._tokenizer.encode_batch([text for text, _ in texts], add_special_tokens=False)
        cuts = [cut(text, lang, e.offsets, self._limit) for (text, lang), e in zip(texts, encodings, strict=True)]
        inputs = [
            [self._first, *encoding.ids[w.first : w.last], self._last]
            for encoding, windows in zip(encodings, cuts, strict=True)
            for w in windows
        ]
        logits = iter(self._engine.logits(inputs))
        return [
            self._raw(text, windows, [next(logits) for _ in windows], len(encoding.ids))
            for (text, _), windows, encoding in zip(texts, cuts, encodings, strict=True)
        ]

    def _raw(self, text: str, windows: Sequence[Window], logits: Sequence[float], tokens: int) -> Raw:
        parts = [text[w.start : w.end] for w in windows]
        ngrams = [self._ngrams.score(part) if self._ngrams else 0.0 for part in parts]
        words = tuple(len(part.split()) for part in parts)
        return Raw(tuple(windows), tuple(logits), tuple(ngrams), words, tokens)


def load_parts(folder: Path, facts: dict[str, Any], threads: int) -> tuple[Tokenizer, Engine, NgramModel | None]:
    """Tokenizer, engine and n-grams of a folder, by the `engine` block of its manifest."""
    tokenizer = Tokenizer.from_file(str(folder / facts["tokenizer"]))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    engine = Engine(folder / facts["encoder"], int(facts["pad_id"]), threads)
    ngrams = NgramModel.load(folder / facts["ngrams"]) if facts.get("ngrams") else None
    return tokenizer, engine, ngrams
