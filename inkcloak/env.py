"""Typed readers of the environment: every setting comes through here, and nonsense stops the start.

Order: the process environment, then the file that NAME_FILE names there (how containers are handed secrets), then
`var/dev.env`, which the development stack writes while it runs so that `manage.py` meets the same database. Imported
by settings.py and by what containers ask of themselves (inkcloak/alive.py), so nothing here may need settings.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

from inkcloak import money

BASE_DIR = Path(__file__).resolve().parent.parent
DEV_ENV_FILE = BASE_DIR / "var" / "dev.env"

T = TypeVar("T")
FILE_SUFFIX = "_FILE"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def _dev_values() -> dict[str, str]:
    if not DEV_ENV_FILE.is_file():
        return {}
    lines = (line.strip() for line in DEV_ENV_FILE.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#") and "=" in line)
    return {key.strip(): value.strip() for key, value in pairs}


_DEV = {} if os.environ.get("INKCLOAK_IGNORE_DEV_ENV") else _dev_values()


def _raw(name: str) -> str | None:
    given, file = os.environ.get(name), os.environ.get(name + FILE_SUFFIX)
    if given and file:
        raise ImproperlyConfigured(f"{name} and {name}{FILE_SUFFIX} are both set: which one counts? Unset one.")
    if file:
        return _from_file(name, Path(file))
    return _DEV.get(name) if given is None else given


def _from_file(name: str, path: Path) -> str:
    """Without the end of line that editors add; an empty file is a setting that is not set."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise ImproperlyConfigured(f"{name}{FILE_SUFFIX} names a file that can't be read: {reason}") from None


def _read(name: str, default: T | None, parse: Callable[[str], T], wanted: str) -> T:
    raw = _raw(name)
    if raw is None or raw == "":
        if default is None:
            raise ImproperlyConfigured(f"{name} is not set: {wanted}. `make run` sets it for development.")
        return default
    try:
        return parse(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not {wanted}") from None


def text(name: str, default: str | None = None) -> str:
    """A string; without a default it must be set."""
    return _read(name, default, str, "a text")


def flag(name: str, default: bool = False) -> bool:
    """yes/no words; anything else is an error rather than a silent False."""

    def parse(raw: str) -> bool:
        word = raw.strip().lower()
        if word not in _TRUE | _FALSE:
            raise ValueError(word)
        return word in _TRUE

    return _read(name, default, parse, "one of 1, 0, true, false, yes, no, on, off")


def integer(name: str, default: int, at_least: int = 0) -> int:
    """A whole number not below `at_least`."""

    def parse(raw: str) -> int:
        value = int(raw)
        if value < at_least:
            raise ValueError(value)
        return value

    return _read(name, default, parse, f"a whole number of at least {at_least}")


def nanousd(name: str) -> int | None:
    """An amount in dollars ("25", "0.15"), as whole nano-dollars; None where nothing is set."""

    def parse(raw: str) -> int:
        amount = money.parse(raw)
        if amount < 0:
            raise ValueError(amount)
        return amount

    raw = _raw(name)
    return None if raw is None or raw.strip() == "" else _read(name, 0, parse, "an amount in dollars, as in 0.15")


def words(name: str, default: Sequence[str] = ()) -> list[str]:
    """A list separated by commas."""
    return _read(name, list(default), lambda raw: [w.strip() for w in raw.split(",") if w.strip()], "a list")


def choice(name: str, default: str, options: Sequence[str]) -> str:
    """One of `options`."""

    def parse(raw: str) -> str:
        if raw not in options:
            raise ValueError(raw)
        return raw

    return _read(name, default, parse, "one of " + ", ".join(options))
