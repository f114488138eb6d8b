"""What a page about costs is asked, read from its address: so that it can be kept, sent on, and followed from a bar."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gpujobs import date_ranges
from gpujobs.date_ranges import CUSTOM, NAMES, THIRTY_DAYS, DateRange, Earlier
from gpujobs.ledger_lines import Choice, Place
from gpujobs.models import CostEntry, Service
from inkcloak.errors import Invalid

LONGEST_DAYS = 100
EARLIEST = date(2020, 1, 1)  # before that there was nothing to spend
LONGEST_NAME = 60
LARGEST_ID = 2**63 - 1
NAMED = ("provider", "gpu_type", "model_version")  # by which lines are chosen: any name, also none
_PLACE = re.compile(r"(?P<at>[0-9T:.+-]{19,40})_(?P<pk>[0-9]{1,19})", re.ASCII)
Given = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    days: DateRange
    now: datetime

    @property
    def end(self) -> datetime:
        """What is asked ends there: now at the latest."""
        return min(self.days.end, self.now)

    @property
    def earlier(self) -> Earlier:
        return date_ranges.earlier(self.days, self.name, self.now)

    def query(self, **more: str) -> str:
        """The same question as the end of an address."""
        asked = {"period": self.name, "zone": self.days.zone}
        if self.name == CUSTOM:
            asked |= {"from": self.days.first.isoformat(), "to": self.days.last.isoformat()}
        return urlencode(asked | more)

    def of_day(self, day: date, **more: str) -> str:
        """The question about one of its days."""
        return urlencode(
            {"period": CUSTOM, "from": day.isoformat(), "to": day.isoformat(), "zone": self.days.zone} | more
        )


def usual(now: datetime) -> Question:
    """What is shown unless somebody asks for something else."""
    zone = settings.BUDGET_ZONE if settings.BUDGET_ZONE in date_ranges.zones() else "UTC"
    return Question(THIRTY_DAYS, date_ranges.named(THIRTY_DAYS, zone, now), now)


def read(given: Given, now: datetime) -> Question:
    """Raises Invalid, in words that name what is wrong."""
    plain = usual(now)
    zone = given.get("zone") or plain.days.zone
    if zone not in date_ranges.zones():
        raise Invalid("bad_zone", _("There is no such time zone. Write it as Europe/Madrid or UTC."))
    name = given.get("period") or plain.name
    if name not in NAMES:
        raise Invalid("bad_period", _("There is no such period. Choose one of the list."))
    days = _custom(given, zone, now) if name == CUSTOM else date_ranges.named(name, zone, now)
    return Question(name, days, now)


def _custom(given: Given, zone: str, now: datetime) -> DateRange:
    first, last = _day(given.get("from", "")), _day(given.get("to", ""))
    if last < first:
        raise Invalid("bad_period", _("The first day is after the last one."))
    if last > date_ranges.today_of(zone, now):
        raise Invalid("bad_period", _("The last day has not come yet there."))
    if first < EARLIEST or (last - first).days >= LONGEST_DAYS:
        message = _("At most %(days)d days at a time, from %(year)d on.")
        raise Invalid("bad_period", message % {"days": LONGEST_DAYS, "year": EARLIEST.year})
    return DateRange(first, last, zone)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text[:LONGEST_NAME])
    except ValueError:
        raise Invalid("bad_date", _("Give the first and the last day as 2026-11-30.")) from None


# --- Lines of the ledger ----------------------------------------------------------------------------------------------


def read_choice(given: Given, question: Question) -> Choice:
    """Which lines. Raises Invalid."""
    names = {name: _name(given[name]) for name in NAMED if name in given}
    return Choice(
        question.days.start,
        question.days.end,
        kind=_one_of(given, "kind", CostEntry.Kind.values),
        service=_one_of(given, "service", Service.values),
        account_id=_account(given),
        **names,
    )


def _one_of(given: Given, name: str, values: list[str]) -> str | None:
    value = given.get(name) or None
    if value is not None and value not in values:
        raise Invalid(f"bad_{name}", _("The ledger has no lines of that sort: it is not in its list."))
    return value


def _name(text: str) -> str:
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise Invalid("bad_name", _("The ledger has no lines of that name: it is too long, or no name."))
    return text


def _account(given: Given) -> uuid.UUID | None:
    if not (text := given.get("account")):
        return None
    try:
        return uuid.UUID(text[:LONGEST_NAME])
    except ValueError:
        raise Invalid("bad_account", _("An account is named by its id, as in the admin.")) from None


def read_place(text: str) -> Place | None:
    """After which line a page begins; "" is the first page. Raises Invalid."""
    if not text:
        return None
    found = _PLACE.fullmatch(text)
    try:
        at = datetime.fromisoformat(found["at"]) if found else None
    except ValueError:
        at = None
    if (
        found is None
        or at is None
        or at.tzinfo is None
        or int(found["pk"]) > LARGEST_ID
        or not EARLIEST.year <= at.year < 3000
    ):
        raise Invalid("bad_place", _("That page does not exist. Begin at the first one."))
    return Place(at, int(found["pk"]))


def written(place: Place) -> str:
    return f"{place.at.astimezone(UTC).isoformat()}_{place.pk}"
