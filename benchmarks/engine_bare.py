"""The scorer alone in a process of its own: what the product around it is held to in `make bench-engine`.

    python -m benchmarks.engine_bare MODEL_FOLDER THREADS

A line of JSON in: the name of a file with [[prose, language], …]. A line of JSON out: seconds, processor seconds and
the most memory in MB. Batches are those that detector.batching makes of the same texts.
"""

import json
import sys
import time
from pathlib import Path

from benchmarks.processes import peak_mb
from detector import batching
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.score import Scorer


def requests(texts: list[tuple[str, str]], version: str) -> list[ScoreRequest]:
    """The texts in the product's batches."""
    waiting = [batching.Waiting(i, version, len(text), 0) for i, (text, _) in enumerate(texts)]
    found: list[ScoreRequest] = []
    while waiting:
        chosen = batching.pack(waiting)
        ids = {row.id for row in chosen}
        waiting = [row for row in waiting if row.id not in ids]
        inputs = tuple(TextIn(str(row.id), *texts[int(str(row.id))]) for row in chosen)
        found.append(ScoreRequest("bench", len(found) + 1, version, inputs))
    return found


def main() -> None:
    folder, threads = sys.argv[1:]
    scorer = Scorer.load(Path(folder), threads=int(threads))
    print(json.dumps({"model_version": scorer.model_version}), flush=True)
    for line in sys.stdin:
        texts = [(text, language) for text, language in json.loads(Path(line.strip()).read_text(encoding="utf-8"))]
        work = requests(texts, scorer.model_version)
        wall, cpu = time.perf_counter(), time.process_time()
        answers = [answer for request in work for answer in scorer.score(request).texts]
        found = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu, "peak_mb": peak_mb()}
        assert not any(answer.error for answer in answers), "a text could not be scored"
        print(json.dumps(found | {"windows": sum(len(answer.windows) for answer in answers)}), flush=True)


if __name__ == "__main__":
    main()
