"""A scorer that knows one word, and rows to ask it about: for tests of the report's sections. Not a test."""

from typing import Any

from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextOut, WindowScore
from gpujobs.pod.dataset import Row

TELL = "Moreover"
SURE, EVEN, UNSURE = 0.999, 0.6, 0.01
ENTRY = {"document": 0.9, "window": 0.95}


class KnowsOneWord:
    """Says AI where a window of 60 words has the word "Moreover". Counts the texts that it was asked for."""

    model_version = "0123456789ab"

    def __init__(self) -> None:
        self.asked = 0
        self.manifest: dict[str, Any] = {
            "min_words": 50,
            "default_max_fpr": 0.01,
            "thresholds": {"en": {"0.01": ENTRY, "0.05": {"document": 0.5, "window": 0.6}}},
        }

    def score(self, request: ScoreRequest) -> ScoreResponse:
        self.asked += len(request.texts)
        texts = tuple(self._answer(t.id, t.text) for t in request.texts)
        return ScoreResponse(request.run_id, 1, "one word", self.model_version, "1", "1", texts, 1)

    def _answer(self, name: str, text: str) -> TextOut:
        ends = [at for place, at in enumerate(_word_starts(text)) if place and place % 60 == 0] + [len(text)]
        windows = []
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            probability = SURE if TELL in text[start:end] else UNSURE
            windows.append(WindowScore(start, end, 0.0, probability))
        total = sum((w.end - w.start) * w.probability for w in windows) / max(1, len(text))
        return TextOut(name, 0.0, total, tuple(windows), len(text.split()))


def _word_starts(text: str) -> list[int]:
    return [at for at, char in enumerate(text) if not char.isspace() and (at == 0 or text[at - 1].isspace())]


def row(number: int, label: int, *, words: int = 120, part: str = "ood_report", **fields: str) -> Row:
    """A text of short sentences; AI texts have the word in every one of them."""
    opening = TELL if label else "Yesterday"
    sentence = f"{opening} the dog number {number} ran over the old bridge twice."
    text = " ".join([sentence] * (words // 11 + 1))
    facts = {"generator": "m" if label else "human", "domain": "essay", "language": "en", "attack": "none"}
    facts |= {"source": "source", "licence": "project", "group": f"g{number}", "split": "val"} | fields
    return Row(id=f"r{number}-{label}", text=text, label=label, part=part, **facts)
