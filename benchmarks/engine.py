"""`make bench-engine`: the CPU engine through the whole product, beside the bare scorer and beside Infinity.

    ARGS="--texts 200 --rounds 5"

product    texts queued in the bulk lane of a rehearsed product, from the first claim until the last verdict is stored
bare       gpujobs.pod.score.Scorer on the same prose in the same batches, in a process of its own
infinity   the merged encoder and its document head behind Infinity's classify route over HTTP, on the windows of the
           same prose: in float32, which it takes on CPUs by itself, and in bfloat16

Each keeps to the same two cores and reads the same texts, with new words every round. They take turns; figures are
medians over the rounds. First Infinity's probabilities are held against ours. `times_infinity` is against the faster of
the two. Needs a running product: its database and Redis in the environment.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import django
import redis
from tokenizers import Tokenizer

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
DTYPES = ("float32", "bfloat16")  # Infinity's own choice on CPUs, and the faster one
WARM_UP_SEED, AGREEING_SEED = 1_000, 1_001  # rounds have the seeds 0, 1, 2 …
WARM_UP_TEXTS, AGREEING_TEXTS = 8, 20
MOST_APART = 0.01  # of Infinity's probabilities and ours
NEARLY_DONE = 33  # texts: one batch and one text
SEEN_SECONDS, SEEN_SOON_SECONDS = 1.0, 0.05  # between two looks at the rows, and near the end
PATIENCE_SECONDS = 300.0
SETTLE_SECONDS = 0.5
TARGETS = {"product_share_of_bare": 0.9, "times_infinity": 2.0}

Measured = dict[str, float]
Rounds = dict[str, list[Measured]]  # of each participant, in the order of the rounds


class Product:
    """The rehearsed product: rows in, verdicts out."""

    def __init__(self, cores: set[int]) -> None:
        self.pid = processes.find(f"{SCORE_QUEUE}@%h", "DATABASE_URL", os.environ["DATABASE_URL"])
        processes.keep_to(cores, self.pid)
        self._redis = redis.Redis.from_url(settings.REDIS_URL)

    def measured(self, items: Sequence[Text]) -> Measured:
        """Seconds from the first claim until the last verdict is seen, processor seconds of the score worker and of
        everything that was started with it (web, PostgreSQL, Redis …)."""
        submissions = self._queue(items)
        cpu = self._cpu_seconds()
        wakeups.queue_has_work()
        end = self._wait(submissions)
        spent = self._cpu_seconds() - cpu
        begin = submissions.aggregate(first=Min("dispatched_at"))["first"]
        done = submissions.filter(status=Submission.Status.DONE, run__isnull=False, verdict__isnull=False).count()
        assert done == len(items), f"{len(items) - done} texts have no verdict from a run"
        self._settle()
        seconds = (end - begin).total_seconds()
        return {"seconds": seconds, "cpu_seconds": spent, "peak_mb": processes.peak_mb(self.pid)}

    def _queue(self, items: Sequence[Text]) -> Any:
        """All rows at once, and nobody woken yet: a worker that began with the first would wait for the second."""
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

    @staticmethod
    def _cpu_seconds() -> float:
        return processes.cpu_seconds_below(os.getppid(), without=os.getpid())

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

    def __enter__(self) -> "Bare":
        return self

    def __exit__(self, *_error: object) -> None:
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
        self._tokenizer = Tokenizer.from_file(str(model / self._facts["tokenizer"]))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

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
        """Windows as the scorer reads them, and the sigmoid of what our encoder says of each in fp32."""
        facts = self._facts | {"kind": "onnxruntime"}
        reader = score.Reader(*score.load_parts(self._model, facts, CORES), facts)
        inputs, found = [], []
        for item, raw in zip(items, reader.read([(i.prose, i.language) for i in items]), strict=True):
            inputs += [item.prose[window.start : window.end] for window in raw.windows]
            found += [1 / (1 + math.exp(-logit)) for logit in raw.encoder]
        return inputs, found


def apart(ours: Windows, server: Infinity, dtype: str) -> float:
    """The largest difference between Infinity's probabilities and ours, printed. Ends the benchmark over MOST_APART."""
    inputs, mine = ours.probabilities(texts(AGREEING_TEXTS, AGREEING_SEED))
    theirs = server.probabilities(inputs)
    found = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    _say(f"Infinity, {dtype}: on {len(inputs)} windows of {AGREEING_TEXTS} texts it differs by {found:.2g} at most")
    if found > MOST_APART:
        raise SystemExit("Infinity does not serve the same model")
    return float(f"{found:.2g}")


def rounds(number: int, count: int, runners: Mapping[str, Callable[[Sequence[Text]], Measured]]) -> Rounds:
    """Every participant on every round's texts, in turns; before that a few texts to warm up. Printed: texts/s, and in
    brackets texts a processor second."""
    measured: Rounds = {name: [] for name in runners}
    for run in runners.values():
        run(texts(WARM_UP_TEXTS, WARM_UP_SEED))
    for seed in range(number):
        items = texts(count, seed)
        for name, run in runners.items():
            measured[name].append(run(items))
        last = {name: found[-1] for name, found in measured.items()}
        speeds = (f"{name} {count / m['seconds']:.2f} ({count / m['cpu_seconds']:.2f})" for name, m in last.items())
        _say(f"round {seed + 1} of {number}: {', '.join(speeds)}, load {os.getloadavg()[0]:.1f}")
    return measured


def figures(measured: Rounds, count: int) -> dict[str, float]:
    """Medians over the rounds, and the two ratios."""
    found: dict[str, float] = {}
    for name, of in measured.items():
        found[f"{name}_texts_per_s"] = round(count / statistics.median(each["seconds"] for each in of), 2)
        found[f"{name}_texts_per_cpu_s"] = round(count / statistics.median(each["cpu_seconds"] for each in of), 2)
        found[f"{name}_peak_mb"] = round(max(each["peak_mb"] for each in of))
    mine = found["product_texts_per_s"]
    found["product_share_of_bare"] = round(mine / found["bare_texts_per_s"], 3)
    times = {f"times_infinity_{dtype}": round(mine / found[f"infinity_{dtype}_texts_per_s"], 2) for dtype in DTYPES}
    return found | times | {"times_infinity": min(times.values())}


def main() -> None:
    options = _options()
    cores = processes.first_cores(CORES)
    os.sched_setaffinity(0, cores)
    ensure(INFINITY_VENV)
    model = registry.folder_of(registry.resolve().pk)
    ours = Windows(model)
    with tempfile.TemporaryDirectory() as name, ExitStack() as started:
        scratch = Path(name)
        infinity_folder.write(model, scratch / "inkcloak")
        runners: dict[str, Callable[[Sequence[Text]], Measured]] = {
            "product": Product(cores).measured,
            "bare": started.enter_context(Bare(model, scratch)).measured,
        }
        differences: dict[str, float] = {}
        for dtype in DTYPES:
            server = Infinity(INFINITY_VENV, scratch / "inkcloak", dtype, CORES, scratch / f"{dtype}.log")
            started.enter_context(server)
            processes.keep_to(cores, server.pid)
            differences[f"infinity_{dtype}_apart"] = apart(ours, server, dtype)
            runners[f"infinity_{dtype}"] = partial(_on_windows, ours, server)
        measured = rounds(options.rounds, options.texts, runners)
    facts = {"texts": options.texts, "rounds": options.rounds, "windows": measured["bare"][0]["windows"]}
    found = facts | figures(measured, options.texts) | differences
    _print(measured, options.texts)
    print(json.dumps({"bench": "engine", "figures": found, "targets": TARGETS}))


def _on_windows(ours: Windows, server: Infinity, items: Sequence[Text]) -> Measured:
    return server.measured(ours.of(items))


def _print(measured: Rounds, count: int) -> None:
    print(f"  {'':18}{'texts/s, lowest .. highest':>28}{'a processor second':>20}{'peak MB':>9}")
    for name, of in measured.items():
        speeds = sorted(count / each["seconds"] for each in of)
        middle = count / statistics.median(each["cpu_seconds"] for each in of)
        span = f"{speeds[0]:.2f} .. {speeds[-1]:.2f}"
        print(f"  {name:18}{span:>28}{middle:>20.2f}{max(each['peak_mb'] for each in of):>9.0f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
