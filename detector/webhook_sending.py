"""One message over the wire: to an address that was looked at, within a time, without following anything.

No rows here. The connection goes to the very address that webhook_addresses.resolve() found, while certificate and Host
header are the name's. What the receiver says is worth its status: of the body little is read and nothing kept.
"""

import asyncio
import logging
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

import httpx

from detector import webhook_addresses
from detector.webhook_addresses import Refused, Resolver, Target
from inkcloak.errors import Invalid

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10.0  # from the name server to the answer's status, however slowly it drips
MAX_BODY_BYTES = 1024  # of an answer
BODY_SECONDS = 1.0  # that an answer's body may take once its status is known
MAX_ADDRESSES = 3  # of one name, tried in turn
MAX_WAIT_SECONDS = 86_400  # that a receiver may ask for
USER_AGENT = "InkCloak-Webhooks/1"
STATUSES_THAT_WAIT = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Message:
    """headers: the signed ones."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """error: empty when it was delivered; else timeout, unresolvable, address_refused, connection_failed, tls_failed,
    redirect, gone, status or secret_unreadable. wait_seconds: the receiver's wish, 0 without one.
    """

    status_code: int | None = None
    error: str = ""
    wait_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Wire:
    """How to get there. ask: the name server's stand-in.  trust: whose certificates are believed."""

    ask: Resolver | None = None
    trust: ssl.SSLContext | None = None
    seconds: float = TIMEOUT_SECONDS


DIRECT = Wire()


def send_all(messages: Sequence[Message], wire: Wire) -> list[Outcome]:
    """All at once, each by itself: together they take as long as the slowest, and that is bounded."""

    async def together() -> list[Outcome]:
        return await asyncio.gather(*(send(message, wire) for message in messages))

    return asyncio.run(together())


async def send(message: Message, wire: Wire) -> Outcome:
    """Never raises for what a receiver or its name server does."""
    try:
        async with asyncio.timeout(wire.seconds) as limit:
            return await _send(message, wire, limit)
    except (TimeoutError, httpx.TimeoutException):
        return Outcome(error="timeout")
    except Refused as error:
        return Outcome(error=error.code)
    except Invalid:  # the rules have become stricter since the address was taken
        return Outcome(error="address_refused")
    except (httpx.TransportError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
        return Outcome(error="tls_failed" if _is_about_tls(error) else "connection_failed")


async def _send(message: Message, wire: Wire, limit: asyncio.Timeout) -> Outcome:
    target = webhook_addresses.parse(message.url)
    addresses = await asyncio.to_thread(webhook_addresses.resolve, target, ask=wire.ask)
    # No environment: a proxy would look the name up once more, and .netrc knows passwords.
    async with httpx.AsyncClient(
        verify=wire.trust or _trust(), trust_env=False, follow_redirects=False, timeout=wire.seconds
    ) as client:
        *others, last = addresses[:MAX_ADDRESSES]
        for address in others:
            try:
                return await _post(client, target, address, message, limit)
            except httpx.ConnectError:
                continue
        return await _post(client, target, last, message, limit)


async def _post(
    client: httpx.AsyncClient, target: Target, address: str, message: Message, limit: asyncio.Timeout
) -> Outcome:
    pinned = httpx.URL(scheme=target.scheme, host=address, port=target.port, raw_path=target.path.encode())
    headers = {
        "Host": target.authority,
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        **message.headers,
    }
    pinned_name = {"sni_hostname": target.host}
    request = client.build_request("POST", pinned, headers=headers, content=message.body, extensions=pinned_name)
    answer = await client.send(request, stream=True)
    limit.reschedule(None)  # the status is there, and counts whatever follows
    try:
        async with asyncio.timeout(BODY_SECONDS):
            await _sip(answer)
    except (TimeoutError, httpx.TransportError):
        log.debug("an answer without an end")
    finally:
        await answer.aclose()
    return _outcome(answer)


async def _sip(answer: httpx.Response) -> None:
    """Takes a little of the body, so that a receiver which writes one is not cut off in mid-line."""
    taken = 0
    async for chunk in answer.aiter_raw(MAX_BODY_BYTES):
        taken += len(chunk)
        if taken >= MAX_BODY_BYTES:
            return


def _outcome(answer: httpx.Response) -> Outcome:
    status = answer.status_code
    if answer.is_success:
        return Outcome(status)
    if status == HTTPStatus.GONE:
        return Outcome(status, "gone")
    if answer.is_redirect or answer.has_redirect_location:
        return Outcome(status, "redirect")
    return Outcome(status, "status", _wish(answer) if status in STATUSES_THAT_WAIT else 0)


def _wish(answer: httpx.Response) -> int:
    """Retry-After in seconds; its other form, a date, is not followed."""
    asked = answer.headers.get("Retry-After", "")
    return min(int(asked), MAX_WAIT_SECONDS) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 0


def _is_about_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


@cache
def _trust() -> ssl.SSLContext:
    """Made once: it reads some hundred certificates."""
    return httpx.create_ssl_context(trust_env=False)
