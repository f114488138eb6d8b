"""`make bench-engine`: the CPU engine through the whole product, beside the bare scorer and beside Infinity.

    ARGS="--texts 240 --rounds 5 --infinity-dtype float32"

product   texts queued in the bulk lane of a rehearsed product, from the first claim until the last verdict is stored
bare      gpujobs.pod.score.Scorer on the same prose in the same batches, in a process of its own
infinity  the merged encoder and its document head behind Infinity's classify route over HTTP: the same windows

Each keeps to the same two cores and reads the same texts, with new words every round. They take turns; figures are
medians over the rounds. Before that Infinity's probabilities are held against ours, and of float32 and bfloat16 it gets
the faster one. Needs a running product: its database and Redis in the environment.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import django
import redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")
django.setup()

from django.conf import settings  # noqa: E402  needs django.setup()
from django.db import connection, transaction  # noqa: E402
from django.db.models import Min  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks import processes  # noqa: E402
from benchmarks.engine_texts import Text, texts  # noqa: E402
from benchmarks.infinity import folder as infinity_folder  # noqa: E402
from benchmarks.infinity.server import Infinity, ensure  # noqa: E402
from billing import accounts  # noqa: E402
from detector import intake, wakeups  # noqa: E402
from detector.models import Submission  # noqa: E402
from detector.tasks import SCORE_QUEUE  # noqa: E402
from gpujobs import registry  # noqa: E402
from gpujobs.pod import score  # noqa: E402
from gpujobs.pod.dataset import REPOSITORY  # noqa: E402
from gpujobs.pod.windows import cut  # noqa: E402

CORES = 2
INFINITY_VENV = REPOSITORY / "var" / "infinity-venv"
DTYPES = ("float32", "bfloat16")
WARM_UP_SEED, TRIAL_SEED = 1_000, 1_001  # rounds have the seeds 0, 1, 2 …
WARM_UP_TEXTS, TRIAL_TEXTS, AGREEING_TEXTS = 8, 64, 20
MOST_APART = 0.01  # of Infinity's probabilities and ours
NEARLY_DONE = 33  # texts: one batch and one text
SEEN_SECONDS, SEEN_SOON_SECONDS = 1.0, 0.05  # between two looks at the rows, and near the end
PATIENCE_SECONDS = 300.0
SETTLE_SECONDS = 0.5
TARGETS = {"product_share_of_bare": 0.9, "times_infinity": 2.0}

Measured = dict[str, float]


class Product:
    """The rehearsed product: rows in, verdicts out."""

    def __init__(self, cores: set[int]) -> None:
        self.pid = processes.find(f"{SCORE_QUEUE}@%h", "DATABASE_URL", os.environ["DATABASE_URL"])
        processes.keep_to(cores, self.pid)
        self._redis = redis.Redis.from_url(settings.REDIS_URL)

    def measured(self, items: Sequence[Text]) -> Measured:
        """Seconds from the first claim until the last verdict is seen, processor seconds of the score worker."""
        cpu = processes.cpu_seconds(self.pid)
        submissions = self._queue(items)
        end = self._wait(submissions)
        spent = processes.cpu_seconds(self.pid) - cpu
        begin = submissions.aggregate(first=Min("dispatched_at"))["first"]
        done = submissions.filter(status=Submission.Status.DONE, run__isnull=False, verdict__isnull=False).count()
        assert done == len(items), f"{len(items) - done} texts have no verdict from a run"
        self._settle()
        seconds = (end - begin).total_seconds()
        return {"seconds": seconds, "cpu_seconds": spent, "peak_mb": processes.peak_mb(self.pid)}

    def _queue(self, items: Sequence[Text]) -> Any:
        """All rows at once, and one wake-up: a worker that began with the first would wait for the second."""
        owner = accounts.Owner(account=accounts.internal_account())
        now = timezone.now()
        with transaction.atomic():
            made = [
                intake.accept(
                    owner=owner,
                    text=item.text,
                    source=Submission.Source.COMMAND,
                    now=now,
                    lane=Submission.Lane.BULK,
                    reuse=False,
                ).pk
                for item in items
            ]
            connection.run_on_commit = []
        wakeups.queue_has_work()
        return Submission.objects.filter(pk__in=made)

    def _wait(self, submissions: Any) -> Any:
        """When the last of them was seen finished."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        pending = submissions.filter(status__in=(Submission.Status.QUEUED, Submission.Status.SCORING))
        while left := pending.count():
            if time.monotonic() > deadline:
                raise SystemExit(f"{left} texts still wait after {PATIENCE_SECONDS:g} seconds")
            time.sleep(SEEN_SECONDS if left > NEARLY_DONE else SEEN_SOON_SECONDS)
        return timezone.now()

    def _settle(self) -> None:
        """Until no wake-up is left that would disturb whoever is measured next."""
        while self._redis.llen(SCORE_QUEUE):
            time.sleep(SEEN_SOON_SECONDS)
        time.sleep(SETTLE_SECONDS)


class Bare:
    """The process of engine_bare."""

    def __init__(self, model: Path, scratch: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.engine_bare", str(model), str(CORES)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=REPOSITORY)
        self._file = scratch / "texts.json"
        self._line()

    def measured(self, items: Sequence[Text]) -> Measured:
        self._file.write_text(json.dumps([[item.prose, item.language] for item in items]), encoding="utf-8")
        assert self._process.stdin is not None
        print(self._file, file=self._process.stdin, flush=True)
        return self._line()

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _line(self) -> Measured:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the bare scorer ended")
        found: Measured = json.loads(line)
        return found


class Windows:
    """What the encoder reads of a text: Infinity gets each window as a text of its own."""

    def __init__(self, model: Path) -> None:
        self._facts = json.loads((model / "manifest.json").read_text(encoding="utf-8"))["engine"]
        self._model = model
        self._tokenizer = score.load_parts(model, self._facts, CORES)[0]

    def of(self, items: Sequence[Text]) -> list[str]:
        """The windows of the first reading, of all texts."""
        encodings = self._tokenizer.encode_batch([item.prose for item in items], add_special_tokens=False)
        limit = self._facts["window_tokens"] - score.SPECIAL_TOKENS
        return [
            item.prose[window.start : window.end]
            for item, encoding in zip(items, encodings, strict=True)
            for window in cut(item.prose, item.language, encoding.offsets, limit)
        ]

    def probabilities(self, items: Sequence[Text]) -> tuple[list[str], list[float]]:
        """Windows as the scorer reads them, and the sigmoid of what our encoder says of each."""
        reader = score.Reader(*score.load_parts(self._model, self._facts, CORES), self._facts)
        inputs, found = [], []
        for item, raw in zip(items, reader.read([(i.prose, i.language) for i in items]), strict=True):
            inputs += [item.prose[window.start : window.end] for window in raw.windows]
            found += [1 / (1 + math.exp(-logit)) for logit in raw.encoder]
        return inputs, found


def apart(ours: Windows, server: Infinity) -> float:
    """The largest difference between Infinity's probabilities and ours, printed. Ends the benchmark over MOST_APART."""
    inputs, mine = ours.probabilities(texts(AGREEING_TEXTS, TRIAL_SEED))
    theirs = server.probabilities(inputs)
    found = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    _say(f"  {AGREEING_TEXTS} texts, {len(inputs)} windows: probabilities differ by at most {found:.2g}")
    if found > MOST_APART:
        raise SystemExit("Infinity does not serve the same model")
    return found


def trial(dtype: str, start: Callable[[str], Infinity], ours: Windows, count: int) -> dict[str, float]:
    """How fast Infinity is with a number format, and how far from ours."""
    with start(dtype) as server:
        processes.keep_to(processes.first_cores(CORES), server.pid)
        _say(f"Infinity, {dtype}")
        difference = apart(ours, server)
        found = server.measured(ours.of(texts(count, TRIAL_SEED)))
    speed = count / found["seconds"]
    _say(f"  {count} texts: {speed:.1f} texts/s, {count / found['cpu_seconds']:.1f} a processor second")
    return {"texts_per_s": round(speed, 2), "apart": float(f"{difference:.2g}")}


def rounds(number: int, count: int, ours: Windows, product: Product, bare: Bare, server: Infinity) -> dict[str, Any]:
    """Every participant on every round's texts, in turns."""
    measured: dict[str, list[Measured]] = {"product": [], "bare": [], "infinity": []}
    for seed in range(number):
        items = texts(count, seed)
        measured["product"].append(product.measured(items))
        measured["bare"].append(bare.measured(items))
        measured["infinity"].append(server.measured(ours.of(items)))
        speeds = ", ".join(f"{name} {count / found[-1]['seconds']:.2f}" for name, found in measured.items())
        _say(f"round {seed + 1} of {number}: {speeds} texts/s, load {os.getloadavg()[0]:.1f}")
    return measured


def figures(measured: dict[str, list[Measured]], count: int) -> dict[str, float]:
    """Medians over the rounds, and the two ratios."""
    found: dict[str, float] = {}
    for name, of in measured.items():
        found[f"{name}_texts_per_s"] = round(count / statistics.median(each["seconds"] for each in of), 2)
        found[f"{name}_texts_per_cpu_s"] = round(count / statistics.median(each["cpu_seconds"] for each in of), 2)
        found[f"{name}_peak_mb"] = round(max(each["peak_mb"] for each in of))
    found["product_share_of_bare"] = round(found["product_texts_per_s"] / found["bare_texts_per_s"], 3)
    found["times_infinity"] = round(found["product_texts_per_s"] / found["infinity_texts_per_s"], 2)
    return found


def main() -> None:
    options = _options()
    cores = processes.first_cores(CORES)
    os.sched_setaffinity(0, cores)
    ensure(INFINITY_VENV)
    model = registry.folder_of(registry.resolve().pk)
    ours = Windows(model)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        infinity_folder.write(model, scratch / "inkcloak")

        def start(dtype: str) -> Infinity:
            return Infinity(INFINITY_VENV, scratch / "inkcloak", dtype, CORES, scratch / "infinity.log")

        tried = {
            dtype: trial(dtype, start, ours, min(TRIAL_TEXTS, options.texts))
            for dtype in options.infinity_dtype or DTYPES
        }
        best = max(tried, key=lambda dtype: tried[dtype]["texts_per_s"])
        product, bare = Product(cores), Bare(model, scratch)
        with start(best) as server:
            processes.keep_to(cores, server.pid)
            warm = texts(WARM_UP_TEXTS, WARM_UP_SEED)
            for each in (product, bare):
                each.measured(warm)
            server.measured(ours.of(warm))
            measured = rounds(options.rounds, options.texts, ours, product, bare, server)
        bare.end()
    facts = {"texts": options.texts, "rounds": options.rounds, "windows": measured["bare"][0]["windows"]}
    found = facts | figures(measured, options.texts) | {"infinity_dtype": best, "infinity_tried": tried}
    _print(measured, options.texts)
    print(json.dumps({"bench": "engine", "figures": found, "targets": TARGETS}))


def _print(measured: dict[str, list[Measured]], count: int) -> None:
    print(f"  {'':10}{'texts/s, lowest .. highest':>28}{'a processor second':>20}{'peak MB':>9}")
    for name, of in measured.items():
        speeds = sorted(count / each["seconds"] for each in of)
        middle = count / statistics.median(each["cpu_seconds"] for each in of)
        span = f"{speeds[0]:.2f} .. {speeds[-1]:.2f}"
        print(f"  {name:10}{span:>28}{middle:>20.2f}{max(each['peak_mb'] for each in of):>9.0f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--infinity-dtype", choices=DTYPES, action="append", help="instead of the faster of both")
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
