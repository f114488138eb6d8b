"""What somebody changed, from the rows that keep it: aliases, routing, prices, limits. And what it did. Read side.

between(start, end)      every change, the latest first
effect(change, …)        what 1,000 tokens on rented machines cost before and after it
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gpujobs import ledger, throughput
from gpujobs.models import AliasMove, AuditEntry, Price, RoutingChange, Service
from inkcloak import money

EFFECT = timedelta(days=7)  # on either side of a change, at most
MOST = 50  # of each sort; what happens more often is no decision
ACTIONS: dict[str, str | Promise] = {
    AuditEntry.Action.BUDGET_MADE: gettext_lazy("Budget made"),
    AuditEntry.Action.BUDGET_CHANGED: gettext_lazy("Budget changed"),
    AuditEntry.Action.BUDGET_OVERRIDDEN: gettext_lazy("Budget set aside for a while"),
    AuditEntry.Action.WORKERS_STOPPED: gettext_lazy("No worker is kept warm"),
    AuditEntry.Action.WORKERS_RESTORED: gettext_lazy("Workers are kept warm again"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """sort: alias, routing, price or limit.  who: an address; "" where nobody is named.  previous, current: model
    versions, of an alias's move."""

    at: datetime
    sort: str
    says: str
    reason: str = ""
    who: str = ""
    previous: str = ""
    current: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """Of one side of a change: nano-dollars of inference, and the tokens that rented machines scored for them."""

    start: datetime
    end: datetime
    nanousd: int
    tokens: int

    @property
    def per_1000(self) -> int | None:
        """Nano-dollars, to the nearest below; None where nothing was scored."""
        return self.nanousd * 1000 // self.tokens if self.tokens else None


@dataclass(frozen=True, slots=True)
class Effect:
    before: Side
    after: Side


def between(start: datetime, end: datetime) -> list[Change]:
    found = [*_aliases(start, end), *_routing(start, end), *_prices(start, end), *_limits(start, end)]
    return sorted(found, key=lambda change: change.at, reverse=True)


def effect(at: datetime, now: datetime) -> Effect:
    """Seven days before, and as many after as there are by now."""
    return Effect(_side(at - EFFECT, at), _side(at, min(at + EFFECT, now)))


def _side(start: datetime, end: datetime) -> Side:
    _texts, tokens = throughput.rented_work(start, end)
    return Side(start, end, ledger.spent(start, end, service=Service.INFERENCE), tokens)


def _aliases(start: datetime, end: datetime) -> Iterator[Change]:
    rows = AliasMove.objects.filter(moved_at__gte=start, moved_at__lt=end).select_related("moved_by")
    for move in rows.order_by("-pk")[:MOST]:
        previous = move.previous_id or ""
        says = _("“%(alias)s” now points at %(current)s (before: %(previous)s).")
        named = {"alias": move.alias, "current": move.current_id, "previous": previous or "–"}
        yield Change(
            move.moved_at, "alias", says % named, move.reason, _who(move.moved_by), previous, str(move.current_id)
        )


def _routing(start: datetime, end: datetime) -> Iterator[Change]:
    rows = RoutingChange.objects.filter(changed_at__gte=start, changed_at__lt=end).select_related("changed_by")
    for change in rows[:MOST]:
        label: str | Promise = RoutingChange.Policy(change.policy).label
        says = _("Scoring policy: %(policy)s.") % {"policy": label}
        yield Change(change.changed_at, "routing", says, change.reason, _who(change.changed_by))


def _prices(start: datetime, end: datetime) -> Iterator[Change]:
    rows = Price.objects.filter(valid_from__gte=start, valid_from__lt=end)
    for price in rows.order_by("-valid_from", "-pk")[:MOST]:
        says = _("%(provider)s asks %(amount)s for %(what)s.")
        what = f"{price.gpu_type} {price.mode}".strip()
        amount = f"{money.shown(price.amount_nanousd)}/{price.unit}"
        yield Change(
            price.valid_from, "price", says % {"provider": price.provider, "amount": amount, "what": what}, price.source
        )


def _limits(start: datetime, end: datetime) -> Iterator[Change]:
    for entry in AuditEntry.objects.filter(at__gte=start, at__lt=end)[:MOST]:
        action = ACTIONS.get(entry.action, entry.get_action_display())
        yield Change(entry.at, "limit", f"{action}: {entry.subject}", entry.reason, entry.actor)


def _who(user: object) -> str:
    return str(getattr(user, "email", "") or "")
