"""What RunPod calls when a job has ended: a wake-up, and nothing more.

Anybody may claim anything here, so the body is never read: the answer is fetched from RunPod, as at any other look.
Without these calls, doubled or late, everything ends the same way; only later.
"""

import uuid

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from detector import wakeups
from gpujobs import runs
from gpujobs.backends import runpod_hooks


@csrf_exempt
@require_POST
async def ended(request: HttpRequest, token: str) -> HttpResponse:
    """200 for whatever we signed, also when there is nothing left to do: on anything else RunPod calls again."""
    run_id = runpod_hooks.run_of(token)
    if run_id is None:
        return HttpResponseNotFound()  # bare: the page for people asks the session who they are
    await sync_to_async(_wake)(run_id)
    return HttpResponse()


def _wake(run_id: uuid.UUID) -> None:
    if runs.look_now(run_id, now=timezone.now()):
        wakeups.look_after(run_id, seconds=0)
