"""Every price and every guess of the planner: a named row with its source and when that held. Pure.

STANDARD        the rows as they ship
with_values()   some of them replaced (`plan --set NAME=VALUE`, the page's box); each says so where it is printed
nanousd()       a price as an integer, for one unit of the row; one that is not known raises UnknownPrice: nothing is
                ever counted as free because nobody knows what it costs

Money is integer nano-dollars (1 USD = 1_000_000_000); a price is written in dollars, with nine decimals at most.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from gpujobs.planning import arrivals, endpoint
from inkcloak.money import NANO

UNKNOWN = "unknown"
OVERRIDDEN = "given with this plan"
FOUNDER = "the founder's own notes, undated"
RUNPOD_DOCS = "RunPod's documentation, serverless price list"
GUESS = "our guess: nobody has measured it"
NOTED = "2026-11"  # when the notes were read
WHOLE = ("days", "months", "GPUs")  # units of rows that are counted
SMALLEST = "0.000000001"  # a price that may be nothing says so with a 0 of its own
SHOWN = 60  # characters of what was given, in a message
LARGEST = Decimal(10) ** 9


class PlanError(ValueError):
    """What is asked for cannot be planned. `code` is stable; the message names the limits."""

    code = "bad_question"


class UnknownPrice(PlanError):
    """A price that the plan needs and nobody has given."""

    code = "price_unknown"


@dataclass(frozen=True, slots=True)
class Assumption:
    """value: in `unit`; None = not known.  least, most: what may be given instead."""

    name: str
    value: Decimal | None
    unit: str
    what: str
    source: str
    as_of: str
    least: Decimal = Decimal(0)
    most: Decimal = LARGEST

    @property
    def is_price(self) -> bool:
        return self.unit.startswith("USD")

    def to_json(self) -> dict[str, Any]:
        """Numbers as text, exactly as they are calculated with."""
        fields = asdict(self) | {"value": None if self.value is None else plain(self.value)}
        return {name: value for name, value in fields.items() if name not in ("least", "most")}


class Assumptions(Mapping[str, Assumption]):
    """Rows by name, in their order."""

    def __init__(self, rows: Iterable[Assumption]) -> None:
        self._rows = {row.name: row for row in rows}

    def __getitem__(self, name: str) -> Assumption:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __hash__(self) -> int:
        return hash(tuple(self._rows.values()))

    def number(self, name: str) -> float:
        """A figure that is no price."""
        value = self._rows[name].value
        if value is None:
            raise PlanError(_("%(name)s has no value: give one with %(name)s=NUMBER") % {"name": name})
        return float(value)

    def nanousd(self, name: str) -> int:
        """A price, for one unit of its row. Raises UnknownPrice."""
        row = self._rows[name]
        if row.value is None:
            raise UnknownPrice(
                _("The price %(name)s (%(what)s) is unknown: give it with %(name)s=DOLLARS")
                % {"name": name, "what": row.what}
            )
        return int(row.value * NANO)

    def with_rows(self, rows: Iterable[Assumption]) -> "Assumptions":
        """Rows in the place of those with the same names."""
        return Assumptions((self._rows | {row.name: row for row in rows}).values())

    def require_prices(self) -> None:
        """Raises UnknownPrice if any is not known: a comparison that leaves one out misleads."""
        for row in self._rows.values():
            if row.is_price:
                self.nanousd(row.name)

    def with_values(self, values: Mapping[str, str], source: str = OVERRIDDEN) -> "Assumptions":
        """values: row -> number as text, or `unknown`. Raises PlanError for another name, no number, or one outside."""
        return self.with_rows([_replaced(self._rows.get(name), name, value, source) for name, value in values.items()])

    def to_json(self) -> list[dict[str, Any]]:
        return [row.to_json() for row in self._rows.values()]


def assignments(lines: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE -> {name: value}. Raises PlanError."""
    found = {}
    for line in lines:
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals and value):
            raise PlanError(
                _("An assumption is written NAME=VALUE, not “%(given)s”.") % {"given": line.strip()[:SHOWN]}
            )
        found[name] = value
    return found


def plain(value: Decimal) -> str:
    """Without exponent, without needless zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _replaced(row: Assumption | None, name: str, text: str, source: str) -> Assumption:
    if row is None:
        names = ", ".join(STANDARD)
        raise PlanError(
            _("There is no assumption “%(given)s”. The names: %(names)s") % {"given": name[:SHOWN], "names": names}
        )
    if text == UNKNOWN:
        return replace(row, value=None, source=source, as_of="")
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not row.least <= value <= row.most:
        raise PlanError(
            _("%(what)s: a number from %(low)s to %(high)s, not “%(given)s”.")
            % {"what": name, "low": plain(row.least), "high": plain(row.most), "given": text[:SHOWN]}
        )
    if row.unit in WHOLE and value != int(value):
        raise PlanError(_("%(what)s: a whole number, not “%(given)s”.") % {"what": name, "given": text[:SHOWN]})
    if row.is_price and value * NANO != int(value * NANO):
        raise PlanError(_("%(what)s: nine decimals at most, not “%(given)s”.") % {"what": name, "given": text[:SHOWN]})
    return replace(row, value=value, source=source, as_of="")


def _row(
    name: str, value: str | float | None, unit: str, what: str, source: str, as_of: str, **ends: Any
) -> Assumption:
    number = None if value is None else Decimal(str(value))
    return Assumption(name, number, unit, what, source, as_of, **{end: Decimal(str(of)) for end, of in ends.items()})


_PRICES = (
    ("price.serverless_flex", "0.576", "USD/h", "serverless worker, 16 GB (A4000), flex (0.00016 a second)",
     RUNPOD_DOCS, "2026-08"),
    ("price.serverless_active", "0.396", "USD/h", "serverless worker, 16 GB (A4000), always on (0.00011 a second)",
     f"{RUNPOD_DOCS}; since mid-2026 through its sales", "2026-06"),
    ("price.pod", "0.17", "USD/h", "A4000 pod, RunPod's community cloud (secure cloud: 0.25)",
     f"{FOUNDER}: $0.17 an active hour", NOTED),
    ("price.training_pod", "0.22", "USD/h", "RTX 3090 pod, RunPod's community cloud (seen from 0.16)", FOUNDER, NOTED),
    ("price.t4_spot", "0.11", "USD/h", "T4 spot at Google Cloud (0.31 was seen too; may change daily)", FOUNDER, NOTED),
    ("price.own_gpu", "200", "USD", "a used T4", FOUNDER, NOTED),
    ("price.own_host", "0", "USD", "the machine that holds own GPUs",
     "the founder's notes name none: he has one, or the colocation does", NOTED),
    ("price.colocation", "75", "USD/month", "one colocated machine", f"{FOUNDER}: 50 to 100, the middle", NOTED),
    ("price.cpu_machine", "0", "USD/month", "the CPU of the hybrid policy: the site's own machine", "paid anyway",
     NOTED),
    ("price.api_input", "2.5", "USD/million tokens", "GPT-4o, input", "OpenAI's price list", "2024-10"),
    ("price.api_output", "10", "USD/million tokens", "GPT-4o, output", "OpenAI's price list", "2024-10"),
    ("price.gpt4_input", "10", "USD/million tokens", "GPT-4 Turbo, input: the founder's comparison",
     "OpenAI's price list", "2023-11"),
    ("price.gpt4_output", "30", "USD/million tokens", "GPT-4 Turbo, output: the founder's comparison",
     "OpenAI's price list", "2023-11"),
)  # fmt: skip

_NUMBERS = (
    _row("month.days", 30, "days", "a month", "convention", NOTED, least=1, most=31),
    _row("gpu.cold_start", endpoint.COLD_START_SECONDS, "s", "container start to ready, model preloaded", FOUNDER,
         NOTED, most=600),
    _row("gpu.alone", endpoint.ALONE_SECONDS, "s", "a forward pass with one window, A4000", FOUNDER, NOTED,
         least="0.001", most=60),
    _row("gpu.together", endpoint.TOGETHER_SECONDS, "s", "a forward pass with eight windows, A4000", FOUNDER, NOTED,
         least="0.001", most=60),
    _row("cpu.characters_per_second", 15_000, "characters/s", "this site's CPU engine", "make bench-engine", NOTED,
         least=1),
    _row("cpu.busy", "0.8", "share", "of an hour that the CPU may be busy before it leaves the hour to a GPU", GUESS,
         NOTED, least="0.1", most="0.99"),
    _row("t4.speed", "0.5", "share", "of an A4000's speed; memory bandwidth is 320 to 448 GB/s, at half the power",
         GUESS, NOTED, least="0.01", most=10),
    _row("t4.start", 300, "s", "a spot machine from order to ready", GUESS, NOTED, most=86_400),
    _row("t4.batches", 4, "a day", "times that a spot machine is started for what waits", GUESS, NOTED, least=1,
         most=1440),
    _row("t4.redone", "0.1", "share", "of the work done twice because the machine was taken away", GUESS, NOTED,
         most=10),
    _row("t4.credit", 300, "USD", "Google Cloud's starting credit", FOUNDER, NOTED),
    _row("own.gpus_per_host", 4, "GPUs", "in one colocated machine", GUESS, NOTED, least=1, most=100),
    _row("own.life", 36, "months", "over which own hardware is paid off", GUESS, NOTED, least=1, most=240),
    _row("bulk.class_share", arrivals.CLASS_SHARE, "share", "of daily users who upload a class of 20 to 35 texts",
         GUESS, NOTED, most="0.5"),
    _row("bulk.api_share", arrivals.API_SHARE, "share", "of daily users whose program sends a job of 100 to 1,000",
         GUESS, NOTED, most="0.5"),
    _row("people.between", arrivals.BETWEEN_SECONDS, "s", "median time between two checks of one person", GUESS, NOTED,
         least=1, most=86_400),
    _row("text.characters_per_word", 6, "characters", "with the space behind it", "English averages 4.7 letters a word",
         NOTED, least=1, most=100),
    _row("api.tokens_per_word", "1.333", "tokens", "of a GPT model", "OpenAI: a token is about 0.75 words", "2024-10",
         least="0.1", most=100),
    _row("api.prompt", 200, "tokens", "instruction before each text", GUESS, NOTED),
    _row("api.answer", 50, "tokens", "verdict and reason", GUESS, NOTED),
    _row("api.seconds", 3, "s", "p95 of one answer", GUESS, NOTED),
    _row("training.fixed", 23, "minutes", "of a training pod before the work: image, packages, texts",
         "fitted: the founder's $0.15 and $0.19 at $0.22/h leave this over", NOTED, most=1440),
    _row("training.per_model", 3, "minutes", "of a training pod to fetch and load each model",
         "fitted: the founder's $0.15 and $0.19 at $0.22/h leave this over", NOTED, most=1440),
    _row("founder.checks", "1.5", "a day", "checks of one user in the founder's month, all pasted",
         "fitted: his notes name none; the plan prints which give $15 to 25", NOTED, least=1, most=20),
    _row("flashboot.resume", "1.5", "s", "a worker resumed by FlashBoot (1.1 to 1.8 seen, not promised)",
         "measured on the live service by others, 5.7 GB image", "2026-09", most=600),
)  # fmt: skip

STANDARD = Assumptions((*(_row(*price, least=0 if price[1] == "0" else SMALLEST) for price in _PRICES), *_NUMBERS))
