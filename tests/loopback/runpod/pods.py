"""Pods: created, provisioned, running, stopped, terminated, by the clock; billed by the second.

    PROVISIONING ─> STARTING ─> RUNNING ─stop/exit─> EXITED ─start─> STARTING …   terminate/delete: gone from any

A pod whose image has a command of its own (control door: images) runs it as a child process.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.runpod import catalog
from tests.loopback.runpod.clock import Clock, rfc3339
from tests.loopback.runpod.faults import Faults
from tests.loopback.runpod.launcher import Launcher
from tests.loopback.runpod.ledger import Ledger, Lifetime
from tests.loopback.runpod.problem import Problem, unprocessable
from tests.loopback.runpod.processes import Child
from tests.loopback.runpod.settings import CONTAINER, shape_errors

PROVISION_SECONDS = 5.0
START_SECONDS = 10.0
BALANCE_CHECK_SECONDS = 300.0  # the balance is looked at about every 5 minutes
OWN = {"name": str, "gpu": dict, "cloud": str, "startSsh": bool, "startJupyter": bool, "mounts": dict,
       "dataCenterIds": list, "templateId": str, "globalNetworking": bool, "cpu": dict}  # fmt: skip
GPU_FIELDS = {"id", "count", "allowedCudaVersions", "minCudaVersion", "minRamPerGpu", "minVcpuCountPerGpu"}
CLOUDS = ("SECURE", "COMMUNITY")
ACTIONS = {
    "PROVISIONING": ("stop", "terminate"),
    "STARTING": ("stop", "restart", "terminate"),
    "RUNNING": ("stop", "restart", "terminate"),
    "EXITED": ("start", "terminate"),
}


@dataclass(eq=False)
class Pod:
    """Moments of the clock, in seconds."""

    id: str
    name: str
    gpu: catalog.Gpu
    count: int
    cloud: str
    container: dict[str, Any]
    mounts: dict[str, Any]
    status: str
    due_at: float
    created_at: float
    started_at: float | None = None
    lifetime: Lifetime | None = None
    process: Child | None = None
    port: int | None = None  # public, for 22/tcp

    @property
    def nanousd_per_hour(self) -> int:
        """While it is not stopped."""
        return self.gpu.pod_nanousd_per_hour * self.count

    def to_json(self, now: float) -> dict[str, Any]:
        """REST v2's Pod."""
        running = self.status == "RUNNING"
        ports = [self._port(entry) for entry in self.container["ports"]]
        direct = None
        if running and self.port is not None and "22/tcp" in self.container["ports"]:
            direct = self._ssh("127.0.0.1", self.port, "root")
        proxy = None if self.status == "PROVISIONING" else self._ssh("ssh.runpod.io", 22, f"{self.id}-64411eb2")
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status,
            "actions": list(ACTIONS[self.status]),
            **self.container,
            "mounts": self.mounts,
            "gpu": {"id": self.gpu.id, "count": self.count, "vcpuCount": 4.0 * self.count, "memory": 16.0 * self.count},
            "cloud": self.cloud,
            "dataCenterId": None if self.status == "PROVISIONING" else "EU-RO-1",
            "cudaVersion": None if self.status == "PROVISIONING" else "12.8",
            "ssh": {"proxy": proxy, "direct": direct},
            "template": None,
            "cost": 0.0 if self.status == "EXITED" else self.nanousd_per_hour / 1e9,
            "locked": False,
            "globalNetworking": {"enabled": False},
            "runtime": {"uptime": int(now - (self.started_at or now)), "ports": ports} if running else None,
            "createdAt": rfc3339(self.created_at),
            "startedAt": rfc3339(self.started_at),
        }

    def _port(self, entry: str) -> dict[str, Any]:
        number, _, kind = entry.partition("/")
        public = self.port if kind == "tcp" else None
        return {
            "private": int(number),
            "public": public,
            "type": kind,
            "ip": None if public is None else "127.0.0.1",
        }

    @staticmethod
    def _ssh(host: str, port: int, user: str) -> dict[str, Any]:
        return {"host": host, "port": port, "username": user, "command": f"ssh {user}@{host} -p {port}"}


@dataclass
class Pods:
    """All pods of the account. Raises Problem as REST v2 answers."""

    clock: Clock
    faults: Faults
    ledger: Ledger
    launcher: Launcher
    all: dict[str, Pod] = field(default_factory=dict)
    next_balance_check: float = 0.0

    def create(self, data: Mapping[str, Any], template: Mapping[str, Any] | None) -> Pod:
        """422 malformed, 400 a rule or no capacity, 402 no money; else a pod that is being provisioned."""
        self._check(data, template)
        gpu, count = catalog.BY_ID[data["gpu"]["id"]], int(data["gpu"].get("count", 1))
        cloud = data.get("cloud", "SECURE")
        now = self.clock.now()
        if self.ledger.balance_nanousd() < gpu.pod_nanousd_per_hour * count:
            raise Problem(402, "insufficient balance: one hour of this pod must be covered")
        self._find_capacity(gpu.id, cloud)
        empty: dict[str, Any] = {"image": "", "args": "", "disk": 20, "env": {}, "ports": [], "registry": None}
        container = empty | {name: value for name, value in {**(template or {}), **data}.items() if name in CONTAINER}
        if template and isinstance(data.get("env"), dict):
            container["env"] = {**template.get("env", {}), **data["env"]}
        due = self.clock.note(now + PROVISION_SECONDS)
        pod = Pod(secrets.token_hex(7), data["name"], gpu, count, cloud, container, dict(data.get("mounts") or {}),
                  "PROVISIONING", due, now)  # fmt: skip
        self.all[pod.id] = pod
        return pod

    def _check(self, data: Mapping[str, Any], template: Mapping[str, Any] | None) -> None:
        errors = shape_errors(data, CONTAINER | OWN)
        if not data.get("name"):
            errors.append("name: required")
        if template is None and not data.get("image"):
            errors.append("image: required without templateId")
        gpu = data.get("gpu")
        if not isinstance(gpu, dict) or not isinstance(gpu.get("id"), str):
            errors.append("gpu.id: required (only GPU pods exist on loopback)")
        elif strange := set(gpu) - GPU_FIELDS:
            errors.append(f"gpu: unknown field {', '.join(sorted(strange))}")
        if data.get("cloud", "SECURE") not in CLOUDS:
            errors.append("cloud: SECURE or COMMUNITY")
        if errors:
            raise unprocessable(errors)
        assert isinstance(gpu, dict)
        found = catalog.BY_ID.get(gpu["id"])
        if found is None or not found.pod_nanousd_per_hour:
            raise Problem(400, f"no GPU type {gpu['id']!r} for pods")
        mounts = data.get("mounts") or {}
        if "persistent" in mounts and "network" in mounts:
            raise Problem(400, "mounts: persistent and network exclude each other")
        if "network" in mounts and data.get("cloud") == "COMMUNITY":
            raise Problem(400, "network volumes exist in the secure cloud only")

    def _find_capacity(self, gpu: str, cloud: str) -> None:
        if self.faults.take("no_capacity", self.clock.now(), gpu=gpu, cloud=cloud):
            raise Problem(400, "There are no longer any instances available with the requested specifications.")

    def find(self, pod_id: str) -> Pod:
        """404 when it is gone or never was."""
        if pod_id not in self.all:
            raise Problem(404, "pod not found")
        return self.all[pod_id]

    def act(self, pod: Pod, action: str) -> None:
        """stop, start, restart or terminate; 409 when the pod's state does not allow it."""
        if action not in ("stop", "start", "restart", "terminate"):
            raise unprocessable(["action: start, stop, restart or terminate"])
        if action not in ACTIONS[pod.status]:
            raise Problem(409, f"a pod that is {pod.status} cannot {action}")
        now = self.clock.now()
        if action in ("stop", "terminate") and self.faults.take("stop_ignored", now, gpu=pod.gpu.id, cloud=pod.cloud):
            return
        if action == "terminate":
            self._end(pod, now)
            del self.all[pod.id]
        elif action == "stop":
            self._end(pod, now)
            self._stopped(pod, now)
        else:
            if action == "start":
                self._find_capacity(pod.gpu.id, pod.cloud)
            self._end(pod, now)
            self._starting(pod, now)

    def _end(self, pod: Pod, now: float) -> None:
        if pod.process is not None:
            pod.process.kill()
            pod.process = None
        if pod.lifetime is not None and pod.lifetime.ended_at is None:
            self.ledger.close(pod.lifetime, now)

    def _stopped(self, pod: Pod, now: float) -> None:
        """The GPU is free, the volume's disk still costs."""
        pod.status, pod.started_at = "EXITED", None
        size = int(pod.mounts.get("persistent", {}).get("size", 0))
        pod.lifetime = self.ledger.open(Lifetime("stopped-pod", pod.id, pod.id, pod.gpu.id, 0, size, now))

    def _starting(self, pod: Pod, now: float) -> None:
        pod.status, pod.due_at = "STARTING", self.clock.note(now + START_SECONDS)
        size = int(pod.mounts.get("persistent", {}).get("size", 0)) + int(pod.container["disk"])
        life = Lifetime("pod", pod.id, pod.id, pod.gpu.id, pod.nanousd_per_hour, size, now)
        pod.lifetime = self.ledger.open(life)

    def _running(self, pod: Pod, now: float) -> None:
        pod.status, pod.started_at = "RUNNING", now
        no_port = self.faults.take("no_public_port", now, gpu=pod.gpu.id, cloud=pod.cloud)
        pod.port = None if no_port else 40_000 + len(self.all)
        image = self.launcher.image(pod.container["image"])
        if image.pattern != "*":  # the default command is a serverless worker's
            env = {**image.env, **pod.container["env"], "RUNPOD_POD_ID": pod.id}
            pod.process = self.launcher.run(image.command, env, image.cwd, f"pod-{pod.id}")

    def tick(self) -> None:
        """All that is due."""
        now = self.clock.now()
        for pod in list(self.all.values()):
            if pod.process is not None and pod.process.exited() is not None:
                self._end(pod, now)
                self._stopped(pod, now)
            elif now >= pod.due_at and pod.status == "PROVISIONING":
                self._starting(pod, now)
            elif now >= pod.due_at and pod.status == "STARTING":
                self._running(pod, now)
        if now >= self.next_balance_check:
            self.next_balance_check = self.clock.note(now + BALANCE_CHECK_SECONDS)
            if self.ledger.balance_nanousd() <= 0:
                self._out_of_money(now)

    def _out_of_money(self, now: float) -> None:
        """Pods with a network volume are stopped, all others terminated with their data."""
        for pod in list(self.all.values()):
            if pod.status == "EXITED":
                continue
            self._end(pod, now)
            if pod.mounts.get("network"):
                self._stopped(pod, now)
            else:
                del self.all[pod.id]

    def kill_all(self) -> None:
        """At the server's end."""
        for pod in self.all.values():
            self._end(pod, self.clock.now())
