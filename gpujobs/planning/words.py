"""Names and sentences of a plan, for the command and for the page, in the reader's language.

WAYS, ABOUT, SHAPES      names of ways and shapes, and what is to be known of a way
vector_name(), derivation()      the founder's figures
crossing(), break_even()         what the curve says
"""

from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from gpujobs.planning import ways
from gpujobs.planning.founder import Vector
from gpujobs.planning.scale import USERS, BreakEven, Crossing
from gpujobs.planning.ways import Way
from inkcloak import money

Words = str | Promise
NONE = "–"

WAYS: dict[str, Words] = {
    ways.HYBRID: gettext_lazy("CPU first, RunPod serverless for the rest"),
    ways.SERVERLESS: gettext_lazy("RunPod serverless, GPU only, scaled to zero"),
    ways.KEPT_WARM: gettext_lazy("RunPod serverless, GPU only, kept warm"),
    ways.ALWAYS_ON: gettext_lazy("RunPod serverless, always on"),
    ways.POD: gettext_lazy("RunPod pods, always on"),
    ways.OWN: gettext_lazy("Own T4s, colocated"),
    ways.T4_SPOT: gettext_lazy("Google T4 spot, batches only"),
    ways.API: gettext_lazy("GPT-class API, for comparison"),
}

ABOUT: dict[str, Words] = {
    ways.HYBRID: gettext_lazy("The hybrid policy: this site's CPU answers, and a GPU is woken for a lot of work."),
    ways.SERVERLESS: gettext_lazy("The cheapest idle time, however long people wait for cold starts."),
    ways.KEPT_WARM: gettext_lazy("An idle time so long that the wish is kept."),
    ways.ALWAYS_ON: gettext_lazy("Minimum workers above zero, at the price of such workers."),
    ways.POD: gettext_lazy("Enough for the busiest hour, day and night, none to spare."),
    ways.OWN: gettext_lazy("Colocation, and the purchase spread over its life. No failures, no work of yours counted."),
    ways.T4_SPOT: gettext_lazy("Never the primary real-time endpoint: it can be taken away at any moment."),
    ways.API: gettext_lazy("The same texts read by somebody else's model. It is no detector, and theirs to change."),
}

SHAPES: dict[str, Words] = {
    "office": gettext_lazy("office: school and office hours on both sides of the Atlantic"),
    "flat": gettext_lazy("flat: the same in each hour"),
    "evening": gettext_lazy("evening: one time zone, from 18:00 to midnight"),
    "burst": gettext_lazy("burst: half of the people within two hours"),
}

VECTORS: dict[str, Words] = {
    "training": gettext_lazy("Training on a rented pod, 15 minutes"),
    "benchmark": gettext_lazy("Benchmark on the same pod, 20 minutes, 3 models"),
    "active_hour": gettext_lazy("An active hour of serving"),
    "month_flashboot": gettext_lazy("Month at 1,000 daily users, GPU only, FlashBoot"),
    "month_active_hour": gettext_lazy("The same month at $0.17 for a worker's hour"),
    "month_as_listed": gettext_lazy("The same month at the list price, without FlashBoot"),
    "own_hardware": gettext_lazy("Own T4: first month in which it has paid"),
    "gpt": gettext_lazy("The same month through a GPT-4 API"),
    "recommended_same": gettext_lazy("The same month, hybrid policy"),
    "recommended_full": gettext_lazy("1,000 daily users with classes and programs, hybrid policy"),
}


# --- Numbers --------------------------------------------------------------------------------------------------------


def number(value: float, places: int = 0) -> str:
    return number_format(round(value, places), places, force_grouping=True)


def short(value: float) -> str:
    """With as many decimals as it has, two at most."""
    rounded = round(float(value), 2)
    return number(rounded, next(places for places in (0, 1, 2) if round(rounded, places) == rounded))


def dollars(nanousd: int) -> str:
    """With cents below a thousand dollars."""
    if nanousd and nanousd < money.CENT:
        return _("under %(amount)s") % {"amount": money.shown(money.CENT)}
    if nanousd < 1000 * money.NANO:
        return f"${number((nanousd + money.CENT // 2) // money.CENT / 100, 2)}"
    return f"${number(nanousd / money.NANO)}"


def seconds(value: float) -> str:
    """0.2 -> "0.2 s", 21911 -> "6.1 h"."""
    if value >= 3600:
        return _("%(n)s h") % {"n": number(value / 3600, 1)}
    return _("%(n)s s") % {"n": number(value, 1 if value >= 10 else 2)}


def months(value: int | None) -> str:
    if value is None:
        return NONE
    return _("month %(n)s") % {"n": value}


def amount(vector: Vector, value: int | None) -> str:
    """In the vector's unit."""
    if value is None:
        return NONE
    return months(value) if vector.unit == "months" else dollars(value)


def wanted(vector: Vector) -> str:
    """What the founder's notes say."""
    if vector.unit == "months":
        return _("month %(least)s–%(most)s") % {"least": vector.least, "most": vector.most}
    if not vector.least:
        return _("at most %(most)s") % {"most": dollars(vector.most)}
    if vector.most - vector.least < money.CENT:
        return dollars((vector.most + vector.least) // 2)
    return f"{dollars(vector.least)}–{dollars(vector.most)}"


# --- Sentences ------------------------------------------------------------------------------------------------------


def derivation(vector: Vector) -> str:
    """How the figure comes about, and what is needed for it."""
    return _SENTENCES[vector.key](vector.figures)


def _pod(figures: dict[str, Any]) -> str:
    return _(
        "%(minutes)s minutes at %(price)s an hour are %(work)s. The founder's figure needs %(low)s to %(high)s minutes "
        "of start-up; the planner has %(start)s, fitted so that training and benchmark both come out."
    ) % {
        "minutes": figures["minutes"],
        "price": dollars(figures["price_nanousd"]),
        "work": money.shown(figures["work_nanousd"]),
        "low": short(figures["start_from"]),
        "high": short(figures["start_to"]),
        "start": short(figures["start_up"]),
    }


def _active_hour(figures: dict[str, Any]) -> str:
    return _(
        "No list price: a serverless worker's hour is %(flex)s, or %(active)s always on. It is %(checks)s lone checks "
        "in an hour, for which workers are billed %(seconds)s seconds; or a whole hour of an A4000 pod at %(pod)s, as "
        "the planner has it."
    ) % {
        "flex": dollars(figures["flex_hour_nanousd"]),
        "active": dollars(figures["active_hour_nanousd"]),
        "checks": number(figures["checks"]),
        "seconds": number(figures["seconds"]),
        "pod": dollars(figures["pod_hour_nanousd"]),
    }


def _month(figures: dict[str, Any]) -> str:
    said = _(
        "%(checks)s checks a user a day, all pasted; start %(start)s s, idle %(idle)s s: %(cold)s starts a day and "
        "%(hours)s worker hours a month at %(price)s."
    ) % {
        "checks": short(figures["checks"]),
        "start": short(figures["cold_start"]),
        "idle": figures["idle"],
        "cold": number(figures["cold_starts"]),
        "hours": short(figures["hours"]),
        "price": dollars(figures["price_nanousd"]),
    }
    if figures["checks_from"] is None:
        more = _("No number of checks gives $15 to $25; it takes FlashBoot resumes of about %(resume)s s.") % {
            "resume": short(figures["flashboot"])
        }
    else:
        more = _("%(low)s to %(high)s checks a user give $15 to $25.") % {
            "low": short(figures["checks_from"]),
            "high": short(figures["checks_to"]),
        }
    return f"{said} {more}"


def _own(figures: dict[str, Any]) -> str:
    return _(
        "A used card for %(card)s and %(colocation)s a month instead of a rented A4000 that is always on, %(bill)s a "
        "month; month 3 or 4 with colocation up to $%(most)s. Instead of a bill of $500 it has paid in month %(soon)s; "
        "month 3 or 4 there means a purchase of %(low)s to %(high)s."
    ) % {
        "card": dollars(figures["purchase_nanousd"]),
        "colocation": dollars(figures["colocation_nanousd"]),
        "bill": dollars(figures["bill_nanousd"]),
        "most": figures["good_to_usd"] or NONE,
        "soon": figures["at_500_months"] or NONE,
        "low": dollars(figures["at_500_from_nanousd"]),
        "high": dollars(figures["at_500_to_nanousd"]),
    }


def _gpt(figures: dict[str, Any]) -> str:
    return _(
        "%(texts)s texts of %(words)s words at GPT-4 Turbo's price of 2023, %(input)s and %(output)s a million tokens; "
        "%(cheaper)s at GPT-4o's."
    ) % {
        "texts": number(figures["texts"]),
        "words": number(figures["words"]),
        "input": dollars(figures["input_nanousd"]),
        "output": dollars(figures["output_nanousd"]),
        "cheaper": dollars(figures["cheaper_nanousd"]),
    }


def _recommended(figures: dict[str, Any]) -> str:
    return _(
        "%(texts)s texts a day, with the settings that the planner recommends: pasted texts take %(pasted)s (p95), "
        "bulk %(bulk)s."
    ) % {
        "texts": number(figures["texts"]),
        "pasted": seconds(figures["pasted_p95"]),
        "bulk": seconds(figures["bulk_p95"]),
    }


_SENTENCES = {
    "training": _pod,
    "benchmark": _pod,
    "active_hour": _active_hour,
    "month_flashboot": _month,
    "month_active_hour": _month,
    "month_as_listed": _month,
    "own_hardware": _own,
    "gpt": _gpt,
    "recommended_same": _recommended,
    "recommended_full": _recommended,
}


def crossing(found: Crossing) -> str:
    names = {"cheaper": WAYS.get(found.cheaper, ""), "dearer": WAYS[found.dearer]}
    if not found.cheaper:
        bill = dollars(found.month_nanousd or 0)
        if found.users is None:
            return _("“%(dearer)s” passes %(bill)s a month nowhere on the curve.") % {**names, "bill": bill}
        return _("“%(dearer)s” passes %(bill)s a month at %(users)s daily users.") % {
            **names,
            "bill": bill,
            "users": number(found.users),
        }
    if found.users is None:
        return _("“%(cheaper)s” is nowhere cheaper for good than “%(dearer)s”.") % names
    if found.users == USERS[0]:
        return _("“%(cheaper)s” is cheaper than “%(dearer)s” everywhere on the curve.") % names
    return _("From %(users)s daily users on “%(cheaper)s” is cheaper than “%(dearer)s”.") % {
        **names,
        "users": number(found.users),
    }


def break_even(found: BreakEven) -> str:
    """Own hardware against one bill."""
    values = {
        "way": WAYS[found.instead_of],
        "users": number(found.users),
        "bill": dollars(found.bill_nanousd),
        "purchase": dollars(found.purchase_nanousd),
        "colocation": dollars(found.colocation_nanousd),
        "month": found.months,
    }
    cards = ngettext("%(n)s T4", "%(n)s T4s", found.gpus) % {"n": number(found.gpus)}
    if found.months is None:
        return (
            _(
                "At %(users)s daily users, instead of %(bill)s a month (%(way)s): never, since colocation alone is "
                "%(colocation)s."
            )
            % values
        )
    return _(
        "At %(users)s daily users, instead of %(bill)s a month (%(way)s): %(cards)s for %(purchase)s and "
        "%(colocation)s a month have paid in month %(month)s."
    ) % {**values, "cards": cards}


def credit(paid: int) -> str:
    return ngettext(
        "Google's starting credit pays for %(n)s month of T4 spot.",
        "Google's starting credit pays for %(n)s months of T4 spot.",
        paid,
    ) % {"n": number(paid)}


def waits(way: Way) -> tuple[str, str]:
    """p95 of pasted texts and of bulk."""
    return seconds(way.pasted_p95), seconds(way.bulk_p95) if way.bulk_p95 else NONE
