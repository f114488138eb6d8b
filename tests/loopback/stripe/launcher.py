"""The double as a child process: started, waited for, ended by its own id; it ends too when its parent is gone."""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.loopback.stripe.client import Director

ROOT = Path(__file__).resolve().parents[3]
END_SECONDS = 10.0


class LoopbackStripe(Director):
    """`with LoopbackStripe() as stripe:`, then as Director. words: more of the command line."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.loopback.stripe", "--port", "0", "--until-stdin-ends", *words],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the loopback Stripe does not come up: it ended with {self._process.wait()}")
        said = json.loads(line)
        self.webhook_secrets: list[str] = said["webhook_secrets"]
        super().__init__(said["url"], said["key"])

    @property
    def pid(self) -> int:
        """The child's id."""
        return self._process.pid

    def stop(self) -> None:
        """Returns once it has ended."""
        self.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
