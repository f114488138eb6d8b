"""Texts to verdicts the way the product gives them: read, score, decide; answers are kept on disk and never twice paid.

The file of answers is keyed by the model version, the scoring code and the digest of what was read; it holds numbers,
no text. May be imported by: the report's sections. Imports: score, manifest, shared rules.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gpujobs.pod import manifest
from gpujobs.pod.contract import ScoreRequest, TextIn, TextOut, WindowScore
from gpujobs.pod.evaluate import NO_VERDICT
from gpujobs.pod.score import Scorer
from gpujobs.pod.shared.decision import decide
from gpujobs.pod.shared.prose import Reading, read

SCORED_TOGETHER = 64  # texts between two writes of the file
CODE = Path(manifest.__file__).parent
SCORING_CODE = ("score", "engine", "windows", "segments", "ngrams", "calibration", "shared/sentences")


@dataclass(frozen=True, slots=True)
class Answer:
    """probability: calibrated, of the document; None where the scorer had an error.  windows: without gaps."""

    probability: float | None
    windows: tuple[WindowScore, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """label: human, mixed, ai or insufficient.  flagged: of each window, empty without a verdict."""

    label: str
    ai_fraction: float
    flagged: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A text as the product would show it."""

    reading: Reading
    answer: Answer
    verdict: Verdict

    @property
    def called_ai(self) -> bool:
        """Whether the verdict is anything but human: the flag that all rates count."""
        return self.verdict.label in ("ai", "mixed")


class Judge:
    """One model folder with its file of answers."""

    def __init__(self, scorer: Scorer, folder: Path) -> None:
        self.scorer = scorer
        self.manifest = scorer.manifest
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"answers-{scorer.model_version}-{_code_stamp()}.jsonl"
        self._known = _stored(self._file)

    def judge(self, texts: Sequence[tuple[str, str]], what: str) -> list[Judged]:
        """Verdicts at the default cap on (text as a person has it, language), in order. what: names the bar."""
        readings = [read(text) for text, _ in tqdm(texts, desc=f"{what}: reading", mininterval=2)]
        keys = [_key(r.text, language) for r, (_, language) in zip(readings, texts, strict=True)]
        wanted = {
            key: (r.text, language) for key, r, (_, language) in zip(keys, readings, texts, strict=True) if r.text
        }
        self._score({key: pair for key, pair in wanted.items() if key not in self._known}, what)
        return [
            Judged(r, answer, self.decide(answer, r.words, language))
            for r, (_, language), answer in zip(
                readings, texts, (self._known.get(key, Answer(None, ())) for key in keys), strict=True
            )
        ]

    def decide(self, answer: Answer, words: int, language: str, cap: float | None = None) -> Verdict:
        """The product's verdict at a cap (default: the product's); insufficient for short texts and for errors."""
        if answer.probability is None or words < self.manifest["min_words"]:
            return Verdict(NO_VERDICT, 0.0, ())
        thresholds = manifest.thresholds(self.manifest, language, cap, words=words)
        found = decide(answer.probability, answer.windows, thresholds)
        return Verdict(found.label, found.ai_fraction, found.flagged)

    def _score(self, missing: dict[str, tuple[str, str]], what: str) -> None:
        order = sorted(missing, key=lambda key: len(missing[key][0]))
        with (
            self._file.open("a", encoding="utf-8") as file,
            tqdm(total=len(order), desc=f"{what}: scoring", mininterval=2) as bar,
        ):
            for start in range(0, len(order), SCORED_TOGETHER):
                keys = order[start : start + SCORED_TOGETHER]
                for key, found in zip(keys, ask(self.scorer, [missing[key] for key in keys]), strict=True):
                    answer = Answer(None if found.error else found.probability, found.windows)
                    self._known[key] = answer
                    file.write(json.dumps(_record(key, answer)) + "\n")
                file.flush()
                bar.update(len(keys))


def ask(scorer: Scorer, texts: Sequence[tuple[str, str]]) -> tuple[TextOut, ...]:
    """One request of (text as read, language) to the scorer."""
    sent = tuple(TextIn(str(number), text, language) for number, (text, language) in enumerate(texts))
    return scorer.score(ScoreRequest("report", 1, scorer.model_version, sent)).texts


def _key(text: str, language: str) -> str:
    return hashlib.sha256(f"{language}\n{text}".encode(errors="surrogatepass")).hexdigest()


def _code_stamp() -> str:
    """First 8 hex digits over the code that answers depend on beside the model folder."""
    total = hashlib.sha256()
    for name in SCORING_CODE:
        total.update((CODE / f"{name}.py").read_bytes())
    return total.hexdigest()[:8]


def _record(key: str, answer: Answer) -> dict[str, Any]:
    windows = [[w.start, w.end, w.score, w.probability] for w in answer.windows]
    return {"key": key, "probability": answer.probability, "windows": windows}


def _stored(file: Path) -> dict[str, Answer]:
    """Answers of earlier runs. A last line that was cut off is dropped, so that the next one starts clean."""
    if not file.exists():
        return {}
    whole = [line for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    file.write_text("".join(whole), encoding="utf-8")
    return dict(_answers(json.loads(line) for line in whole))


def _answers(records: Iterable[dict[str, Any]]) -> Iterable[tuple[str, Answer]]:
    for record in records:
        yield record["key"], Answer(record["probability"], tuple(WindowScore(*w) for w in record["windows"]))
