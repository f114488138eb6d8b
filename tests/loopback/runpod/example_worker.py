"""A trivial handler on the unmodified SDK, for tests of the loopback RunPod itself.

input: {"echo": anything} comes back beside the model version; "sleep" seconds first (async); "raise", "crash",
"progress", "nothing" (a result that cannot be serialised) as named.
"""

import asyncio
import os
from typing import Any

os.environ.setdefault("RUNPOD_LOG_LEVEL", "INFO")  # the SDK's default prints every output

import runpod

MODEL_VERSION = os.environ.get("MODEL_VERSION", "1")


async def handler(job: dict[str, Any]) -> Any:
    """One job."""
    given = job["input"]
    if "progress" in given:
        runpod.serverless.progress_update(job, given["progress"])
    await asyncio.sleep(float(given.get("sleep", 0)))
    if "raise" in given:
        raise ValueError(given["raise"])
    if "crash" in given:
        os._exit(3)
    if "nothing" in given:
        return {"set": {1}}
    return {"echo": given.get("echo"), "model_version": MODEL_VERSION}


def concurrency(_current: int) -> int:
    """Constant: a changing one stalls the SDK's intake."""
    return int(os.environ.get("CONCURRENCY", "1"))


if __name__ == "__main__":
    runpod.serverless.start({"handler": handler, "concurrency_modifier": concurrency})
