"""Client and AsyncClient: the same calls, blocking and awaited.

    with Client() as client:  ...         # INKCLOAK_API_KEY and INKCLOAK_URL from the environment, unless given
    async with AsyncClient() as client:   ...

A client may be used by several threads, or tasks. Waits that are longer than the service holds a request are asked for
anew; failures that pass are tried again, with one Idempotency-Key for each call (retrying.py).
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib import metadata
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import urlsplit

import httpx

from inkcloak.client.calls import Calls, Options
from inkcloak.client.many import AnyFile, Many, Progress, texts_in
from inkcloak.client.retrying import Policy
from inkcloak.client.shapes import Detection, FileItem, Item, ModelVersion, Quote, Usage
from inkcloak.client.steps import Outcome, Pause, Send, Steps

KEY_VARIABLE, URL_VARIABLE = "INKCLOAK_API_KEY", "INKCLOAK_URL"
DEFAULT_URL = "http://127.0.0.1:8000"
API = "/api/v1"
TIMEOUT_SECONDS = 30.0  # to connect, to send, and for each answer beyond what it may be held
WAIT_SECONDS = 120.0  # for one verdict
WAIT_FOR_MANY_SECONDS = 900.0
PAGE_SIZE = 100
AS_USUAL = Policy()
T = TypeVar("T")


class _Connection:
    """What both clients are made of. Raises ValueError for a key or an address that can't be one."""

    def __init__(self, api_key: str | None, base_url: str | None, timeout: float, policy: Policy) -> None:
        self.base_url = api_address(base_url or os.environ.get(URL_VARIABLE) or DEFAULT_URL)
        self._key = usable_key(api_key or os.environ.get(KEY_VARIABLE) or "")
        self._timeout = timeout
        self._calls = Calls(self.base_url, policy, time.monotonic)
        self._many = Many(policy, time.monotonic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"  # never the key

    def _settings(self) -> dict[str, Any]:
        agent = f"inkcloak-python/{_version()}"
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json", "User-Agent": agent}
        return {"headers": headers, "timeout": self._timeout, "follow_redirects": False}

    def _request(self, send: Send) -> dict[str, Any]:
        timeout = httpx.Timeout(self._timeout, read=self._timeout + (send.hold or 0) + send.work)
        asked: dict[str, Any] = {"headers": send.headers(), "params": send.params or None, "timeout": timeout}
        if send.files:
            asked |= {"data": send.form, "files": [("files", file) for file in send.files]}
        elif send.content is not None:
            asked["content"] = send.content
        return asked | {"method": send.method, "url": self.base_url + send.path}


class Client(_Connection):
    """Calls that block.

    api_key, base_url: from INKCLOAK_API_KEY and INKCLOAK_URL unless given.  timeout: seconds.
    transport: an httpx transport, for proxies and tests.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        policy: Policy = AS_USUAL,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(api_key, base_url, timeout, policy)
        self._http = httpx.Client(transport=transport, **self._settings())

    def detect(
        self, text: str, *, wait: float = WAIT_SECONDS, idempotency_key: str | None = None, **options: Unpack[Options]
    ) -> Detection:
        """The verdict on one text.

        wait: seconds for a verdict; 0 to have the check as it stands, its verdict for `get` to fetch.
        idempotency_key: to go on with a call of an earlier process.
        Raises NotFinished after `wait`, CheckFailed, Problem, ConnectionFailed.
        """
        return self._run(self._calls.detect(text, options, wait, idempotency_key))

    def quote(self, text: str, **options: Unpack[Options]) -> Quote:
        """What `detect` would cost; checks and stores nothing."""
        return self._run(self._calls.quote(text, options))

    def detect_many(
        self,
        texts: Iterable[str],
        *,
        wait: float = WAIT_FOR_MANY_SECONDS,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **options: Unpack[Options],
    ) -> tuple[Item, ...]:
        """An item for each text, in order; each fails alone. Sent in as many requests as they need.

        What is not finished after `wait` seconds comes as it stands: `item.is_finished`.
        progress: gets how many are finished, and of how many.
        """
        return self._run(self._many.detect_many(texts_in(texts), options, wait, idempotency_key, progress))

    def detect_files(
        self,
        files: Iterable[AnyFile],
        *,
        wait: float = WAIT_FOR_MANY_SECONDS,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **options: Unpack[Options],
    ) -> tuple[FileItem, ...]:
        """An item for each text in PDF, DOCX, TXT, MD, HTML and CSV files (one for each row), read by the service.

        Raises OSError for a file that isn't there, before any is sent. Names are sent without their folders.
        """
        return self._run(self._many.detect_files([*files], options, wait, idempotency_key, progress))

    def get(self, detection_id: str, *, wait: float = 0.0) -> Detection:
        """A check, finished or as it stands after `wait` seconds."""
        return self._run(self._calls.get(detection_id, wait))

    def list(self, *, batch: str | None = None, page_size: int = PAGE_SIZE) -> Iterator[Detection]:
        """The account's checks, newest first, page after page as they are asked for. Without what is long."""
        cursor: str | None = None
        while True:
            found, cursor = self._run(self._calls.page(cursor, batch, page_size))
            yield from found
            if cursor is None:
                return

    def delete(self, detection_id: str) -> None:
        """Deletes a check: its text, verdict and offsets."""
        self._run(self._calls.delete(detection_id))

    def rerun(self, detection_id: str, *, wait: float = WAIT_SECONDS, idempotency_key: str | None = None) -> Detection:
        """The same text once more, by the model version that judged it. Charged like any check. Raises as `detect`."""
        return self._run(self._calls.rerun(detection_id, wait, idempotency_key))

    def usage(self) -> Usage:
        """Words of the month and requests of the minute."""
        return self._run(self._calls.usage())

    def models(self) -> tuple[ModelVersion, ...]:
        """Model versions that can be called."""
        return self._run(self._calls.models())

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                outcome = self._done(steps.send(outcome))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _done(self, step: Send | Pause) -> Outcome:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            return self._http.request(**self._request(step))
        except httpx.RequestError as error:
            return error


class AsyncClient(_Connection):
    """The calls of Client, awaited; `list` is an async iterator."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        policy: Policy = AS_USUAL,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(api_key, base_url, timeout, policy)
        self._http = httpx.AsyncClient(transport=transport, **self._settings())

    async def detect(
        self, text: str, *, wait: float = WAIT_SECONDS, idempotency_key: str | None = None, **options: Unpack[Options]
    ) -> Detection:
        """The verdict on one text: see Client.detect."""
        return await self._run(self._calls.detect(text, options, wait, idempotency_key))

    async def quote(self, text: str, **options: Unpack[Options]) -> Quote:
        """What `detect` would cost; checks and stores nothing."""
        return await self._run(self._calls.quote(text, options))

    async def detect_many(
        self,
        texts: Iterable[str],
        *,
        wait: float = WAIT_FOR_MANY_SECONDS,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **options: Unpack[Options],
    ) -> tuple[Item, ...]:
        """An item for each text, in order; each fails alone: see Client.detect_many."""
        return await self._run(self._many.detect_many(texts_in(texts), options, wait, idempotency_key, progress))

    async def detect_files(
        self,
        files: Iterable[AnyFile],
        *,
        wait: float = WAIT_FOR_MANY_SECONDS,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **options: Unpack[Options],
    ) -> tuple[FileItem, ...]:
        """An item for each text in these files: see Client.detect_files."""
        return await self._run(self._many.detect_files([*files], options, wait, idempotency_key, progress))

    async def get(self, detection_id: str, *, wait: float = 0.0) -> Detection:
        """A check, finished or as it stands after `wait` seconds."""
        return await self._run(self._calls.get(detection_id, wait))

    async def list(self, *, batch: str | None = None, page_size: int = PAGE_SIZE) -> AsyncIterator[Detection]:
        """The account's checks, newest first, page after page as they are asked for. Without what is long."""
        cursor: str | None = None
        while True:
            found, cursor = await self._run(self._calls.page(cursor, batch, page_size))
            for one in found:
                yield one
            if cursor is None:
                return

    async def delete(self, detection_id: str) -> None:
        """Deletes a check: its text, verdict and offsets."""
        await self._run(self._calls.delete(detection_id))

    async def rerun(
        self, detection_id: str, *, wait: float = WAIT_SECONDS, idempotency_key: str | None = None
    ) -> Detection:
        """The same text once more, by the model version that judged it: see Client.rerun."""
        return await self._run(self._calls.rerun(detection_id, wait, idempotency_key))

    async def usage(self) -> Usage:
        """Words of the month and requests of the minute."""
        return await self._run(self._calls.usage())

    async def models(self) -> tuple[ModelVersion, ...]:
        """Model versions that can be called."""
        return await self._run(self._calls.models())

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run(self, steps: Steps[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                outcome = await self._done(steps.send(outcome))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def _done(self, step: Send | Pause) -> Outcome:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._http.request(**self._request(step))
        except httpx.RequestError as error:
            return error


def api_address(url: str) -> str:
    """The API's address of a site, with or without /api/v1 behind it. Raises ValueError for what is no http address."""
    parts = urlsplit(url.strip())
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise ValueError("the address of the service must be like https://host or http://127.0.0.1:8000")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(API)}{API}"


def usable_key(key: str) -> str:
    """Raises ValueError for what can't be a key, without saying what it was."""
    key = key.strip()
    if not key:
        raise ValueError(f"no API key: give api_key, or set {KEY_VARIABLE}")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("this is no API key: they are ink_live_… or ink_test_…")
    return key


def _version() -> str:
    try:
        return metadata.version("inkcloak")
    except metadata.PackageNotFoundError:  # run from a checkout that isn't installed
        return "0"
