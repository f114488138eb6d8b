"""One file, read where nothing else is: `python -m detector.files.child EXTENSION MAX_CHARACTERS`.

Bytes on standard input; one JSON object on standard output: {"kind", "parts": [[text, row]], "hidden", "notes",
"encoding"} or {"error", "values"}. Before a parser is loaded the process gives up memory, time, files, further
processes and the network: the first four by the kernel's limits, all but memory and time also by an audit hook.
No Django, no settings, no secrets: the environment is empty.
"""

import json
import logging
import resource
import sys
from typing import Any

from detector.files.limits import CPU_SECONDS, MAX_ANSWER_BYTES, MAX_FILE_BYTES, MEMORY_BYTES, Found, Refused

FORBIDDEN = (
    "socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "os.remove", "os.rename", "os.mkdir",
    "os.link", "os.symlink", "os.truncate", "ftplib.", "http.", "urllib.", "ctypes.dlopen",
)  # fmt: skip
WRITING = frozenset("wax+")


def main(extension: str, max_characters: int) -> None:
    limit()
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    answer = json.dumps(answer_to(data, extension, max_characters), ensure_ascii=False)
    encoded = answer.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_ANSWER_BYTES:
        encoded = json.dumps(_refusal(Refused("too_long", limit=max_characters))).encode()
    sys.stdout.buffer.write(encoded)
    sys.stdout.buffer.flush()


def limit() -> None:
    """Gives up what a parser does not need; nothing gives it back."""
    for what, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 0),
    ):
        hard = resource.getrlimit(what)[1]
        least = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(what, (least, least))
    logging.disable(logging.CRITICAL)  # parsers quote what they stumble over
    sys.addaudithook(_guard)


def answer_to(data: bytes, extension: str, max_characters: int) -> dict[str, Any]:
    """What is written out. Whatever a parser does to us is an answer, too."""
    try:
        found = read(data, extension, max_characters)
    except Refused as refused:
        return _refusal(refused)
    except MemoryError:
        return _refusal(Refused("file_too_heavy"))
    except Exception:  # noqa: BLE001 - the outermost frame of a process: a parser may raise anything
        return _refusal(Refused("file_broken"))
    return {
        "kind": found.kind,
        "parts": [[part.text, part.row] for part in found.parts],
        "hidden": found.hidden,
        "notes": found.notes,
        "encoding": found.encoding,
    }


def read(data: bytes, extension: str, max_characters: int) -> Found:
    """Each parser is loaded only for its own kind: they are what takes time here. Raises Refused."""
    from detector.files import kinds

    if len(data) > MAX_FILE_BYTES:
        raise Refused("file_size", limit=MAX_FILE_BYTES)
    kind = kinds.kind_of(data, extension)
    if kind == kinds.CSV:
        from detector.files import table

        return table.read(data)  # each row has the limit of a text for itself
    found = _one_text(data, kind, max_characters)
    text = found.parts[0].text
    if len(text) > max_characters:
        raise Refused("too_long", limit=max_characters)
    if not text.strip():
        raise Refused("hidden_only" if found.hidden else "file_empty")
    return found


def _one_text(data: bytes, kind: str, max_characters: int) -> Found:
    from detector.files import kinds

    if kind == kinds.PDF:
        from detector.files import pdf

        return pdf.read(data, max_characters)
    if kind == kinds.DOCX:
        from detector.files import word

        return word.read(data)
    if kind == kinds.HTML:
        from detector.files import webpage

        return webpage.read(data)
    from detector.files import decoding
    from detector.files.limits import Part

    text, encoding = decoding.decode(data)
    return Found(kind, [Part(text)], encoding=encoding)


def _refusal(refused: Refused) -> dict[str, Any]:
    return {"error": refused.code, "values": refused.values}


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuses what no parser of ours does: leaving this process, writing, loading machine code."""
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        writes = WRITING.intersection(mode) if isinstance(mode, str) else isinstance(flags, int) and flags & 0b11
        if writes:
            raise PermissionError(event)
    elif event.startswith(FORBIDDEN):
        raise PermissionError(event)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
