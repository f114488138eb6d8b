"""What must change at RunPod so that endpoint and template are as wanted. Pure: values in, a plan out.

Every setting is wanted explicitly, because the defaults of RunPod's console and of its API differ. A difference in a
setting that we know is a change; anything else that is set there and that this release does not know is refused by
name, since nobody can tell what undoing it or leaving it would do. Values that may be secret (environment, arguments,
registry) are never shown.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gpujobs.providers.runpod_rest import Resource

What = Literal["template", "endpoint"]

SHORTEST_TIMEOUT_SECONDS = 5
IDLE_SECONDS = (1, 3600)
SCALERS = {"QUEUE_DELAY": "queueDelay", "REQUEST_COUNT": "requestCount"}
FLASHBOOT = ("OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT")
TEMPLATE_SUFFIX = "-worker"

NESTED = frozenset({"env", "gpu", "workers"})  # compared field by field; all else as a whole
CONTAINER = frozenset({"image", "args", "disk", "env", "ports", "registry"})  # an endpoint's, taken from its template
PRIVATE = frozenset({"args", "registry"})  # besides env: values that are not shown
TOLD_ONLY = frozenset({"id", "createdAt", "updatedAt", "requestUrls", "version", "endpointVersion"})
REPLACES_WORKERS = CONTAINER | {"gpu"}
# Given by RunPod in their own time or with another setting; they do not hold a wish of ours.
COMES_WITH_SCALER = "workers.idleTimeout"


class PlanError(ValueError):
    """What is wanted cannot be: the message names the setting."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The endpoint as settings want it. scaler_value: seconds in the queue, or requests per worker.

    idle_seconds: how long a worker without work stays, and costs; only where the scaler is QUEUE_DELAY.
    """

    name: str
    image: str
    gpu_pools: tuple[str, ...] = ("AMPERE_16",)
    workers_min: int = 0
    workers_max: int = 3
    scaler: str = "QUEUE_DELAY"
    scaler_value: int = 4
    idle_seconds: int = 5
    timeout_seconds: int = 60
    flashboot: str = "FLASHBOOT"
    disk_gb: int = 20
    min_cuda: str = ""
    registry: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises PlanError."""
        problems = [words for wrong, words in self._rules() if wrong]
        if problems:
            raise PlanError("; ".join(problems))

    def _rules(self) -> Iterator[tuple[bool, str]]:
        yield not self.name, "the endpoint needs a name"
        yield not is_pinned(self.image), "the image needs a tag of its own (not latest): workers keep what they pulled"
        yield not self.gpu_pools, "at least one GPU pool"
        yield not 0 <= self.workers_min <= self.workers_max, "workers: 0 <= min <= max"
        yield self.workers_max < 1, "workers: a max of 0 would never score"
        yield self.scaler not in SCALERS, f"the scaler is one of {', '.join(SCALERS)}"
        yield self.scaler_value < 1, "the scaler's value is at least 1"
        least, most = IDLE_SECONDS
        yield not least <= self.idle_seconds <= most, f"idle seconds: {least} to {most}"
        yield self.timeout_seconds < SHORTEST_TIMEOUT_SECONDS, f"the timeout is at least {SHORTEST_TIMEOUT_SECONDS} s"
        yield self.flashboot not in FLASHBOOT, f"flashboot is one of {', '.join(FLASHBOOT)}"
        yield self.disk_gb < 1, "the disk has at least 1 GB"

    @property
    def template_name(self) -> str:
        return self.name + TEMPLATE_SUFFIX

    def container(self) -> dict[str, Any]:
        """What a worker is made of, as REST v2 writes it; template and endpoint alike."""
        return {
            "image": self.image,
            "args": "",
            "disk": self.disk_gb,
            "env": dict(self.env),
            "ports": [],
            "registry": self.registry or None,
        }

    def template(self) -> dict[str, Any]:
        """Every setting of the template."""
        own = {"name": self.template_name, "serverless": True, "public": False, "category": "NVIDIA"}
        shut = {"startSsh": False, "startJupyter": False, "mounts": {}, "allowedCudaVersions": []}
        return own | self.container() | shut

    def endpoint(self) -> dict[str, Any]:
        """Every setting of the endpoint."""
        workers = {"min": self.workers_min, "max": self.workers_max}
        if self.scaler == "QUEUE_DELAY":  # for the other one RunPod refuses it
            workers["idleTimeout"] = self.idle_seconds
        return {
            "name": self.name,
            "type": "QUEUE",
            "gpu": {
                "pools": list(self.gpu_pools),
                "count": 1,
                "excludedTypes": [],
                "allowedCudaVersions": [],
                "minCudaVersion": self.min_cuda,  # an explicit "" clears it, null is no answer
            },
            "workers": workers,
            "scaling": {"type": self.scaler, SCALERS.get(self.scaler, "value"): self.scaler_value},
            "timeout": self.timeout_seconds * 1000,
            "flashboot": self.flashboot,
            "dataCenterIds": [],
            "networkVolumes": [],
        } | self.container()


@dataclass(frozen=True, slots=True)
class Line:
    """One setting that changes, in words; before: empty where it is new."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One call. id: of what is changed; empty = it is created."""

    what: What
    id: str
    name: str
    body: Mapping[str, Any]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """steps: in their order.  refused: names of what we don't understand; with any, nothing may be done."""

    steps: tuple[Step, ...]
    refused: tuple[str, ...]
    notes: tuple[str, ...]


def plan(wanted: Wanted, *, endpoint: Resource | None, template: Resource | None, ignore: Collection[str] = ()) -> Plan:
    """From what was found (None = there is none) to what is wanted. ignore: names to leave as they are."""
    steps: list[Step] = []
    refused: list[str] = []
    sides: tuple[tuple[What, Resource | None, dict[str, Any]], ...] = (
        ("template", template, wanted.template()),
        ("endpoint", endpoint, wanted.endpoint()),
    )
    for what, found, target in sides:
        if found is None:
            steps.append(_creation(what, target))
            continue
        refused += [f"{what}.{name}" for name in _strange(found.fields, target) if not _covered(name, ignore)]
        step = _change(what, found, target, ignore)
        steps += [step] if step else []
    return Plan(tuple(steps), tuple(refused), tuple(_notes(wanted, endpoint, steps)))


def is_pinned(image: str) -> bool:
    """Whether an image name has a tag other than latest, or a digest."""
    if "@sha256:" in image:
        return True
    name, _, tag = image.rpartition("/")[2].partition(":")
    return bool(name and tag) and tag != "latest"


# --- Inside ---------------------------------------------------------------------------------------------------------


def _creation(what: What, target: Mapping[str, Any]) -> Step:
    """An endpoint takes its container from the template, whose id is known only when it is made."""
    flat = _flat(target)
    lines = tuple(Line(name, "", _shown(name, value)) for name, value in flat.items())
    sent = target if what == "template" else {name: value for name, value in target.items() if name not in CONTAINER}
    return Step(what, "", str(target["name"]), _without_empty(sent), lines)


def _without_empty(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is None is left out: of two that exclude each other only one may be sent."""
    gpu = {name: value for name, value in body.get("gpu", {}).items() if value not in (None, [], "")}
    kept = {name: value for name, value in body.items() if value is not None}
    return kept | ({"gpu": gpu} if gpu else {})


def _change(what: What, found: Resource, target: Mapping[str, Any], ignore: Collection[str]) -> Step | None:
    before, after = _flat(found.fields), _flat(target)
    names = [name for name in after if not _same(before.get(name), after[name]) and not _covered(name, ignore)]
    if not names:
        return None
    tops = dict.fromkeys(name.partition(".")[0] for name in names)
    lines = tuple(Line(name, _shown(name, before.get(name)), _shown(name, after[name])) for name in names)
    body = {top: _sent(top, found.fields, target, names, ignore) for top in tops}
    return Step(what, found.id, found.name, body, lines)


def _sent(
    top: str, found: Mapping[str, Any], target: Mapping[str, Any], names: Collection[str], ignore: Collection[str]
) -> Any:
    """The new value of a field: of nested ones all that is wanted, and what shall be left as it is."""
    if top not in NESTED:
        return target[top]
    old = found.get(top) if isinstance(found.get(top), dict) else {}
    kept = {name: value for name, value in (old or {}).items() if _covered(f"{top}.{name}", ignore)}
    new = {name: value for name, value in target[top].items() if top != "gpu" or value or f"gpu.{name}" in names}
    return new | kept


def _strange(found: Mapping[str, Any], target: Mapping[str, Any]) -> Iterator[str]:
    """Names of what is set there and unknown here."""
    known = _flat(target)
    for name, value in _flat(found).items():
        if name not in known and name not in TOLD_ONLY | {COMES_WITH_SCALER, "templateId"} and value:
            yield name
    for name in ("type", "serverless"):  # nobody can change these: it is something else
        if name in target and name in found and not _same(found[name], target[name]):
            yield name
    scaling = found.get("scaling")
    if isinstance(scaling, dict) and (scaling.get("type") not in SCALERS or len(scaling) > 2):
        yield "scaling"


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names of all fields."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if name in NESTED and isinstance(value, dict):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _same(found: Any, wanted: Any) -> bool:
    """Nothing is nothing, however it is written."""
    return bool(found == wanted) or (found in (None, "", [], {}) and wanted in (None, "", [], {}))


def _covered(name: str, ignore: Collection[str]) -> bool:
    return name in ignore or name.partition(".")[0] in ignore


def _shown(name: str, value: Any) -> str:
    if value in (None, "", [], {}):
        return "none" if value is None or value in ([], {}) else "empty"
    if name in PRIVATE or name.startswith("env"):
        return "(not shown)"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _notes(wanted: Wanted, endpoint: Resource | None, steps: Collection[Step]) -> Iterator[str]:
    """What a person should know before saying yes."""
    workers = endpoint.fields.get("workers") if endpoint else None
    if isinstance(workers, dict) and workers.get("max") == 0:
        yield "Max workers is 0: RunPod sets it so after 7 days without requests, or somebody did."
    changed = {
        line.name.partition(".")[0] for step in steps if step.what == "endpoint" and step.id for line in step.lines
    }
    if changed & REPLACES_WORKERS:
        yield "Workers are replaced one by one: for a while both versions answer."
    if wanted.workers_min:
        yield f"{wanted.workers_min} worker(s) run, and cost, all the time."
