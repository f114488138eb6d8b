"""The serverless endpoint as settings want it: find it at RunPod, and make it so."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from django.conf import settings

from gpujobs.endpoint_plan import PlanError, Step, Wanted, plan
from gpujobs.providers.runpod_rest import MISSING, Resource, RunpodError, RunpodRest

ROUNDS = 3  # of reading, planning and doing, until nothing is left to do
ANY = "any"  # CUDA version
WORKER_ENV = {"RUNPOD_LOG_LEVEL": "INFO"}  # the SDK's default, DEBUG, prints every output


class NotFound(LookupError):
    """What settings name is not there, or cannot be told apart: the message says what to do."""


class NotDone(RuntimeError):
    """RunPod took the changes and shows other values. names: of the settings."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"RunPod does not keep: {', '.join(names)}")
        self.names = tuple(names)


@dataclass(frozen=True, slots=True)
class Found:
    """What there is; None = not yet."""

    endpoint: Resource | None
    template: Resource | None


def wanted(image: str = "") -> Wanted:
    """As settings have it, with another image perhaps. Raises PlanError, which names what is missing or wrong."""
    image = image or settings.RUNPOD_IMAGE
    if not image:
        raise PlanError("RUNPOD_IMAGE is not set: the image that the workers run")
    return Wanted(
        name=settings.RUNPOD_ENDPOINT_NAME,
        image=image,
        gpu_pools=tuple(settings.RUNPOD_GPU_POOLS),
        workers_min=settings.RUNPOD_WORKERS_MIN,
        workers_max=settings.RUNPOD_WORKERS_MAX,
        scaler=settings.RUNPOD_SCALER,
        scaler_value=settings.RUNPOD_SCALER_VALUE,
        idle_seconds=settings.RUNPOD_IDLE_SECONDS,
        timeout_seconds=settings.RUNPOD_EXECUTION_SECONDS,
        flashboot=settings.RUNPOD_FLASHBOOT,
        disk_gb=settings.RUNPOD_DISK_GB,
        min_cuda="" if settings.RUNPOD_MIN_CUDA == ANY else settings.RUNPOD_MIN_CUDA,
        registry=settings.RUNPOD_REGISTRY_ID,
        env=WORKER_ENV | _pairs(settings.RUNPOD_WORKER_ENV),
    )


def masked(words: str) -> str:
    """Without the values of RUNPOD_WORKER_ENV, which RunPod may quote when it refuses them."""
    for value in _pairs(settings.RUNPOD_WORKER_ENV).values():
        words = words.replace(value, "…") if value else words
    return words


def find(rest: RunpodRest, want: Wanted, endpoint_id: str = "") -> Found:
    """By id where settings have one, else by name. Raises NotFound and RunpodError."""
    if endpoint_id:
        try:
            endpoint: Resource | None = rest.endpoint(endpoint_id)
        except RunpodError as error:
            if error.code != MISSING:
                raise
            raise NotFound(
                f"RUNPOD_ENDPOINT_ID is {endpoint_id}, and this account has no such endpoint. Correct it, or empty it "
                "to have one made."
            ) from None
    else:
        endpoint = _named(rest.endpoints(), want.name, "endpoint", "Set RUNPOD_ENDPOINT_ID to the right one.")
    return Found(endpoint, _named(rest.templates(), want.template_name, "template", "Delete all but one."))


def apply(
    rest: RunpodRest,
    want: Wanted,
    endpoint_id: str = "",
    *,
    ignore: Collection[str] = (),
    done: Callable[[Step], None] = lambda _: None,
) -> Resource:
    """Does what the plan says, reads back, and goes on until nothing is left to do. Returns the endpoint.

    After an answer that got lost, the next round looks what is there. Raises PlanError when
    something came up that is not understood, NotDone, NotFound and RunpodError.
    """
    trouble: RunpodError | None = None
    left: tuple[Step, ...] = ()
    for turn in range(ROUNDS + 1):
        found = find(rest, want, endpoint_id)
        now = plan(want, endpoint=found.endpoint, template=found.template, ignore=ignore)
        if now.refused:
            raise PlanError(f"not understood: {', '.join(now.refused)}")
        left = now.steps
        if not left and found.endpoint is not None:
            return found.endpoint
        if turn < ROUNDS:
            trouble = _carry_out(rest, left, found.template.id if found.template else "", done)
    raise trouble or NotDone([line.name for step in left for line in step.lines])


def _carry_out(
    rest: RunpodRest, steps: Sequence[Step], template_id: str, done: Callable[[Step], None]
) -> RunpodError | None:
    """The error after which nobody knows whether the step was done; the steps behind it are left for then."""
    try:
        for step in steps:
            body = dict(step.body)
            match (step.what, bool(step.id)):
                case ("template", False):
                    template_id = rest.create_template(body).id
                case ("template", True):
                    rest.change_template(step.id, body)
                case ("endpoint", False):  # the template's step, if there is one, came before
                    rest.create_endpoint(body | {"templateId": template_id})
                case _:
                    rest.change_endpoint(step.id, body)
            done(step)
    except RunpodError as error:
        if not error.doubtful:
            raise
        return error
    return None


def _named(found: Sequence[Resource], name: str, what: str, fix: str) -> Resource | None:
    same = [each for each in found if each.name == name]
    if len(same) > 1:
        raise NotFound(f"{len(same)} {what}s are called {name}: {', '.join(each.id for each in same)}. {fix}")
    return same[0] if same else None


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """Of NAME=VALUE words. Raises PlanError, which does not quote them: they may be secret."""
    pairs: dict[str, str] = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not name or not mark:
            raise PlanError("RUNPOD_WORKER_ENV: NAME=VALUE, separated by commas")
        pairs[name] = value
    return pairs
