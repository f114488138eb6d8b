"""Names and sentences of the staff's page about the GPU. What is done about a code is also in docs/runpod.md."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from detector.models import Submission
from inkcloak.errors import DomainError

Words = str | Promise


@dataclass(frozen=True, slots=True)
class Reason:
    """fix: what to do; empty where nothing is to be done."""

    says: Words
    fix: Words = ""


LANES: dict[int, Words] = {
    Submission.Lane.INTERACTIVE: _("Pasted texts"),
    Submission.Lane.BULK: _("Bulk"),
    Submission.Lane.RESCORE: _("Re-scoring"),
}

BACKENDS: dict[str, Words] = {"runpod": _("GPU (RunPod)"), "local": _("CPU (this machine)")}

# In the order in which one wants to know them; a state that RunPod adds some day is shown by its own name.
WORKERS: dict[str, Words] = {
    "running": _("working"),
    "idle": _("idle"),
    "ready": _("ready"),
    "initializing": _("starting"),
    "throttled": _("waiting for a card"),
    "unhealthy": _("failing"),
}

BREAKER: dict[str, Words] = {
    "closed": _("closed: RunPod is asked"),
    "open": _("open: RunPod is not asked"),
    "half_open": _("half open: one batch tries"),
}

# Why work waits, by the codes of gpujobs.endpoint_health.
WHY: dict[str, Reason] = {
    "breaker_open": Reason(
        _("After several failures in a row RunPod is not asked for a while."),
        _("It is tried again by itself. docs/runpod.md says what to do about the code."),
    ),
    "cannot_ask": Reason(_("RunPod can't be asked, so only its own pages know why.")),
    "places_taken": Reason(
        _("As many batches are at RunPod as may be at a time."),
        _("Set RUNS_IN_FLIGHT to twice the number of workers."),
    ),
    "trickle": Reason(
        _("So few texts are left to the CPU: a GPU is not woken for them."),
        _("Nothing, unless it should be: GPU_WAKE_SECONDS says from when on."),
    ),
    "not_handed_over": Reason(
        _("No batch of these texts has gone to RunPod yet."),
        _("Should it stay so: does a worker process of the queue “gpu” run?"),
    ),
    "runpod_deadline": Reason(
        _("Capacity: every worker is busy, and batches wait their turn."),
        _("Raise RUNPOD_WORKERS_MAX and run manage.py runpod_deploy --yes, if that happens often."),
    ),
    "runpod_workers_unhealthy": Reason(
        _("Crash loop: workers fail at their start."),
        _("Read a worker's log in RunPod's console: driver, memory, or a changed model file."),
    ),
    "runpod_throttled": Reason(
        _("Throttled: no card of these pools is free."),
        _("Put more pools into RUNPOD_GPU_POOLS and run manage.py runpod_deploy --yes."),
    ),
    "runpod_cold_start": Reason(
        _("Cold start: a worker is on its way."),
        _("Nothing: it takes seconds, or minutes where the image is pulled first."),
    ),
    "runpod_no_worker": Reason(
        _("No worker comes."),
        _("manage.py runpod_doctor looks for the reason: max workers, credit, or the account's quota of workers."),
    ),
    "scaler": Reason(
        _("Max workers is 0: no worker will come. RunPod sets it so after 7 days without requests."),
        _("manage.py runpod_deploy --yes raises it again."),
    ),
    "balance": Reason(_("The account has no credit: no worker starts."), _("Add credit in RunPod's console.")),
    "cpu": Reason(
        _("They wait for this machine's CPU."),
        _("Should it go on: does a worker process run?"),
    ),
}

# Why RunPod can't be asked, by the codes of gpujobs.backends.runpod_http.
CANNOT: dict[str, Reason] = {
    "runpod_unauthorized": Reason(
        _("RunPod refuses the key."), _("Make a new one in its console and set RUNPOD_API_KEY for web and workers.")
    ),
    "runpod_forbidden": Reason(
        _("The key may not use this endpoint."), _("Give it read and write access in RunPod's console.")
    ),
    "runpod_unpaid": Reason(_("The account has no credit."), _("Add credit in RunPod's console.")),
    "runpod_endpoint_missing": Reason(
        _("RunPod knows no endpoint of this id."),
        _("Correct RUNPOD_ENDPOINT_ID, or empty it and run manage.py runpod_deploy --yes."),
    ),
    "runpod_busy": Reason(_("RunPod is overloaded."), _("Nothing: it is asked again in a few seconds.")),
    "runpod_unavailable": Reason(
        _("RunPod has a fault of its own."), _("Nothing: it is asked again in a few seconds.")
    ),
    "runpod_unreachable": Reason(
        _("RunPod does not answer."),
        _("Does this machine reach RUNPOD_BASE_URL? If so, RunPod is down: it is asked again in a few seconds."),
    ),
}


def shut(error: DomainError) -> Reason:
    """Why no GPU work is started, in the budget's own words: they name it, and when it is free again."""
    return Reason(error.message, SHUT.get(error.code, ""))


SHUT: dict[str, Words] = {
    "budget_used_up": _("Let it go on for a while by an override in the admin, or raise the limit there."),
    "budget_unreadable": _("manage.py budgets says which one: its zone, or the database."),
    "price_unknown": _("Add a price of the pools in RUNPOD_GPU_POOLS (docs/budgets.md)."),
}
UNKNOWN = Reason(_("RunPod's answer was none that we know."), _("manage.py runpod_doctor looks further."))
