"""Infinity in a virtual environment of its own: installed once, started on a free port, asked over HTTP."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import httpx

from benchmarks import processes
from benchmarks.infinity.folder import LABELS
from devstack import ports

PACKAGES = (
    "infinity-emb[torch,server]==0.0.78",
    "torch==2.13.0",  # the project's own
    "transformers==4.57.6",
    "tokenizers==0.22.2",
    "sentence-transformers==3.4.1",
    "fastapi==0.165.0",
    "uvicorn==0.32.1",
)
STAMP = ".bench-installed"
START_SECONDS = 120.0
ASK_SECONDS = 300.0
INPUTS_A_REQUEST = 32  # what Infinity calls a batch
REQUESTS_AT_ONCE = 16  # so that it can sort as many batches by length as it looks at


def ensure(folder: Path) -> None:
    """Has Infinity installed in `folder`; instant when it is."""
    wanted = "\n".join(PACKAGES)
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing Infinity into {folder} (1.4 GB with torch for CPUs)", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-q"]
    subprocess.run([*pip, *PACKAGES], check=True, stdout=sys.stderr)
    stamp.write_text(wanted, encoding="utf-8")


class Infinity:
    """One running server. Use it as a context manager."""

    def __init__(self, venv: Path, model: Path, dtype: str, threads: int, log: Path) -> None:
        """dtype: `float32` or `bfloat16`.  threads: of torch."""
        self.name = model.name
        self._port = ports.free_port()
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=ASK_SECONDS)
        self._command = [str(venv / "bin" / "infinity_emb"), "v2", "--model-id", str(model), "--engine", "torch"]
        self._command += ["--served-model-name", self.name, "--device", "cpu", "--dtype", dtype]
        self._command += [
            "--host",
            "127.0.0.1",
            "--port",
            str(self._port),
            "--log-level",
            "warning",
            "--no-model-warmup",
        ]
        self._threads, self._log_path = str(threads), log
        self._log: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Infinity":
        # It reports its use to its makers and looks for models at a hub unless told otherwise.
        quiet = {"DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
        threads = {"OMP_NUM_THREADS": self._threads, "MKL_NUM_THREADS": self._threads}
        self._log = self._log_path.open("wb")
        self._process = subprocess.Popen(
            self._command, env=os.environ | quiet | threads, stdout=self._log, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise SystemExit(f"Infinity did not start: {self._log_path.read_text(errors='replace')[-2000:]}")
            time.sleep(0.5)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._log is not None:
            self._log.close()
        self._client.close()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def probabilities(self, inputs: Sequence[str]) -> list[float]:
        """What the classify route says of each input, many requests at once."""
        requests = [inputs[i : i + INPUTS_A_REQUEST] for i in range(0, len(inputs), INPUTS_A_REQUEST)]
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            answers = list(pool.map(self._classify, requests))
        return [probability for answer in answers for probability in answer]

    def measured(self, inputs: Sequence[str]) -> dict[str, float]:
        """Seconds from the first post to the last answer, the server's processor seconds, its most memory in MB."""
        cpu, wall = processes.cpu_seconds(self.pid), time.perf_counter()
        self.probabilities(inputs)
        seconds = time.perf_counter() - wall
        spent = processes.cpu_seconds(self.pid) - cpu
        return {"seconds": seconds, "cpu_seconds": spent, "peak_mb": processes.peak_mb(self.pid)}

    def _classify(self, inputs: Sequence[str]) -> list[float]:
        body = {"model": self.name, "input": list(inputs), "raw_scores": False}
        answer = self._client.post("/classify", json=body)
        answer.raise_for_status()
        return [_of_ai(classes) for classes in answer.json()["data"]]

    def _is_up(self) -> bool:
        try:
            return self._client.get("/health").status_code == 200
        except httpx.TransportError:
            return False


def _of_ai(classes: Sequence[dict[str, Any]]) -> float:
    return float(next(found["score"] for found in classes if found["label"] == LABELS[1]))
