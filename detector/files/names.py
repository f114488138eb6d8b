"""File names: somebody else's words, shown and stored only after what could mislead in them is gone."""

import re
import unicodedata

MAX_NAME_CHARACTERS = 200  # Submission.file_name
MAX_EXTENSION_CHARACTERS = 10

_FOLDERS = re.compile(r"[/\\]")


def clean(name: str) -> str:
    """The last part of a path on one line, without control and direction characters; too long, it keeps its end."""
    last = _FOLDERS.split(name)[-1]
    kept = "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else " " for c in last
    )
    line = " ".join(kept.split())
    if len(line) <= MAX_NAME_CHARACTERS:
        return line
    end = MAX_NAME_CHARACTERS // 4
    return f"{line[: MAX_NAME_CHARACTERS - end - 1]}…{line[-end:]}"


def of_row(name: str, row: int) -> str:
    """What one row of a table is called: "class.csv #7"."""
    suffix = f" #{row}"
    return clean(name)[: MAX_NAME_CHARACTERS - len(suffix)] + suffix


def extension(name: str) -> str:
    """Lower case, without the dot; empty where it is none: letters and digits alone reach a command line."""
    found = name.rpartition(".")[2].lower() if "." in name else ""
    is_plain = found.isascii() and found.isalnum() and len(found) <= MAX_EXTENSION_CHARACTERS
    return found if is_plain else ""
