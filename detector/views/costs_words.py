"""Names and sentences of the staff's pages about costs."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from gpujobs import date_ranges
from gpujobs.models import CostEntry, Service

Words = str | Promise
Kind = CostEntry.Kind

PERIODS: dict[str, Words] = {
    date_ranges.TODAY: _("Today"),
    date_ranges.YESTERDAY: _("Yesterday"),
    date_ranges.SEVEN_DAYS: _("Last 7 days"),
    date_ranges.THIRTY_DAYS: _("Last 30 days"),
    date_ranges.MONTH: _("This month"),
    date_ranges.LAST_MONTH: _("Last month"),
    date_ranges.CUSTOM: _("From … to …"),
}

# Also the order in which a bar is stacked, from its foot: what earns, then what is lost beside it.
KINDS: dict[str, Words] = {
    Kind.EXECUTION: _("work on texts"),
    Kind.TRAINING: _("training"),
    Kind.BENCHMARK: _("benchmarks"),
    Kind.COLD_START: _("cold starts"),
    Kind.IDLE: _("idle time"),
    Kind.STORAGE: _("storage"),
    Kind.ADJUSTMENT: _("adjustments"),
}

SERVICES: dict[str, Words] = {
    Service.INFERENCE: _("checks"),
    Service.TRAINING: _("training"),
    Service.BENCHMARK: _("benchmarks"),
}

PLANS: dict[str, Words] = {
    "": _("no account: visitors, idle time, training"),
    "free": _("Free"),
    "internal": _("our own account"),
}

CHANGES: dict[str, Words] = {
    "alias": _("Model"),
    "routing": _("Routing"),
    "price": _("Price"),
    "limit": _("Limit"),
}

SIDES: dict[str, Words] = {
    "kind": _("Kind"),
    "service": _("Service"),
    "provider": _("Provider"),
    "gpu_type": _("GPU"),
    "version": _("Model version"),
}

NO_GPU = _("no GPU")
NO_VERSION = _("no model")
NOBODY = _("nobody's: visitors, idle time, cold starts, training")
GONE = _("a deleted account")

ESTIMATED, RECONCILED = _("estimated"), _("reconciled")

TOP_ACCOUNTS = _("Top accounts")
USERS_BY_DAY = _("Active users")
PER_USER_BY_DAY = _("Spent for each active user")
