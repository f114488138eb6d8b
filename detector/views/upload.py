"""Files on the page: read, shown with their words and problems, then checked, one submission each.

read()        POST /check with files: one plain file is checked at once, else the page that shows what they hold
check_all()   POST /uploads: the texts come back with that page, so that nothing was kept meanwhile
show()        GET /uploads/<number of the form>/: how far they are
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from billing import accounts
from billing.throttling import check_burst
from detector import false_flags, history, intake
from detector.files import messages as words
from detector.files import reading
from detector.forms import MAX_PAGE_TEXTS, Checked, CheckForm, UploadForm
from detector.models import Submission, Verdict
from detector.views import errors, story
from detector.views.offer import champion, offer_for
from inkcloak.errors import DomainError, Invalid, Unavailable

MAX_PAGE_CHARACTERS = 5_000_000  # of all texts of one upload: they travel to the browser and back
BULK_FROM_TEXTS = 6  # a class waits behind people who look at one text
SEE_OTHER = 303
LONG_COLUMNS = ("text", "verdict__segments", "verdict__left_out", "verdict__cleaned", "model_version__manifest")
VISITORS = uuid.UUID("5d0c8a0e-3c0b-4a53-9a3e-0c6f2b6f7f51")  # namespace of visitors known by their first form


@dataclass(frozen=True, slots=True)
class Line:
    """One text on the page, or a file without any. place: None where there is nothing to check.

    reason: why there will be no verdict.  hidden: (characters, what they are).  encoding: where it was guessed.
    """

    name: str
    place: int | None = None
    text: str = ""
    words: int = 0
    problem: str = ""
    reason: str = ""
    hidden: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    encoding: str = ""
    card: dict[str, Any] | None = None


def read(request: HttpRequest, form: CheckForm) -> Submission | HttpResponse:
    """What the files hold. Raises DomainError where nothing of them can be checked."""
    files = reading.read_all(form.uploads())
    if len(files) == 1:
        if files[0].error is not None:
            raise files[0].error
        if files[0].is_plain:
            return _accept(request, form.nonce, form.max_fpr, _checked(files)[0])
    count, characters = sum(len(f.texts) for f in files), sum(len(t.text) for f in files for t in f.texts)
    if count > MAX_PAGE_TEXTS:
        message = _("These files hold %(count)d texts; the limit is %(limit)d in one upload. The API takes more.")
        raise Invalid("too_many_texts", message % {"count": count, "limit": MAX_PAGE_TEXTS})
    if characters > MAX_PAGE_CHARACTERS:
        message = _("These files hold %(count)d characters together; the limit is %(limit)d in one upload.")
        raise Invalid("too_long_together", message % {"count": characters, "limit": MAX_PAGE_CHARACTERS})
    return _review(request, _lines(files, form.max_fpr), form.nonce, form.max_fpr)


def check_all(request: HttpRequest) -> HttpResponse:
    """Each text alone: one that is refused holds up no other. Posting the same page twice makes the same checks."""
    if request.method != "POST":
        return redirect("detector:front")
    form = UploadForm.of(request)
    if not form.texts:
        return redirect("detector:front")
    accepted: list[Submission] = []
    refused: list[tuple[Checked, DomainError]] = []
    try:
        check_burst(request)
    except DomainError as error:
        return _again(request, form, error)
    lane = Submission.Lane.BULK if len(form.texts) >= BULK_FROM_TEXTS else Submission.Lane.INTERACTIVE
    for checked in form.texts:
        try:
            accepted.append(_accept(request, form.nonce, form.max_fpr, checked, lane))
        except DomainError as error:
            refused.append((checked, error))
    if not accepted:
        return _again(request, form, refused[0][1])
    # Counted, not named: messages wait in a cookie or a session, where no file name should lie.
    for why, count in Counter(str(error.message) for _checked, error in refused).items():
        template = ngettext("%(n)d text was not checked: %(why)s", "%(n)d texts were not checked: %(why)s", count)
        messages.warning(request, template % {"n": count, "why": why})
    return _see(_place(form, accepted))


@require_safe
def show(request: HttpRequest, nonce: uuid.UUID) -> HttpResponse:
    """The checks of one upload, in the order of the files; of a stranger's there are none."""
    places = {_number(nonce, place): place for place in range(MAX_PAGE_TEXTS)}
    mine = history.of(accounts.reader_of(request)).filter(nonce__in=places)
    rows = sorted(mine.defer(*LONG_COLUMNS), key=lambda row: places[row.nonce or nonce])
    if not rows:
        return errors.not_found(request)
    context = {
        "rows": [_row(row) for row in rows],
        "done": sum(row.is_finished for row in rows),
        "count": len(rows),
        "flagged": sum(_is_flagged(row) for row in rows),
        "waiting": not all(row.is_finished for row in rows),
        "expected": false_flags.expected(_card(row) for row in rows),
    }
    return _private(render(request, "detector/uploaded.html", context))


def owner_by_form(request: HttpRequest, nonce: uuid.UUID) -> accounts.Owner:
    """A visitor's first form, sent twice at once, comes twice without a session: both know the form's number,
    which nobody else does, so it names the visitor."""
    if not request.user.is_authenticated:
        request.session.setdefault(accounts.VISITOR_SESSION_KEY, str(uuid.uuid5(VISITORS, str(nonce))))
    return accounts.owner_of(request)


def _accept(
    request: HttpRequest,
    nonce: uuid.UUID,
    max_fpr: str,
    checked: Checked,
    lane: Submission.Lane = Submission.Lane.INTERACTIVE,
) -> Submission:
    intake.check_limits(checked.text)  # before the owner: somebody whose text is refused gets no session for it
    return intake.accept(
        owner=owner_by_form(request, nonce),
        text=checked.text,
        source=Submission.Source.PAGE,
        now=timezone.now(),
        nonce=_number(nonce, checked.place),
        lane=lane,
        asked=intake.Asked(max_fpr=max_fpr, file_name=checked.name),
    )


def _number(nonce: uuid.UUID, place: int) -> uuid.UUID:
    """The number of one text of a form: two files with the same content are two checks."""
    return uuid.uuid5(nonce, str(place))


def _checked(files: Sequence[reading.File]) -> list[Checked]:
    texts = [text for file in files for text in file.texts]
    return [Checked(place, text.name, text.text) for place, text in enumerate(texts)]


def _lines(files: Sequence[reading.File], max_fpr: str) -> list[Line]:
    lines: list[Line] = []
    place = 0
    for file in files:
        if file.error is not None:
            lines.append(Line(file.name, problem=str(file.error.message)))
        for number, text in enumerate(file.texts):
            about = _about(file) if number == 0 else {}
            lines.append(_line(Checked(place, text.name, text.text), max_fpr, **about))
            place += 1
    return lines


def _line(checked: Checked, max_fpr: str, **about: Any) -> Line:
    """Raises Unavailable while no model is in service."""
    try:
        ready = intake.read(checked.text, asked=intake.Asked(max_fpr=max_fpr))
    except Unavailable:
        raise
    except DomainError as error:
        return Line(checked.name, problem=str(error.message), **about)
    return Line(
        checked.name,
        checked.place,
        checked.text,
        ready.found.reading.words,
        reason=str(story.REASONS[ready.found.reason]) if ready.found.reason else "",
        card=false_flags.card_of(ready.found, ready.version.manifest, max_fpr),
        **about,
    )


def _about(file: reading.File) -> dict[str, Any]:
    return {
        "hidden": tuple((count, str(words.HIDDEN[kind])) for kind, count in file.hidden.items()),
        "notes": tuple(str(words.NOTES[note]) for note in file.notes),
        "encoding": file.encoding.replace("_", "-"),
    }


def _review(
    request: HttpRequest, lines: Sequence[Line], nonce: uuid.UUID, max_fpr: str, error: DomainError | None = None
) -> HttpResponse:
    checkable = [line for line in lines if line.place is not None]
    offer = offer_for(request)
    context = {
        "lines": lines,
        "checkable": checkable,
        "problems": len(lines) - len(checkable),
        "words": sum(line.words for line in checkable if not line.reason),
        "priced": sum(not line.reason for line in checkable),
        "expected": false_flags.expected(line.card for line in checkable),
        "max_fpr": max_fpr,
        "nonce": nonce,
        "offer": offer,
        "error": error,
    }
    response = render(request, "detector/upload.html", context, status=error.status if error else 200)
    if error is not None and error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return _private(response)


def _again(request: HttpRequest, form: UploadForm, error: DomainError) -> HttpResponse:
    """The same page with what was wrong; its texts are still on it."""
    if champion() is None:
        raise error
    return _review(request, [_line(checked, "") for checked in form.texts], form.nonce, form.max_fpr, error)


def _place(form: UploadForm, accepted: Sequence[Submission]) -> str:
    if len(form.texts) == 1:
        return reverse("detector:result", args=[accepted[0].pk])
    return reverse("detector:uploaded", args=[form.nonce])


def _see(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    response.status_code = SEE_OTHER
    return response


def _row(submission: Submission) -> dict[str, Any]:
    verdict = submission.verdict if submission.status == Submission.Status.DONE else None
    return {
        "submission": submission,
        "label": story.label(submission),
        "mark": verdict.label if verdict else submission.status,
        "probability": verdict.probability if verdict else None,
        "ai_fraction": verdict.ai_fraction if verdict else None,
    }


def _is_flagged(submission: Submission) -> bool:
    done = submission.status == Submission.Status.DONE
    return done and submission.verdict.label in (Verdict.Label.AI, Verdict.Label.MIXED)


def _card(submission: Submission) -> dict[str, Any] | None:
    """The rate card of the verdict; None while there is none."""
    return submission.verdict.rate_card if submission.status == Submission.Status.DONE else None


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store, private"  # somebody's texts: not for the next person at this browser
    return response
