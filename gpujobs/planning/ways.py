"""Each way to serve a day's texts, priced by the month. Pure.

    hybrid       this site's CPU, and RunPod serverless for what it would need long for
    serverless   RunPod serverless, GPU only, scaled to zero as cheaply as can be, whatever the wait
    kept_warm    the same with idle seconds that keep the wish
    always_on    RunPod serverless with workers that never stop
    pod          RunPod pods, always on, enough for the busiest hour
    own          used T4s in colocated machines
    t4_spot      Google's T4 spot, for what can wait for hours: never the primary real-time endpoint
    api          a GPT-class API does the same reading: the comparison

A price that isn't known raises UnknownPrice: no way is ever cheap because nobody knows what it costs.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from gpujobs import routing
from gpujobs.planning import fluid, hours, question, tuning
from gpujobs.planning.arrivals import DAY_SECONDS, HOUR_SECONDS, Demand
from gpujobs.planning.assumptions import Assumptions
from gpujobs.planning.endpoint import PASS_TEXTS
from gpujobs.planning.money import cost, milli
from gpujobs.planning.question import Question
from gpujobs.planning.tuning import Found, Setting
from gpujobs.pricing import HOUR_MS

HYBRID, SERVERLESS, KEPT_WARM, ALWAYS_ON = "hybrid", "serverless", "kept_warm", "always_on"
POD, OWN, T4_SPOT, API = "pod", "own", "t4_spot", "api"
WAYS = (HYBRID, SERVERLESS, KEPT_WARM, ALWAYS_ON, POD, OWN, T4_SPOT, API)
MILLION = 1_000_000

Role = Literal["primary", "batch", "comparison"]


@dataclass(frozen=True, slots=True)
class Way:
    """month_nanousd: of a month as `month.days` has it.  once_nanousd: paid before the first month, not part of it but
    by its share of `own.life`.  machines: at once, at most.  Waits: p95 in seconds.  role: "batch" is never the primary
    real-time endpoint; "comparison" is no detector of ours.  played: by simulation."""

    key: str
    month_nanousd: int
    pasted_p95: float
    bulk_p95: float
    machines: int
    within: bool
    role: Role = "primary"
    played: bool = False
    setting: Setting | None = None
    cold_starts: float | None = None
    billed_hours: float | None = None
    once_nanousd: int = 0

    def to_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["setting"] = self.setting.to_json() if self.setting else None
        for name in ("pasted_p95", "bulk_p95", "cold_starts", "billed_hours"):
            fields[name] = None if fields[name] is None else round(fields[name], 2)
        return fields


def every(asked: Question, book: Assumptions, *, quick: bool = False) -> tuple[Way, ...]:
    """All of them, in the order of WAYS. quick: by fluid alone, with few settings tried."""
    wanted = question.demand(asked, book)
    return (
        hybrid(asked, wanted, book, quick=quick),
        serverless(asked, wanted, book, quick=quick),
        kept_warm(asked, wanted, book, quick=quick),
        always_on(asked, wanted, book),
        pod(asked, wanted, book),
        own(asked, wanted, book),
        t4_spot(wanted, book),
        api(asked, wanted, book),
    )


def month_days(book: Assumptions) -> int:
    return int(book.number("month.days"))


# --- Serverless -----------------------------------------------------------------------------------------------------


def serverless(asked: Question, wanted: Demand, book: Assumptions, *, quick: bool = False) -> Way:
    patient = replace(asked, p95=question.P95[1], bulk_p95=question.BULK_P95[1])
    found = tuning.tune(routing.GPU, patient, wanted, book, quick=quick)
    return _tuned(SERVERLESS, found, flex_month(found, book), asked, book)


def kept_warm(asked: Question, wanted: Demand, book: Assumptions, *, quick: bool = False) -> Way:
    found = tuning.tune(routing.GPU, asked, wanted, book, quick=quick)
    return _tuned(KEPT_WARM, found, flex_month(found, book), asked, book)


def hybrid(asked: Question, wanted: Demand, book: Assumptions, *, quick: bool = False) -> Way:
    found = tuning.tune(routing.HYBRID, asked, wanted, book, quick=quick)
    return _tuned(HYBRID, found, flex_month(found, book) + book.nanousd("price.cpu_machine"), asked, book)


def flex_month(found: Found, book: Assumptions, price: str = "price.serverless_flex") -> int:
    """Worker time at a price for an hour. Rounded up once, at the end."""
    return cost(book.nanousd(price), found.billed_milliseconds * month_days(book), HOUR_MS * found.days)


def _tuned(key: str, found: Found, month: int, asked: Question, book: Assumptions) -> Way:
    return Way(
        key,
        month,
        found.pasted_p95,
        found.bulk_p95,
        found.peak,
        found.keeps(asked),
        played=found.played,
        setting=found.setting,
        cold_starts=found.cold_starts,
        billed_hours=found.billed_milliseconds / found.days * month_days(book) / 1000 / HOUR_SECONDS,
    )


def always_on(asked: Question, wanted: Demand, book: Assumptions) -> Way:
    """As many that never stop as are cheapest; busy hours get flex workers besides."""
    limits = tuning.endpoint_limits(Setting(5, tuning.DELAYS[1], MILLION), book)
    most = fluid.most_needed(wanted, limits.together_seconds)
    steps = {1, most, *(round(most * share / 8) for share in range(1, 8))} - {0}
    tried = [(active, fluid.always_on(wanted, limits, active)) for active in sorted(steps)]
    priced = [(_always_on_month(active, found, book), active, found) for active, found in tried]
    month, active, found = min(priced, key=lambda each: each[0])
    most = math.ceil(found.peak)
    return Way(
        ALWAYS_ON,
        month,
        found.pasted_p95,
        found.bulk_p95,
        most,
        found.pasted_p95 <= asked.p95 and found.bulk_p95 <= asked.bulk_p95,
        setting=Setting(5, tuning.DELAYS[1], max(most, active), workers_min=active),
        cold_starts=0.0,
        billed_hours=found.billed_seconds * month_days(book) / HOUR_SECONDS,
    )


def _always_on_month(active: int, found: fluid.Fluid, book: Assumptions) -> int:
    days = month_days(book)
    steady = cost(book.nanousd("price.serverless_active"), active * 24 * days)
    above = sum(max(0.0, workers - active) for workers in found.workers) * HOUR_SECONDS
    return steady + cost(book.nanousd("price.serverless_flex"), milli(above) * days, HOUR_MS)


# --- Machines -------------------------------------------------------------------------------------------------------


def pod(asked: Question, wanted: Demand, book: Assumptions) -> Way:
    """Nothing scales them: enough for the busiest hour, all month, none to spare."""
    limits = question.limits(book)
    machines = fluid.most_needed(wanted, limits.together_seconds)
    month = machines * cost(book.nanousd("price.pod"), 24 * month_days(book))
    return _machines(POD, month, machines, asked, wanted, book)


def own(asked: Question, wanted: Demand, book: Assumptions) -> Way:
    """Month: the colocation, and the purchase spread over its life."""
    gpus = own_gpus(wanted, book)
    once = purchase(gpus, book)
    month = colocation(gpus, book) + cost(once, 1, int(book.number("own.life")))
    way = _machines(OWN, month, gpus, asked, wanted, book, book.number("t4.speed"))
    return replace(way, once_nanousd=once)


def _machines(
    key: str, month: int, machines: int, asked: Question, wanted: Demand, book: Assumptions, speed: float = 1.0
) -> Way:
    slow = question.limits(book)
    slow = replace(slow, alone_seconds=slow.alone_seconds / speed, together_seconds=slow.together_seconds / speed)
    found = fluid.always_on(wanted, slow, machines)
    within = found.pasted_p95 <= asked.p95 and found.bulk_p95 <= asked.bulk_p95
    return Way(key, month, found.pasted_p95, found.bulk_p95, machines, within)


def own_gpus(wanted: Demand, book: Assumptions) -> int:
    return fluid.most_needed(wanted, book.number("gpu.together"), book.number("t4.speed"))


def hosts(gpus: int, book: Assumptions) -> int:
    return math.ceil(gpus / int(book.number("own.gpus_per_host")))


def purchase(gpus: int, book: Assumptions) -> int:
    return gpus * book.nanousd("price.own_gpu") + hosts(gpus, book) * book.nanousd("price.own_host")


def colocation(gpus: int, book: Assumptions) -> int:
    """A month of it."""
    return hosts(gpus, book) * book.nanousd("price.colocation")


def t4_spot(wanted: Demand, book: Assumptions) -> Way:
    """Everything read in a few batches a day, on machines that may be taken away: nothing for people who wait."""
    limits = question.limits(book)
    windows = sum(hours.windows_a_second(hour, wanted) for hour in hours.hours(wanted)) * HOUR_SECONDS
    work = windows * limits.together_seconds / PASS_TEXTS / book.number("t4.speed") * (1 + book.number("t4.redone"))
    batches = book.number("t4.batches")
    every_seconds = DAY_SECONDS / batches
    machines = max(1, math.ceil(work / batches / every_seconds))
    seconds = work + batches * machines * book.number("t4.start")
    month = cost(book.nanousd("price.t4_spot"), milli(seconds) * month_days(book), HOUR_MS)
    wait = every_seconds + book.number("t4.start") + work / batches / machines
    billed = seconds * month_days(book) / HOUR_SECONDS
    return Way(T4_SPOT, month, wait, wait, machines, within=False, role="batch", billed_hours=billed)


def credit_months(found: tuple[Way, ...], book: Assumptions) -> int:
    """Whole months of T4 spot that the starting credit pays."""
    month = next(way.month_nanousd for way in found if way.key == T4_SPOT)
    return book.nanousd("t4.credit") // max(1, month)


# --- The comparison -------------------------------------------------------------------------------------------------


def api(asked: Question, wanted: Demand, book: Assumptions, prices: str = "price.api") -> Way:
    """prices: the beginning of the names of two rows."""
    month = api_month(wanted, book, prices)
    seconds = book.number("api.seconds")
    within = seconds <= min(asked.p95, asked.bulk_p95)
    return Way(API, month, seconds, seconds, 0, within, role="comparison")


def api_month(wanted: Demand, book: Assumptions, prices: str = "price.api") -> int:
    """Instruction and text in, a verdict out, for every text."""
    words = question.words_a_text(wanted, book)
    tokens_in = milli(book.number("api.prompt") + words * book.number("api.tokens_per_word"))
    tokens_out = milli(book.number("api.answer"))
    each = tokens_in * book.nanousd(f"{prices}_input") + tokens_out * book.nanousd(f"{prices}_output")
    return cost(each, milli(wanted.texts * month_days(book)), MILLION * MILLION)
