"""The front page and the post that starts a check."""

import uuid

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from billing.throttling import check_burst
from detector import intake, wakeups
from detector.files.limits import MAX_FILE_BYTES
from detector.forms import CheckForm
from detector.models import Submission
from detector.views import samples, upload
from detector.views.offer import offer_for
from inkcloak.errors import DomainError, Unavailable

# Most checks are done by then: the first page that people see already holds the verdict.
FIRST_WAIT_SECONDS = 1.5
SEE_OTHER = 303


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    sample = samples.text_of(request.GET.get("sample", ""), get_language() or "en")
    return _page(request, text=sample, nonce=uuid.uuid4())


async def check(request: HttpRequest) -> HttpResponse:
    """Posting the same form twice leads to the same check."""
    if request.method != "POST":
        return redirect("detector:front")
    started = await sync_to_async(_start)(request)
    if isinstance(started, HttpResponse):
        return started
    return await to_result(started)


async def to_result(submission: Submission) -> HttpResponse:
    """Sends the browser to the result page, a moment later if the verdict is that near."""
    if not submission.is_finished:
        await wakeups.wait_until_finished(submission.pk, seconds=FIRST_WAIT_SECONDS)
    response = HttpResponseRedirect(reverse("detector:result", args=[submission.pk]))
    response.status_code = SEE_OTHER
    return response


def _start(request: HttpRequest) -> Submission | HttpResponse:
    """The submission, the page that shows what files hold, or the form again with what was wrong and the text kept."""
    form = CheckForm.of(request)
    try:
        check_burst(request)
        if form.sent or form.lost_files:
            return upload.read(request, form)
        text = form.box
        intake.check_limits(text)  # before the owner: somebody whose text is refused gets no session for it
        return intake.accept(
            owner=upload.owner_by_form(request, form.nonce),
            text=text,
            source=Submission.Source.PAGE,
            now=timezone.now(),
            nonce=form.nonce,
            max_fpr=form.max_fpr,
        )
    except Unavailable:
        raise  # an error page of its own, which sends the same form again
    except DomainError as error:
        return _page(request, text=form.box, nonce=form.nonce, cap=form.max_fpr, error=error)


def _page(
    request: HttpRequest, *, text: str, nonce: uuid.UUID, cap: str = "", error: DomainError | None = None
) -> HttpResponse:
    context = {
        "offer": offer_for(request),
        "text": text[: intake.MAX_CHARACTERS],
        "cut": len(text) > intake.MAX_CHARACTERS,
        "nonce": nonce,
        "cap": cap,
        "error": error,
        "samples": samples.SAMPLES,
        "file_megabytes": MAX_FILE_BYTES // (1024 * 1024),
    }
    response = render(request, "detector/front.html", context, status=error.status if error else 200)
    if error and error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response
