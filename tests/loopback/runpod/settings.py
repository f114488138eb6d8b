"""An endpoint as REST v2 writes it: read, checked like the real API (unknown fields are refused), patched, shown.

Defaults are the API's, not the console's: timeout 300000 ms, idleTimeout 10 s, FlashBoot off, 0/3 workers.
"""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpujobs.planning.scaler import QueueDelay, RequestCount, Scaler
from tests.loopback.runpod import catalog
from tests.loopback.runpod.problem import Problem, unprocessable

CONTAINER = {"image": str, "args": str, "disk": int, "env": dict, "ports": list, "registry": (str, type(None))}
OWN = {"name": str, "gpu": dict, "workers": dict, "scaling": dict, "timeout": int, "flashboot": str,
       "dataCenterIds": list, "networkVolumes": list}  # fmt: skip
FLASHBOOT = ("OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT")
GPU_FIELDS = {"pools", "excludedTypes", "count", "allowedCudaVersions", "minCudaVersion"}
WORKER_FIELDS = {"min", "max", "idleTimeout"}
CUDA = re.compile(r"\d+\.\d+")
DEFAULT_DISK_GB = 20
# A change of one of these makes a new version: workers are replaced.
VERSIONED = ("image", "args", "disk", "env", "ports", "registry", "gpu")


def shape_errors(data: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Fields that do not exist or have another type."""
    errors = [f"{name}: unknown field" for name in data if name not in known]
    for name, kinds in known.items():
        value = data.get(name, ...)
        if value is ... or (isinstance(value, kinds) and not (kinds is int and isinstance(value, bool))):
            continue
        errors.append(f"{name}: wrong type")
    env = data.get("env")
    if isinstance(env, dict) and not all(isinstance(value, str) for value in env.values()):
        errors.append("env: values must be strings")
    return errors


@dataclass
class EndpointSettings:
    """All of an endpoint that a request may set; `version` counts changes that replace workers."""

    name: str
    type: str = "QUEUE"
    image: str = ""
    args: str = ""
    disk: int = DEFAULT_DISK_GB
    env: dict[str, str] = field(default_factory=dict)
    ports: list[str] = field(default_factory=list)
    registry: str | None = None
    gpu: dict[str, Any] = field(default_factory=dict)
    workers: dict[str, int] = field(default_factory=lambda: {"min": 0, "max": 3})
    scaling: dict[str, Any] = field(default_factory=dict)
    timeout: int = 300_000
    flashboot: str = "OFF"
    dataCenterIds: list[str] = field(default_factory=list)
    networkVolumes: list[str] = field(default_factory=list)
    version: int = 1

    @classmethod
    def create(cls, data: Mapping[str, Any], template: Mapping[str, Any] | None) -> "EndpointSettings":
        """Of a POST body, over the template's container settings; raises Problem 422 or 400."""
        known = CONTAINER | OWN | {"type": str, "templateId": str, "cpu": list}
        errors = shape_errors(data, known)
        errors += [f"{name}: required" for name in ("name", "type", "scaling") if name not in data]
        if "cpu" in data or data.get("type") == "LOAD_BALANCER":
            errors.append("only queue endpoints on GPUs exist on loopback")
        elif data.get("type") not in ("QUEUE", None):
            errors.append("type: QUEUE or LOAD_BALANCER")
        if template is None and not data.get("image"):
            errors.append("image: required without templateId")
        gpu = data.get("gpu")
        if not isinstance(gpu, dict) or not gpu.get("pools"):
            errors.append("gpu.pools: required")
        if errors:
            raise unprocessable(errors)
        made = cls(name=data["name"], scaling=dict(data["scaling"]))
        made._apply(_over(template, data))
        if made.idle_applies:
            made.workers.setdefault("idleTimeout", 10)
        return made

    def patched(self, data: Mapping[str, Any], template: Mapping[str, Any] | None) -> "EndpointSettings":
        """What a PATCH body makes of it; self is untouched when it raises Problem."""
        errors = shape_errors(data, CONTAINER | OWN | {"templateId": str})
        if errors:
            raise unprocessable(errors)
        made = copy.deepcopy(self)
        made._apply(_over(template, data))
        if any(getattr(made, name) != getattr(self, name) for name in VERSIONED):
            made.version += 1
        return made

    def _apply(self, data: Mapping[str, Any]) -> None:
        for name, value in data.items():
            if name in ("type", "templateId"):
                continue
            if name in ("workers", "gpu"):
                setattr(self, name, self._merged(name, value))
            else:
                setattr(self, name, copy.deepcopy(value))
        self._check(data)

    def _merged(self, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
        merged = dict(getattr(self, name))
        if "pools" in value:
            merged.pop("excludedTypes", None)  # pools and exclusions are one selection
        return merged | dict(value)

    def _check(self, data: Mapping[str, Any]) -> None:
        errors = [f"workers.{name}: unknown field" for name in set(self.workers) - WORKER_FIELDS]
        errors += [f"gpu.{name}: unknown field" for name in set(self.gpu) - GPU_FIELDS]
        errors += [f"workers.{name}: a whole number" for name, value in self.workers.items() if not _natural(value)]
        if not 1 <= self.workers.get("idleTimeout", 1) <= 3600:
            errors.append("workers.idleTimeout: 1 to 3600")
        if self.flashboot not in FLASHBOOT:
            errors.append(f"flashboot: one of {', '.join(FLASHBOOT)}")
        errors += self._scaling_errors()
        errors += self._gpu_errors()
        if errors:
            raise unprocessable(errors)
        self._check_rules(data)

    def _scaling_errors(self) -> list[str]:
        match self.scaling:
            case {"type": "QUEUE_DELAY", "queueDelay": int() | float() as delay, **rest} if not rest:
                return [] if delay >= 0.5 else ["scaling.queueDelay: at least 0.5"]
            case {"type": "REQUEST_COUNT", "requestCount": int() as count, **rest} if not rest:
                return [] if count >= 1 else ["scaling.requestCount: at least 1"]
        return ["scaling: {type: QUEUE_DELAY, queueDelay} or {type: REQUEST_COUNT, requestCount}"]

    def _gpu_errors(self) -> list[str]:
        versions = list(self.gpu.get("allowedCudaVersions") or [])
        floor = self.gpu.get("minCudaVersion")
        wrong = [str(text) for text in (*versions, *([floor] if floor else [])) if not CUDA.fullmatch(str(text))]
        return [f"gpu: {text} is no CUDA version" for text in wrong]

    def _check_rules(self, data: Mapping[str, Any]) -> None:
        """Well-formed, and still against a rule: 400."""
        if self.workers["min"] > self.workers["max"]:
            raise Problem(400, "workers.min is above workers.max")
        sent = data.get("workers")
        if not self.idle_applies:
            if isinstance(sent, dict) and "idleTimeout" in sent:
                raise Problem(400, "idleTimeout is not applicable to queue endpoints scaling on requestCount")
            self.workers.pop("idleTimeout", None)
        pools = self.gpu.get("pools", [])
        if strange := [pool for pool in pools if pool not in catalog.POOLS]:
            raise Problem(400, f"unknown GPU pool {', '.join(map(str, strange))}")
        members = {gpu.id for gpu in catalog.GPUS if gpu.pool in pools}
        if strange := [name for name in self.gpu.get("excludedTypes", []) if str(name).strip() not in members]:
            raise Problem(400, f"excludedTypes: {', '.join(map(str, strange))} is in none of the pools")
        if self.gpu.get("allowedCudaVersions") and self.gpu.get("minCudaVersion"):
            raise Problem(400, "allowedCudaVersions and minCudaVersion exclude each other")

    @property
    def idle_applies(self) -> bool:
        """Whether idleTimeout exists for this scaler."""
        return self.scaling.get("type") == "QUEUE_DELAY"

    @property
    def scaler(self) -> Scaler:
        """As a rule."""
        if self.idle_applies:
            return QueueDelay(float(self.scaling["queueDelay"]))
        return RequestCount(int(self.scaling["requestCount"]))

    @property
    def gpu_type(self) -> catalog.Gpu:
        """Where its workers are placed; raises Problem when every type is excluded."""
        excluded = [str(name).strip() for name in self.gpu.get("excludedTypes", [])]
        found = catalog.first_of(self.gpu["pools"], excluded)
        if found is None:
            raise Problem(400, "no GPU type is left of these pools")
        return found

    def to_json(self) -> dict[str, Any]:
        """The fields of REST v2's Endpoint that are settings."""
        names = (*CONTAINER, *OWN, "type")
        shown = {name: copy.deepcopy(getattr(self, name)) for name in names}
        shown["gpu"] = {"count": 1, "allowedCudaVersions": [], "minCudaVersion": None} | shown["gpu"]
        return shown


def _natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _over(template: Mapping[str, Any] | None, data: Mapping[str, Any]) -> dict[str, Any]:
    """The template's container settings under the body's; env is merged key by key, the body wins."""
    if template is None:
        return dict(data)
    base = {name: template[name] for name in CONTAINER if template.get(name) not in (None, "", [], {})}
    merged = base | dict(data)
    if "env" in base and isinstance(data.get("env"), dict):
        merged["env"] = {**base["env"], **data["env"]}
    return merged
