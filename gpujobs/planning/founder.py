"""The founder's table as test vectors: each figure derived by the planner's functions, and what it takes. Pure.

His notes leave out what some figures rest on: how long a pod takes before its work, how often one user checks. Where
his figures leave such a number over, it is fitted, and its row says so; where no assumption of ours gives a figure, the
vector does not hold and says what would be needed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gpujobs import routing
from gpujobs.planning import fluid, question, tuning, ways
from gpujobs.planning.arrivals import HOUR_SECONDS, Demand
from gpujobs.planning.assumptions import Assumptions
from gpujobs.planning.money import cost, milli
from gpujobs.planning.question import Question
from gpujobs.planning.scale import SUSTAINED_NANOUSD, break_even_month
from gpujobs.planning.tuning import Found, Setting
from inkcloak.money import CENT, NANO

TRAINING_MINUTES, BENCHMARK_MINUTES, BENCHMARK_MODELS = 15, 20, 3
ACTIVE_HOUR = 17 * CENT
MONTH_USERS = 1000
AS_SHIPPED = Setting(idle_seconds=5, scaler_seconds=8, workers_max=1)  # RunPod's default idle time
SHORT = replace(AS_SHIPPED, idle_seconds=1)
COLOCATION = tuple(range(50, 101, 5))  # the founder's range, USD a month
STEPS = 40  # of a search by halves


@dataclass(frozen=True, slots=True)
class Vector:
    """One figure. least, most: what the founder's words allow, inclusive, in `unit` ("nanousd" or "months").  derived:
    None where nothing gives it.  figures: what it was derived from, for the sentences in words.py."""

    key: str
    least: int
    most: int
    derived: int | None
    figures: dict[str, Any]
    unit: str = "nanousd"

    @property
    def holds(self) -> bool:
        return self.derived is not None and self.least <= self.derived <= self.most

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*self.__dataclass_fields__, "holds")}


@lru_cache(maxsize=8)
def vectors(book: Assumptions) -> tuple[Vector, ...]:
    return (
        training(book),
        benchmark(book),
        active_hour(book),
        month_flashboot(book),
        month_active_hour(book),
        month_as_listed(book),
        own_hardware(book),
        gpt(book),
        recommended_same(book),
        recommended_full(book),
    )


# --- Pods -------------------------------------------------------------------------------------------------------


def pod_run(minutes: float, models: int, book: Assumptions) -> int:
    """A training pod from order to end: start-up, each model fetched and loaded, the work itself."""
    return _pod_minutes(minutes + _start_up(models, book), book)


def training(book: Assumptions) -> Vector:
    return _pod_vector("training", 15, TRAINING_MINUTES, 1, book)


def benchmark(book: Assumptions) -> Vector:
    return _pod_vector("benchmark", 19, BENCHMARK_MINUTES, BENCHMARK_MODELS, book)


def _pod_vector(key: str, cents: int, minutes: int, models: int, book: Assumptions) -> Vector:
    """Wanted to the cent, half up. start_from, start_to: minutes of start-up that give it, whatever they hold."""
    least, most = cents * CENT - CENT // 2, cents * CENT + CENT // 2 - 1
    price = book.nanousd("price.training_pod")
    figures = {
        "minutes": minutes,
        "models": models,
        "start_up": _start_up(models, book),
        "work_nanousd": _pod_minutes(minutes, book),
        "start_from": round(least * 60 / price - minutes, 1),
        "start_to": round(most * 60 / price - minutes, 1),
        "price_nanousd": price,
    }
    return Vector(key, least, most, pod_run(minutes, models, book), figures)


def _start_up(models: int, book: Assumptions) -> float:
    return book.number("training.fixed") + models * book.number("training.per_model")


def _pod_minutes(minutes: float, book: Assumptions) -> int:
    return cost(book.nanousd("price.training_pod"), milli(minutes), 60 * 1000)


# --- Serving ----------------------------------------------------------------------------------------------------


def active_hour(book: Assumptions) -> Vector:
    """At the flex price: an hour with so many lone checks that workers are billed for just that much of it."""
    flex = book.nanousd("price.serverless_flex")

    def hour(checks: int) -> int:
        lone = Demand(users=checks * 24, checks=1, shape="flat", class_share=0, api_share=0)
        found = fluid.scale_to_zero(lone, tuning.endpoint_limits(AS_SHIPPED, book))
        return cost(flex, milli(found.billed_seconds / 24), 1000 * HOUR_SECONDS)

    checks = _first(lambda number: hour(number) >= ACTIVE_HOUR, 1, 10_000)
    figures = {
        "checks": checks,
        "seconds": ACTIVE_HOUR * HOUR_SECONDS // flex,
        "flex_hour_nanousd": flex,
        "active_hour_nanousd": book.nanousd("price.serverless_active"),
        "pod_hour_nanousd": book.nanousd("price.pod"),
    }
    return Vector("active_hour", ACTIVE_HOUR - CENT // 2, ACTIVE_HOUR + CENT // 2 - 1, hour(checks), figures)


def month_demand(book: Assumptions) -> Demand:
    """The founder's month: 1,000 users, each a text or two, no classes and no programs: his notes name none."""
    return Demand(MONTH_USERS, checks=book.number("founder.checks"), class_share=0, api_share=0)


def month_flashboot(book: Assumptions) -> Vector:
    """At the list price, with FlashBoot's resumes and the shortest idle time."""
    quick = book.with_values({"gpu.cold_start": str(book.number("flashboot.resume"))})
    return _month("month_flashboot", SHORT, quick, "price.serverless_flex")


def month_active_hour(book: Assumptions) -> Vector:
    """At the founder's $0.17 for an hour of a worker, with cold starts of 5 s and RunPod's idle time of 5 s."""
    return _month("month_active_hour", AS_SHIPPED, book, "price.pod")


def month_as_listed(book: Assumptions) -> Vector:
    """At the list price, with cold starts and idle time as they come: what does not give the founder's figure."""
    return _month("month_as_listed", AS_SHIPPED, book, "price.serverless_flex")


def _month(key: str, setting: Setting, book: Assumptions, price: str) -> Vector:
    least, most = 15 * NANO, 25 * NANO
    wanted = month_demand(book)
    found = _served(setting, wanted, book)

    def month(hundredths: int) -> int:
        other = replace(wanted, checks=hundredths / 100)
        return ways.flex_month(tuning.estimate(routing.GPU, setting, other, book), book, price)

    checks_from = _first(lambda number: month(number) >= least, 100, 2000)
    checks_to = _first(lambda number: month(number) > most, 100, 2000) - 1
    figures = {
        "users": wanted.users,
        "checks": wanted.checks,
        "cold_start": book.number("gpu.cold_start"),
        "idle": setting.idle_seconds,
        "price_nanousd": book.nanousd(price),
        "cold_starts": round(found.cold_starts),
        "hours": round(found.billed_milliseconds / found.days * ways.month_days(book) / 1000 / HOUR_SECONDS, 1),
        "checks_from": checks_from / 100 if checks_from <= checks_to else None,
        "checks_to": checks_to / 100 if checks_from <= checks_to else None,
        "flashboot": book.number("flashboot.resume"),
    }
    return Vector(key, least, most, ways.flex_month(found, book, price), figures)


def _served(setting: Setting, wanted: Demand, book: Assumptions) -> Found:
    """Played, unless somebody gives it more checks than can be."""
    if tuning.playable(wanted):
        return tuning.play(routing.GPU, setting, tuning.sample(wanted), book)
    return tuning.estimate(routing.GPU, setting, wanted, book)


# --- Own hardware, API, recommended -----------------------------------------------------------------------------


def own_hardware(book: Assumptions) -> Vector:
    """One used T4 instead of a rented A4000 that is always on, at the cheapest colocation of the founder's range."""
    card = book.nanousd("price.own_gpu") + book.nanousd("price.own_host")
    bill = cost(book.nanousd("price.pod"), 24 * ways.month_days(book))
    months = {usd: break_even_month(card, usd * NANO, bill) for usd in COLOCATION}
    good = [usd for usd, month in months.items() if month in (3, 4)]
    middle = (COLOCATION[0] + COLOCATION[-1]) // 2 * NANO
    saved = SUSTAINED_NANOUSD - middle
    figures = {
        "bill_nanousd": bill,
        "purchase_nanousd": card,
        "colocation_nanousd": COLOCATION[0] * NANO,
        "good_to_usd": max(good, default=None),
        "months": {str(usd): month for usd, month in months.items()},
        "at_500_months": break_even_month(card, middle, SUSTAINED_NANOUSD),
        "at_500_from_nanousd": 2 * saved + 1,  # a purchase between these pays for itself in month 3 or 4 at $500
        "at_500_to_nanousd": 4 * saved,
    }
    return Vector("own_hardware", 3, 4, months[COLOCATION[0]], figures, unit="months")


def gpt(book: Assumptions) -> Vector:
    wanted = month_demand(book)
    figures = {
        "texts": round(wanted.texts * ways.month_days(book)),
        "words": round(question.words_a_text(wanted, book)),
        "input_nanousd": book.nanousd("price.gpt4_input"),
        "output_nanousd": book.nanousd("price.gpt4_output"),
        "cheaper_nanousd": ways.api_month(wanted, book),
    }
    return Vector("gpt", 200 * NANO, 500 * NANO, ways.api_month(wanted, book, "price.gpt4"), figures)


def recommended_same(book: Assumptions) -> Vector:
    """The founder's month under the hybrid policy."""
    return _recommended("recommended_same", month_demand(book), book)


def recommended_full(book: Assumptions) -> Vector:
    """1,000 users as the planner has them by itself: three checks each, classes, programs."""
    return _recommended("recommended_full", question.demand(Question(MONTH_USERS), book), book)


def _recommended(key: str, wanted: Demand, book: Assumptions) -> Vector:
    found = tuning.tune(routing.HYBRID, Question(wanted.users), wanted, book)
    figures = {
        "users": wanted.users,
        "texts": round(wanted.texts),
        "pasted_p95": round(found.pasted_p95, 2),
        "bulk_p95": round(found.bulk_p95, 1),
        "setting": found.setting.to_json(),
    }
    month = ways.flex_month(found, book) + book.nanousd("price.cpu_machine")
    return Vector(key, 0, 5 * NANO, month, figures)


def _first(reached: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest whole number from low to high at which it is reached; high where it never is."""
    for _step in range(STEPS):
        if low >= high:
            break
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return high
