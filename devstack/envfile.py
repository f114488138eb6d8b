"""Files of KEY=VALUE lines: `.env` by a person, `var/dev.env` by the running stack."""

import os
from collections.abc import Mapping
from pathlib import Path


def read(path: Path) -> dict[str, str]:
    """Its pairs; comments, empty lines and an absent file give none. Quotes around a value are taken off."""
    if not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.removeprefix("export ").split("=", 1) for line in lines if "=" in line and line[0] != "#")
    return {key.strip(): _unquoted(value.strip()) for key, value in pairs}


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def write(path: Path, values: Mapping[str, str]) -> None:
    """Replace `path` in one step; it holds secrets, so only its owner may read it."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write("# Written by `make run`; valid while it runs. Change .env instead.\n")
        out.writelines(f"{key}={value}\n" for key, value in values.items())
    fresh.replace(path)
