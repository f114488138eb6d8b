"""One hour's turn: findings -> moves of the watches, and the few of them that are worth a message. Pure.

One cause moves many series: a pod that was forgotten is dearer hours of its GPU, of its service and of everything. So a
watch that begins to fire is held against the alerts that were raised: what they explain of its window is taken off, and
only a rest that would have been an alert by itself is one. Otherwise the watch joins what explains most of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gpujobs.alerts import rules, states
from gpujobs.alerts.rules import FORGOTTEN, PRICE, RULES, TELLS_OF_COST, Detector, Finding
from gpujobs.alerts.series import Series

Key = tuple[str, Series]  # rule, series
SAME_AGAIN_HOURS = 24  # what comes back within a day, no bigger than before, is the same thing
JOINS_PERCENT = 50  # of a finding that has no threshold in money: explained by so much, it is nothing new


@dataclass(slots=True)
class Watch:
    """since: the hour of its last move.  raised: it has an alert of its own now."""

    status: str = states.OK
    since: int = 0
    raised: bool = False


@dataclass(slots=True)
class Raised:
    """An alert. began, at, ended: hours; None while it goes on.  an_hour: nano-dollars more than expected.

    finding: what raised it; None of one that was raised in an earlier turn.
    """

    key: Key
    began: int
    at: int
    an_hour: int
    finding: Finding | None = None
    ended: int | None = None


@dataclass(slots=True)
class Turn:
    moves: list[tuple[Key, str]] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    ended: list[Key] = field(default_factory=list)
    reopened: list[Raised] = field(default_factory=list)  # over within the last day, and going on: nobody is told anew


def turn(
    hour: int,
    findings: Iterable[Finding],
    watches: dict[Key, Watch],
    alerts: Iterable[Raised],
    detector: Detector,
    *,
    muted: Callable[[Series], bool] = lambda _series: False,
) -> Turn:
    """Moves `watches` (new ones are added) and tells what moved. alerts: of the last five weeks."""
    found = {(finding.rule, finding.series): finding for finding in findings}
    result, known = Turn(), list(alerts)
    _grow(known, found)
    moving = {key for key, watch in watches.items() if watch.status != states.OK}
    for key in sorted({*found, *moving}, key=_order(found)):
        finding, watch = found.get(key), watches.setdefault(key, Watch())
        to = states.following(key[0], watch.status, watch.since, finding, hour)
        if to is not None:
            if watch.raised and to == states.OK:
                result.ended.append(key)
                watch.raised = False
            watch.status, watch.since = to, hour
            result.moves.append((key, to))
        if finding is None or watch.status != states.FIRING or not finding.above:
            continue
        if not watch.raised and not muted(finding.series):
            again = next((alert for alert in known if _is_back(alert, key, hour)), None)
            if again is not None:
                again.ended, watch.raised = None, True
                result.reopened.append(again)
                continue
            fresh = _raise(hour, finding, known, detector)
            if fresh is not None:
                watch.raised = True
                known.append(fresh)
                result.raised.append(fresh)
    return result


def _grow(known: Iterable[Raised], found: Mapping[Key, Finding]) -> None:
    """What goes on explains as much as it costs by now: a leak grows."""
    for alert in known:
        finding = found.get(alert.key)
        if alert.ended is None and finding is not None and finding.hours:
            alert.an_hour = max(alert.an_hour, finding.excess // finding.hours)


def _order(found: Mapping[Key, Finding]) -> Callable[[Key], tuple[int, int, str]]:
    """The most telling rule first; of one rule the series that strayed most, for its size."""

    def rank(key: Key) -> tuple[int, int, str]:
        finding = found.get(key)
        share = finding.excess * 1000 // max(1, finding.expected) if finding else 0
        return RULES.index(key[0]), -share, str(key[1])

    return rank


def _is_back(alert: Raised, key: Key, hour: int) -> bool:
    return alert.key == key and alert.ended is not None and hour - alert.ended <= SAME_AGAIN_HOURS


def _same_again(alert: Raised, finding: Finding, hour: int) -> bool:
    """Its own series, a moment ago, by another window."""
    return alert.key[1] == finding.series and alert.ended is None and hour - alert.at < SAME_AGAIN_HOURS


def _raise(hour: int, finding: Finding, known: Sequence[Raised], detector: Detector) -> Raised | None:
    """None where what was raised before explains it."""
    if any(_same_again(alert, finding, hour) for alert in known):
        return None
    if finding.rule != rules.FORECAST:
        explained = sum(_explained(alert, finding, hour, detector) for alert in known)
        enter = finding.excess * (100 - JOINS_PERCENT) // 100 if finding.rule in (FORGOTTEN, PRICE) else finding.enter
        if finding.excess - explained < max(1, enter):
            return None
    began = detector.since(finding, hour) if finding.rule != rules.FORECAST else hour
    an_hour = finding.excess // max(1, min(finding.hours, hour - began + 1))
    return Raised((finding.rule, finding.series), began, hour, an_hour, finding)


def _explained(alert: Raised, finding: Finding, hour: int, detector: Detector) -> int:
    """Nano-dollars of the finding's window that this alert told of."""
    series = alert.key[1]
    if alert.key[0] not in TELLS_OF_COST or (
        series != finding.series and (series, finding.series) not in detector.ledger.together
    ):
        return 0
    until = hour + 1
    if alert.ended is not None and alert.key[0] != PRICE:  # a price that stays explains whatever it makes dearer
        until = min(until, alert.ended + 1 + SAME_AGAIN_HOURS)
    overlap = until - max(alert.began, hour - finding.hours + 1)
    return alert.an_hour * max(0, overlap)
