"""RunPod's management over raw HTTP: endpoints, templates, workers, bills (REST v2), the balance (only GraphQL has it).
Frozen dataclasses out, no ORM inside, one exception with `permanent`.

Not the data plane, whose `/v2` is on another host (backends/runpod_http.py). Reads and changes are tried again where
RunPod may answer otherwise the next time; a creation only where it was surely not carried out, because there is no
idempotency key: after `doubtful`, look it up by name. Retry-After is obeyed, and a rate window that RateLimit calls
empty is waited for. Neither the key nor a body is ever part of an error or a log line.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import httpx
from django.conf import settings

from gpujobs.backends.runpod_http import backoff, retry_after
from inkcloak import money

TRIES = 4  # of one call, the first included
CONNECT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 60.0  # for a rate window or a Retry-After; longer ones are the caller's matter
MOST_DETAIL_CHARS = 300
NANO = 1_000_000_000  # nano-dollars in a dollar
Billed = Literal["serverless", "pods"]
BILLED_BY: dict[Billed, str] = {"serverless": "serverlessId", "pods": "podId"}
BALANCE_QUERY = "query { myself { clientBalance currentSpendPerHr spendLimit } }"

UNAUTHORIZED, FORBIDDEN, UNPAID, MISSING = "unauthorized", "forbidden", "unpaid", "missing"
REFUSED, INVALID = "refused", "invalid"  # 400: a rule, or no capacity; 422: a field
BUSY, UNAVAILABLE, UNREACHABLE, STRANGE = "busy", "unavailable", "unreachable", "strange_answer"
REFUSALS = {400: REFUSED, 401: UNAUTHORIZED, 402: UNPAID, 403: FORBIDDEN, 404: MISSING, 409: REFUSED, 422: INVALID}
NOT_CARRIED_OUT = frozenset({408, 425, 429})

_WINDOW = re.compile(r'"?(?P<name>[\w-]+)"?\s*;\s*r=(?P<left>\d+)\s*;\s*t=(?P<seconds>\d+)')


class RunpodError(RuntimeError):
    """permanent: the same call would fail again.  doubtful: it may have been carried out.  status: HTTP's, 0 without.

    detail: RunPod's own words about our request, shortened.
    """

    def __init__(
        self, code: str, *, permanent: bool, detail: str = "", status: int = 0, doubtful: bool = False
    ) -> None:
        super().__init__(f"RunPod: {code.replace('_', ' ')}" + (f": {detail}" if detail else ""))
        self.code, self.permanent, self.detail = code, permanent, detail
        self.status, self.doubtful = status, doubtful


@dataclass(frozen=True, slots=True)
class Resource:
    """An endpoint or a template: `fields` is all that RunPod shows of it, whether we know it or not."""

    id: str
    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Worker:
    """status: RUNNING, IDLE, INITIALIZING, THROTTLED, UNHEALTHY or one that we don't know.

    stale: of an older version of the endpoint.  uptime_seconds: None before its start.
    """

    id: str
    status: str
    stale: bool
    uptime_seconds: int | None
    gpu_type: str


@dataclass(frozen=True, slots=True)
class Balance:
    """In nano-dollars; the spend is per hour. spend_limit: of one hour, None where it isn't told."""

    balance_nanousd: int
    spend_nanousd_per_hour: int
    spend_limit_nanousd: int | None


@dataclass(frozen=True, slots=True)
class Bill:
    """What RunPod billed for one endpoint or pod on one UTC day, in nano-dollars: cards, disks, fees, all of it."""

    day: date
    resource: str
    nanousd: int


@dataclass(frozen=True, slots=True)
class RateWindow:
    """left: calls until it is empty.  seconds: until it is full again."""

    name: str
    left: int
    seconds: int


@dataclass(frozen=True, slots=True)
class _Failed:
    """wait: seconds for which RunPod wants to be left alone."""

    problem: RunpodError
    wait: float = 0.0


class RunpodRest:
    """One account. Thread-safe but for `windows`, which is the last answer's; make one a process."""

    def __init__(
        self,
        rest_url: str,
        graphql_url: str,
        key: str,
        *,
        timeout_seconds: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rest_url, self._graphql_url, self._key = rest_url.rstrip("/"), graphql_url, key
        self._sleep = sleep
        self.windows: tuple[RateWindow, ...] = ()
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
            trust_env=False,  # the key goes to RunPod, not to a proxy that the environment happens to name
        )

    @classmethod
    def from_settings(cls) -> "RunpodRest":
        return cls(settings.RUNPOD_REST_URL, settings.RUNPOD_GRAPHQL_URL, settings.RUNPOD_API_KEY)

    def close(self) -> None:
        """Lets its connections go."""
        self._http.close()

    # --- Each raises RunpodError --------------------------------------------------------------------------------

    def endpoints(self) -> tuple[Resource, ...]:
        """GET /serverless."""
        return self._list("/serverless", "endpoints")

    def endpoint(self, endpoint_id: str) -> Resource:
        """GET /serverless/ID. MISSING where there is none."""
        return _resource(self._rest("GET", f"/serverless/{endpoint_id}"))

    def create_endpoint(self, body: Mapping[str, Any]) -> Resource:
        """POST /serverless."""
        return _resource(self._rest("POST", "/serverless", body))

    def change_endpoint(self, endpoint_id: str, body: Mapping[str, Any]) -> Resource:
        """PATCH /serverless/ID: only what is sent changes."""
        return _resource(self._rest("PATCH", f"/serverless/{endpoint_id}", body))

    def workers(self, endpoint_id: str) -> tuple[Worker, ...]:
        """GET /serverless/ID/workers: those that exist now; none is usual for an idle endpoint."""
        data = self._rest("GET", f"/serverless/{endpoint_id}/workers")
        return tuple(_worker(each) for each in _items(data, "workers"))

    def templates(self) -> tuple[Resource, ...]:
        """GET /templates."""
        return self._list("/templates", "templates")

    def create_template(self, body: Mapping[str, Any]) -> Resource:
        """POST /templates."""
        return _resource(self._rest("POST", "/templates", body))

    def change_template(self, template_id: str, body: Mapping[str, Any]) -> Resource:
        """PATCH /templates/ID."""
        return _resource(self._rest("PATCH", f"/templates/{template_id}", body))

    def bills(self, what: Billed, first: date, last: date) -> tuple[Bill, ...]:
        """GET /billing/WHAT of these UTC days, both included; of a resource and day on which nothing was spent, none.

        The last hour is not in it yet, and more may be late.
        """
        query = f"startTime={first}T00:00:00Z&endTime={last + timedelta(days=1)}T00:00:00Z&bucketSize=day"
        data = self._rest("GET", f"/billing/{what}?{query}")
        return tuple(_bill(each, BILLED_BY[what]) for each in _items(data, "records"))

    def balance(self) -> Balance:
        """GraphQL's myself. A key that may not ask is answered with an error inside a 200: REFUSED."""
        data = self._call("POST", self._graphql_url, {"query": BALANCE_QUERY}, safe=True)
        if data.get("errors"):
            raise RunpodError(REFUSED, permanent=True, detail=self._shown(_graphql_words(data)), status=200)
        try:
            myself = data["data"]["myself"]
            limit = myself.get("spendLimit")
            return Balance(
                _nanousd(myself["clientBalance"]),
                _nanousd(myself.get("currentSpendPerHr") or 0),
                None if limit is None else _nanousd(limit),
            )
        except (KeyError, TypeError, AttributeError, InvalidOperation, ValueError):
            raise RunpodError(STRANGE, permanent=False, status=200) from None

    # --- Inside -------------------------------------------------------------------------------------------------

    def _list(self, path: str, name: str) -> tuple[Resource, ...]:
        return tuple(_resource(each) for each in _items(self._rest("GET", path), name))

    def _rest(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._call(method, self._rest_url + path, body, safe=method != "POST")

    def _call(self, method: str, url: str, body: Mapping[str, Any] | None, *, safe: bool) -> dict[str, Any]:
        """The JSON object that it is answered with. safe: carried out twice, it does what once does."""
        pauses = backoff()
        for number in range(1, TRIES + 1):
            self._wait_for_rate()
            found = self._once(method, url, body)
            if isinstance(found, dict):
                return found
            problem = found.problem
            if problem.permanent or (problem.doubtful and not safe) or found.wait > LONGEST_WAIT_SECONDS:
                break
            if number < TRIES:
                self._sleep(max(next(pauses), found.wait))
        raise problem

    def _once(self, method: str, url: str, body: Mapping[str, Any] | None) -> "dict[str, Any] | _Failed":
        try:
            response = self._http.request(method, url, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            return _Failed(RunpodError(UNREACHABLE, permanent=False))  # nothing was sent
        except httpx.TransportError:
            return _Failed(RunpodError(UNREACHABLE, permanent=False, doubtful=True))
        self.windows = windows_of(response.headers.get("RateLimit", ""))
        data = _object(response)
        if response.is_success and data is not None:
            return data
        wait = retry_after(response.headers.get("Retry-After"), datetime.now(UTC))
        return _Failed(self._problem(response.status_code, data), wait)

    def _problem(self, status: int, data: Mapping[str, Any] | None) -> RunpodError:
        detail = self._shown(_words(data))
        if status in NOT_CARRIED_OUT:
            return RunpodError(BUSY, permanent=False, detail=detail, status=status)
        if 400 <= status < 500:
            return RunpodError(REFUSALS.get(status, REFUSED), permanent=True, detail=detail, status=status)
        if status >= 500:
            return RunpodError(UNAVAILABLE, permanent=False, detail=detail, status=status, doubtful=True)
        return RunpodError(STRANGE, permanent=False, status=status, doubtful=True)  # a page of some proxy

    def _shown(self, words: str) -> str:
        return (words.replace(self._key, "…") if self._key else words)[:MOST_DETAIL_CHARS]

    def _wait_for_rate(self) -> None:
        waits = [window.seconds for window in self.windows if not window.left]
        self.windows = ()
        if waits and max(waits) <= LONGEST_WAIT_SECONDS:
            self._sleep(max(waits) + 1.0)  # it tells whole seconds, rounded down


def windows_of(header: str) -> tuple[RateWindow, ...]:
    """Of a RateLimit header, as in `"minute";r=59;t=60, "hour";r=2999;t=3600`; what it can't read is left out."""
    found = _WINDOW.finditer(header)
    return tuple(RateWindow(each["name"], int(each["left"]), int(each["seconds"])) for each in found)


def _object(response: httpx.Response) -> dict[str, Any] | None:
    try:
        data = json.loads(response.content, parse_float=Decimal)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _words(data: Mapping[str, Any] | None) -> str:
    """What a problem+json says: its detail, and what is wrong field by field."""
    if data is None:
        return ""
    errors = data.get("errors")
    said = [str(data.get("detail") or data.get("title") or "")]
    said += [str(each) for each in errors] if isinstance(errors, list) else []
    return "; ".join(word for word in said if word)


def _graphql_words(data: Mapping[str, Any]) -> str:
    errors = data["errors"]
    first = errors[0] if isinstance(errors, list) and errors else {}
    return str(first.get("message", "")) if isinstance(first, dict) else ""


def _items(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise RunpodError(STRANGE, permanent=False, status=200)
    return found


def _resource(data: Mapping[str, Any]) -> Resource:
    if not data.get("id"):
        raise RunpodError(STRANGE, permanent=False, status=200, doubtful=True)
    return Resource(str(data["id"]), str(data.get("name") or ""), data)


def _worker(data: Mapping[str, Any]) -> Worker:
    uptime = data.get("uptimeSeconds")
    return Worker(
        id=str(data.get("id") or ""),
        status=str(data.get("status") or "UNKNOWN"),
        stale=data.get("isStale") is True,
        uptime_seconds=int(uptime) if isinstance(uptime, int | Decimal) else None,
        gpu_type=str(data.get("gpuTypeId") or ""),
    )


def _bill(data: Mapping[str, Any], named: str) -> Bill:
    try:
        start = datetime.fromisoformat(data["startTime"]).astimezone(UTC)
        total, resource = data["totalAmount"], data[named]
        if not isinstance(total, int | Decimal) or isinstance(total, bool) or not isinstance(resource, str):
            raise TypeError("no amount, or nobody's")
        return Bill(start.date(), resource, money.read(Decimal(total)))
    except (KeyError, TypeError, ValueError, ArithmeticError):  # a bill that cannot be read is no bill of nothing
        raise RunpodError(STRANGE, permanent=False, status=200) from None


def _nanousd(value: Any) -> int:
    """Of dollars. Rounded down: a balance is not shown as more than it is."""
    if not isinstance(value, int | Decimal | str) or isinstance(value, bool):
        raise ValueError("no amount")
    return int(Decimal(value) * NANO // 1)
