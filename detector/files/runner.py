"""Starts the parsing child for one file, feeds it, and takes a bounded answer within a bounded time.

No Django here either. The child gets the bytes by a pipe, an empty environment and a session of its own, so that
ending it ends whatever it may have started.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from detector.files.limits import (
    CHILDREN_AT_ONCE,
    MAX_ANSWER_BYTES,
    MAX_FILE_BYTES,
    WAIT_FOR_A_CHILD_SECONDS,
    WALL_SECONDS,
    Refused,
)

ROOT = Path(__file__).resolve().parents[2]
PIPE_BYTES = 64 * 1024

_places = threading.BoundedSemaphore(CHILDREN_AT_ONCE)


class Busy(Exception):
    """All places for parsing are taken, and stayed so."""


def run(data: bytes, extension: str, max_characters: int, *, seconds: float = WALL_SECONDS) -> dict[str, Any]:
    """The child's answer (see child.py). Raises Refused where the file, or reading it, breaks a limit; Busy."""
    if len(data) > MAX_FILE_BYTES:
        raise Refused("file_size", limit=MAX_FILE_BYTES)
    if not _places.acquire(timeout=WAIT_FOR_A_CHILD_SECONDS):
        raise Busy
    try:
        answer = _answer(data, extension, max_characters, seconds)
    finally:
        _places.release()
    if "error" in answer:
        raise Refused(answer["error"], **answer["values"])
    return answer


def _answer(data: bytes, extension: str, max_characters: int, seconds: float) -> dict[str, Any]:
    # -P: the folder of the program is no place to import from; -s, -B: nothing of a user's, nothing written.
    command = [sys.executable, "-P", "-s", "-B", "-m", "detector.files.child", extension, str(max_characters)]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PYTHONHASHSEED": "0"}
    with subprocess.Popen(  # noqa: S603 - our own program; the extension is letters and digits (names.extension)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,
    ) as child:
        try:
            output = _talk(child, data, time.monotonic() + seconds)
        finally:
            _end(child)
    if child.returncode == 0:
        with contextlib.suppress(ValueError):
            found: dict[str, Any] = json.loads(output.decode("utf-8", "surrogatepass"))
            return found
    # Killed by the kernel for time, ended by a C library that got no memory, or broken.
    by_time = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    raise Refused("file_too_slow" if by_time else "file_too_heavy" if child.returncode < 0 else "file_broken")


def _talk(child: "subprocess.Popen[bytes]", data: bytes, deadline: float) -> bytes:
    """Writes the file and reads the answer as both come, so that neither side waits for a full pipe."""
    assert child.stdin is not None  # noqa: S101 - for the type checker
    assert child.stdout is not None  # noqa: S101
    waiting, output = memoryview(data), bytearray()
    os.set_blocking(child.stdin.fileno(), False)
    with selectors.DefaultSelector() as pipes:
        pipes.register(child.stdin, selectors.EVENT_WRITE)
        pipes.register(child.stdout, selectors.EVENT_READ)
        while pipes.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise Refused("file_too_slow")
            for key, _events in pipes.select(left):
                if key.fileobj is child.stdin:
                    waiting = _write(child, waiting)
                    if not waiting:
                        pipes.unregister(child.stdin)
                        _close(child.stdin)
                    continue
                piece = os.read(child.stdout.fileno(), PIPE_BYTES)
                output += piece
                if not piece:
                    pipes.unregister(child.stdout)
                if len(output) > MAX_ANSWER_BYTES:
                    raise Refused("file_too_heavy")
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise Refused("file_too_slow") from None
    return bytes(output)


def _write(child: "subprocess.Popen[bytes]", waiting: memoryview) -> memoryview:
    assert child.stdin is not None  # noqa: S101 - for the type checker
    try:
        return waiting[os.write(child.stdin.fileno(), waiting[:PIPE_BYTES]) :]
    except BlockingIOError:
        return waiting
    except BrokenPipeError:  # it has ended: its exit status says why
        return memoryview(b"")


def _close(pipe: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.close()


def _end(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
