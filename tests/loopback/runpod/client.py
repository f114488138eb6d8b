"""How a test directs the loopback RunPod, and calls it as a client would: plain HTTP, in-process or not.

`eventually` waits for a condition with a deadline; nothing here sleeps to let time pass: `advance` moves the clock.
"""

import ssl
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx

PATIENCE_SECONDS = 60.0
LOOK_SECONDS = 0.02
FINAL = ("COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT")
T = TypeVar("T")


def eventually(look: Callable[[], T], patience: float = PATIENCE_SECONDS) -> T:
    """What `look()` gives once it is true; fails after `patience` seconds."""
    deadline = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(LOOK_SECONDS)
    return seen


class Director:
    """Of one running server."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        self._http = httpx.Client(
            base_url=url,
            timeout=60,
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # never used: reading certificates takes longer than a test
        )

    def close(self) -> None:
        """Let its connections go."""
        if hasattr(self, "_http"):
            self._http.close()

    # --- The director's door ----------------------------------------------------------------------------------

    def control(self, method: str, path: str, data: Any = None) -> Any:
        """Raises AssertionError with the server's words when it refuses."""
        answer = self._http.request(method, f"/_control/{path}", json=data)
        assert answer.is_success, answer.text
        return answer.json()

    def state(self) -> dict[str, Any]:
        """Everything at a glance."""
        return dict(self.control("GET", "state"))

    def advance(self, seconds: float) -> None:
        """Move the clock; what is due on the way has happened when this returns."""
        self.control("POST", "clock", {"advance": seconds})

    def fault(self, kind: str, **values: Any) -> int:
        """Script one; its id."""
        return int(self.control("POST", "faults", {"fault": kind, **values})["id"])

    def clear_faults(self) -> None:
        """All of them."""
        self.control("DELETE", "faults")

    def endpoint(self, *, habits: dict[str, Any] | None = None, **settings: Any) -> str:
        """A new one with sensible settings for a test (whatever the quota); its id."""
        body = {
            "name": "test",
            "type": "QUEUE",
            "image": "inkcloak/example:1",
            "gpu": {"pools": ["AMPERE_16"]},
            "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
            "flashboot": "OFF",
            "habits": habits or {},
            **settings,
        }
        return str(self.control("POST", "endpoints", body)["id"])

    def image(self, pattern: str, command: list[str], env: dict[str, str] | None = None) -> None:
        """What images of this name run."""
        self.control("POST", "images", {"pattern": pattern, "command": command, "env": env or {}})

    def workers(self, endpoint: str) -> list[dict[str, Any]]:
        """Of an endpoint, as seen from inside."""
        return list(self.state()["endpoints"][endpoint]["live"])

    def bill(self) -> dict[str, Any]:
        """Every lifetime, without lag."""
        return dict(self.control("GET", "bill"))

    def count(self, operation: str) -> int:
        """Requests of clients so far."""
        return len(self.control("GET", f"requests?op={operation}"))

    # --- As a client ------------------------------------------------------------------------------------------

    def call(self, method: str, path: str, data: Any = None, **options: Any) -> httpx.Response:
        """Any request with the API key; path as in `/v2/EP/run`."""
        return self._http.request(method, path, json=data, **options)

    def run(self, endpoint: str, given: Any, **more: Any) -> str:
        """Submit; the job's id. more: policy, webhook."""
        answer = self.call("POST", f"/v2/{endpoint}/run", {"input": given, **more})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def status(self, endpoint: str, job: str) -> dict[str, Any]:
        """As it is now."""
        answer = self.call("GET", f"/v2/{endpoint}/status/{job}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def final(self, endpoint: str, job: str) -> dict[str, Any]:
        """Wait for its end."""

        def ended() -> dict[str, Any] | None:
            seen = self.status(endpoint, job)
            return seen if seen["status"] in FINAL else None

        seen = eventually(ended)
        assert seen is not None
        return seen

    def health(self, endpoint: str) -> dict[str, Any]:
        """Jobs and workers by state."""
        return dict(self.call("GET", f"/v2/{endpoint}/health").json())

    # --- As a worker (of an endpoint that is played_by_test) --------------------------------------------------

    def played(self, *, habits: dict[str, Any] | None = None, **settings: Any) -> str:
        """An endpoint whose workers are this test; its id."""
        own = {"played_by_test": True, "take_hold_real_seconds": 0.2, **(habits or {})}
        return self.endpoint(habits=own, **settings)

    def worker(self, endpoint: str, phase: str = "STARTING") -> str:
        """The id of the newest worker in this phase, once there is one."""

        def newest() -> str:
            fitting = [worker["id"] for worker in self.workers(endpoint) if worker["phase"] == phase]
            return fitting[-1] if fitting else ""

        return eventually(newest)

    def as_worker(self, method: str, path: str, content: str | None = None, timeout: float = 60) -> httpx.Response:
        """A request with the workers' key."""
        bare = {"Authorization": str(self.state()["worker_key"])}
        return self._http.request(method, path, content=content, headers=bare, timeout=timeout)

    def take(self, endpoint: str, worker: str) -> httpx.Response:
        """One job for that worker."""
        return self.as_worker("GET", f"/v2/{endpoint}/job-take/{worker}?gpu=x&job_in_progress=0")

    def running(self, endpoint: str, **more: Any) -> tuple[str, str]:
        """(worker, job): a job that the test's worker has taken."""
        job = self.run(endpoint, {"text": "x"}, **more)
        worker = self.worker(endpoint)
        taken = self.take(endpoint, worker).json()
        assert taken == {"id": job, "input": {"text": "x"}}
        return worker, job

    def done(self, endpoint: str, worker: str, job: str, body: str) -> httpx.Response:
        """That worker's result, as JSON text."""
        path = f"/v2/{endpoint}/job-done/{worker}/{job}?gpu=x&isStream=false"
        return self.as_worker("POST", path, body)
