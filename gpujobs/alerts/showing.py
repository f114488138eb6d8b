"""The log of alerts: what fires now, what was raised, what the staff thought of it. Reads only."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from gpujobs.models import Alert, AlertMute, AlertVote, AlertWatch

PAGE = 20
Status = AlertWatch.Status


@dataclass(frozen=True, slots=True)
class Entry:
    """state: firing, recovering or ok (it is over).  useful, noise: votes.  mine: this reader's, if any."""

    alert: Alert
    state: str
    useful: int
    noise: int
    mine: bool | None


@dataclass(frozen=True, slots=True)
class Precision:
    """useful of `judged` alerts: those with more votes on one side than on the other."""

    useful: int
    judged: int
    raised: int


def now_firing(now: datetime | None = None) -> list[Alert]:
    """What was raised and goes on, the latest first: trends that are not over, budgets until they are free again."""
    at = now or timezone.now()
    return list(Alert.objects.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=at)))


def page(user_id: int | None, now: datetime, before: int | None = None) -> tuple[list[Entry], int | None]:
    """The latest first, twenty at a time; and the id to go on from, None at the end."""
    rows = Alert.objects.order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.prefetch_related("votes", "watches")[: PAGE + 1])
    entries = [_entry(alert, user_id, now) for alert in found[:PAGE]]
    return entries, found[PAGE - 1].pk if len(found) > PAGE else None


def precision() -> Precision:
    """Of all alerts ever raised."""
    votes: Counter[int] = Counter()
    for alert, useful in AlertVote.objects.values_list("alert_id", "useful"):
        votes[alert] += 1 if useful else -1
    judged = [count for count in votes.values() if count]
    return Precision(sum(count > 0 for count in judged), len(judged), Alert.objects.count())


def mutes(now: datetime) -> dict[str, AlertMute]:
    """Series that are mute now."""
    last = AlertMute.objects.order_by("series", "-id").distinct("series").select_related("made_by")
    return {mute.series: mute for mute in last if mute.until > now}


def _entry(alert: Alert, user_id: int | None, now: datetime) -> Entry:
    votes = list(alert.votes.all())
    mine = next((vote.useful for vote in votes if vote.user_id == user_id), None)
    useful = sum(vote.useful for vote in votes)
    state: str = Status.OK
    if alert.ended_at is None or alert.ended_at > now:
        watch = next(iter(alert.watches.all()), None)
        state = watch.status if watch else Status.FIRING
    return Entry(alert, state, useful, len(votes) - useful, mine)
