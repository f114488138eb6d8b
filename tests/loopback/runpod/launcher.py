"""Which command an image stands for, and the environment the real platform gives a worker."""

import fnmatch
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

from tests.loopback.runpod.processes import Child, Guard

EXAMPLE_WORKER = (sys.executable, "-m", "tests.loopback.runpod.example_worker")
BROKEN_WORKER = (sys.executable, "-I", "-S", "-c", "raise SystemExit(1)")
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Image:
    """pattern: a glob of image names. Where to run what, with which environment besides the endpoint's."""

    pattern: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = ROOT


@dataclass
class Launcher:
    """Starts workers. `base_url` is known once the server listens; the latest image that fits wins."""

    guard: Guard
    data: Path
    worker_key: str
    base_url: str = ""
    images: list[Image] = field(default_factory=lambda: [Image("*", EXAMPLE_WORKER)])

    def image(self, name: str) -> Image:
        """What an image name stands for here."""
        return next(image for image in reversed(self.images) if fnmatch.fnmatchcase(name, image.pattern))

    def start(
        self, *, endpoint_id: str, worker_id: str, image: str, args: str, gpu: str, env: Mapping[str, str], broken: bool
    ) -> Child:
        """The worker's process; broken: one that fails at once, as a bad image does."""
        found = self.image(image)
        command = BROKEN_WORKER if broken else (*found.command, *shlex.split(args))
        own = {**found.env, **env, **self.platform_env(endpoint_id, worker_id, gpu)}
        return self.run(command, own, found.cwd, f"worker-{worker_id}")

    def run(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, name: str) -> Child:
        """Any command, logged under the data folder."""
        logs, home = self.data / "logs", self.data / "home"
        logs.mkdir(parents=True, exist_ok=True)
        home.mkdir(parents=True, exist_ok=True)
        full = self.guard.environment({"HOME": str(home), "PYTHONUNBUFFERED": "1", **env})
        return Child(command, full, cwd, logs / f"{name}.log")

    def platform_env(self, endpoint_id: str, worker_id: str, gpu: str) -> dict[str, str]:
        """`$ID` and `$RUNPOD_POD_ID` are for the SDK to fill in; it appends to the query, so one must be there.

        Without the two skips the SDK wants internet and a GPU, which is this machine's lack, not the image's.
        """
        base, query = f"{self.base_url}/v2/{endpoint_id}", f"gpu={quote_plus(gpu)}"
        return {
            "RUNPOD_POD_ID": worker_id,
            "RUNPOD_POD_HOSTNAME": worker_id,
            "RUNPOD_ENDPOINT_ID": endpoint_id,
            "RUNPOD_AI_API_KEY": self.worker_key,
            "RUNPOD_WEBHOOK_GET_JOB": f"{base}/job-take/$ID?{query}",
            "RUNPOD_WEBHOOK_POST_OUTPUT": f"{base}/job-done/$RUNPOD_POD_ID/$ID?{query}",
            "RUNPOD_WEBHOOK_POST_STREAM": f"{base}/job-stream/$RUNPOD_POD_ID/$ID?{query}",
            "RUNPOD_WEBHOOK_PING": f"{base}/ping/$RUNPOD_POD_ID?{query}",
            "RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true",
            "RUNPOD_SKIP_GPU_CHECK": "true",
        }
