"""What the command keeps in the user's own folder: an API key for each service, and services' public keys.

The key's file is made readable by nobody else before anything is written to it, and replaced as a whole.
INKCLOAK_API_KEY wins over it; a key is only ever sent to the service that it was kept for.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import httpx

from inkcloak.client.api import API, DEFAULT_URL, KEY_VARIABLE, URL_VARIABLE, api_address
from inkcloak.client.errors import ConnectionFailed
from inkcloak.client.reports import KEYS_PATH, MAX_BYTES, PublicKey, ReportError, read_json, read_keys

FOLDER_VARIABLE = "INKCLOAK_CONFIG_DIR"
CONFIG, PUBLIC_KEYS = "config.json", "keys.json"
PRIVATE, PUBLIC = 0o600, 0o644
FETCH_SECONDS = 15.0


def folder() -> Path:
    """The user's folder for this command, by the custom of the system (XDG_CONFIG_HOME and the like)."""
    return Path(os.environ.get(FOLDER_VARIABLE) or click.get_app_dir("inkcloak"))


def url(asked: str | None) -> str:
    """The API's address: asked for, in the environment, the one that was logged in to last. Raises ValueError."""
    return api_address(asked or os.environ.get(URL_VARIABLE) or str(_read(CONFIG).get("url") or DEFAULT_URL))


def api_key(address: str) -> str:
    """The key for this service; empty where there is none."""
    return os.environ.get(KEY_VARIABLE) or str(_keys().get(address) or "")


def remember(address: str, key: str) -> Path:
    """Keeps a key, and the service as the one that is meant when none is named. Raises OSError."""
    return _write(CONFIG, {"url": address, "keys": _keys() | {address: key}}, PRIVATE)


def forget(address: str) -> bool:
    """Whether there was a key. Raises OSError."""
    keys = _keys()
    if address not in keys:
        return False
    del keys[address]
    _write(CONFIG, _read(CONFIG) | {"keys": keys}, PRIVATE)
    return True


def is_open_to_others() -> bool:
    """Whether somebody else may read the keys. Not by our hand: we write the file for its owner alone."""
    try:
        return os.name == "posix" and bool((folder() / CONFIG).stat().st_mode & 0o077)
    except OSError:
        return False


# --- Public keys ---------------------------------------------------------------------------------------------


def public_keys(address: str, key_id: str, *, offline: bool = False) -> tuple[PublicKey, ...]:
    """The service's keys: as kept here if `key_id` is among them, else from the service, and kept then.

    Raises ConnectionFailed where they can't be had, ReportError (bad_keys).
    """
    kept = _read(PUBLIC_KEYS)
    known = read_keys(kept[address]) if address in kept else ()
    if any(key.key_id == key_id for key in known):
        return known
    if offline:
        if known:
            return known
        raise ConnectionFailed("no keys of this service are kept here: give --keys, or ask once without --offline")
    found = _fetch(address.removesuffix(API) + KEYS_PATH)
    with suppress(OSError):  # a folder that can't be written only costs a question the next time
        _write(PUBLIC_KEYS, kept | {address: found}, PUBLIC)
    return read_keys(found)


def _fetch(place: str) -> dict[str, Any]:
    try:
        answer = httpx.get(place, timeout=FETCH_SECONDS, follow_redirects=False)
    except httpx.RequestError as error:
        raise ConnectionFailed(f"no answer from the service ({type(error).__name__})") from error
    if not answer.is_success:
        raise ConnectionFailed(f"the service has no keys to show (status {answer.status_code})")
    try:
        found = read_json(answer.content[: MAX_BYTES + 1])
        read_keys(found)
    except ReportError as error:  # says nothing about the report
        raise ConnectionFailed(f"the service has no keys to show ({error.code})") from None
    return found


# --- Files ---------------------------------------------------------------------------------------------------


def _keys() -> dict[str, Any]:
    keys = _read(CONFIG).get("keys")
    return dict(keys) if isinstance(keys, dict) else {}


def _read(name: str) -> dict[str, Any]:
    """What is kept; nothing where the file is missing or damaged."""
    try:
        return read_json((folder() / name).read_bytes())
    except (OSError, ReportError):
        return {}


def _write(name: str, values: Mapping[str, Any], mode: int) -> Path:
    """As a whole or not at all."""
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(prefix=f".{name}-", dir=place)  # 0600 from the start
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(values, file, indent=2)
        Path(made).chmod(mode)
        return Path(made).replace(place / name)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
