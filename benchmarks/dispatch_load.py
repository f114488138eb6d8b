"""What `make bench-dispatch` puts on the queue and measures of it. Needs django.setup() (benchmarks/stand.py).

Rows are made as detector.intake makes them, in bulk: an account's reserved words, texts in the bulk lane. From there
on the product does everything; what it stored is counted at the end.
"""

import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256

import redis
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from redis.client import PubSub

from benchmarks import prose
from billing import quota
from billing.accounts import Owner, account_of, allowance_of
from billing.models import Meter, Reservation, User
from detector import collect, dispatch, intake, wakeups
from detector.models import Submission, Verdict
from gpujobs import backends, registry, runs, scoring
from gpujobs.backends import Order
from inkcloak.lifecycle import advance

DEADLINE = timedelta(hours=1)
NAIVE_TASKS = 2  # at a time: Celery's own default is one a core
LAST_TEXTS, LOOK_SECONDS = 200, 0.01  # of a bulk job: so many are waited for in such small steps
PATIENCE_SECONDS = 30.0  # with one of them

Until = Callable[[Callable[[], bool], float, str], None]  # Stand.until


@dataclass(frozen=True)
class Load:
    """An account with a name of its own, and its queued texts."""

    owner: Owner
    ids: list[uuid.UUID]
    words: int

    def waiting(self) -> int:
        """How many have no verdict yet."""
        pending = (Submission.Status.QUEUED, Submission.Status.SCORING)
        return Submission.objects.filter(account=self.owner.account, status__in=pending).count()

    def check(self) -> None:
        """Each text has its verdict and was charged once. Raises AssertionError."""
        done = Submission.objects.filter(account=self.owner.account, status=Submission.Status.DONE)
        assert done.count() == len(self.ids), f"{len(self.ids) - done.count()} texts without a verdict"
        assert Verdict.objects.filter(submission__in=done).count() == len(self.ids)
        meter = Meter.objects.get(holder=f"account:{self.owner.account.pk}")  # type: ignore[union-attr]
        assert (meter.used, meter.held) == (self.words, 0), "charged otherwise than once each"


def person(name: str) -> Owner:
    """Somebody with an account."""
    user = User.objects.create_user(f"{name}@example.com")
    return Owner(account=account_of(user), user=user)


@transaction.atomic
def queue(name: str, count: int) -> Load:
    """`count` texts of a new account, queued in the bulk lane; nobody is told yet."""
    owner, version, now = person(name), registry.resolve(), timezone.now()
    texts = list(prose.texts(count, name=name))
    words = [len(text.split()) for text in texts]
    first = quota.reserve(allowance=allowance_of(owner, now), amount=sum(words), now=now)
    held = [Reservation(meter_id=first.meter_id, amount=amount) for amount in words]
    Reservation.objects.bulk_create(held)
    first.delete()  # its words are held by those of the texts
    rows = [
        Submission(
            account=owner.account,
            user=owner.user,
            source=Submission.Source.COMMAND,
            digest=sha256(text.encode()).hexdigest(),
            text=text,
            characters=len(text),
            words=amount,
            language="en",
            model_version=version,
            lane=Submission.Lane.BULK,
            reservation=reservation,
            accepted_at=now,
            deadline_at=now + DEADLINE,
        )
        for text, amount, reservation in zip(texts, words, held, strict=True)
    ]
    Submission.objects.bulk_create(rows, batch_size=1000)
    return Load(owner, [row.pk for row in rows], sum(words))


def throughput(load: Load, until: Until, seconds: float) -> float:
    """Texts a second from the first wake-up to the last stored verdict."""
    began = time.monotonic()
    wakeups.queue_has_work()
    until(lambda: load.waiting() <= LAST_TEXTS, seconds, "the bulk job")
    while load.waiting() and time.monotonic() < began + seconds:
        time.sleep(LOOK_SECONDS)
    taken = time.monotonic() - began
    load.check()
    return len(load.ids) / taken


def interactive(load: Load, count: int, interval: float, until: Until) -> list[float]:
    """Seconds from row to stored verdict of single pasted texts, while the bulk job runs.

    interval: between two, on average. Stops early when the bulk job ends: what comes after would be measured idle.
    """
    rng, owner, found = random.Random(count), person(f"pasting-{len(load.ids)}"), []
    hints = redis.Redis.from_url(settings.CACHE_URL).pubsub()  # type: ignore[no-untyped-call]
    intake.evidence(prose.SENTENCES[0], registry.resolve().manifest)  # loads what tells languages
    wakeups.queue_has_work()
    until(lambda: load.waiting() < len(load.ids), PATIENCE_SECONDS, "the bulk job's beginning")
    for text in prose.texts(count, name=f"pasted {len(load.ids)}"):
        next_at = time.monotonic() + interval * rng.uniform(0.5, 1.5)
        found.append(_paste(owner, text, hints))
        if not load.waiting():
            found.pop()
            break
        until(partial(_is_past, next_at), 60, "a pause")
    hints.close()
    return found


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def _paste(owner: Owner, text: str, hints: PubSub) -> float:
    """Told as a waiting page is: by the announcement that follows the commit of the verdict."""
    began = 0.0

    def committed() -> None:
        nonlocal began
        began = time.monotonic()

    with transaction.atomic():
        transaction.on_commit(committed)
        submission = intake.accept(owner=owner, text=text, source=Submission.Source.PAGE, now=timezone.now())
        hints.subscribe(f"submission:{submission.pk}")
    while (told := hints.get_message(timeout=PATIENCE_SECONDS)) is not None and told["type"] != "message":
        pass
    taken = time.monotonic() - began
    hints.unsubscribe()  # type: ignore[no-untyped-call]
    assert Verdict.objects.filter(pk=submission.pk).exists(), "an interactive text got no verdict"
    return taken


def naive(load: Load) -> float:
    """Texts a second when each text is a task and a job of its own, so many tasks at a time."""
    began = time.monotonic()
    problems: list[Exception] = []
    threads = [threading.Thread(target=_naive_worker, args=(problems,)) for _ in range(NAIVE_TASKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.monotonic() - began
    if problems:
        raise problems[0]
    load.check()
    return len(load.ids) / taken


def _naive_worker(problems: list[Exception]) -> None:
    try:
        while _one_text():
            pass
    except Exception as problem:  # noqa: BLE001 - raised again by whoever waits
        problems.append(problem)
    finally:
        connection.close()


def _one_text() -> bool:
    """One text through the same verbs, without batching. False when none is left."""
    now = timezone.now()
    with transaction.atomic():
        queued = Submission.objects.filter(status=Submission.Status.QUEUED).order_by("lane", "accepted_at")
        text = queued.select_for_update(skip_locked=True, of=("self",)).first()
        if text is None:
            return False
        run = runs.open_run(backend="runpod", model_version=text.model_version, texts=1, now=now)
        moved = Submission.objects.filter(pk=text.pk)
        advance(moved, Submission.Status.SCORING, run=run, dispatched_at=now, attempts=F("attempts") + 1)
    scoring.start(run, dispatch.request_for(run, [text]), backends.get("runpod"), Order(seconds=60))
    run.refresh_from_db()
    collect.collect(run, now=timezone.now())
    return True
