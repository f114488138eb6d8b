"""Numbers, times and names as the pages show them.

Numbers follow the page's language. A share that is not whole is never shown as 0 % or 100 %.
"""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.conf import settings
from django.template import Context
from django.utils import timezone
from django.utils.formats import date_format, get_format, number_format
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext

from detector.models import Verdict
from detector.views import story
from detector.views.about import THEME_COOKIE, THEMES
from detector.views.accuracy_names import GENRES

register = template.Library()

MINUTE_SECONDS = 60
HOUR_SECONDS = 3600
DAY_SECONDS = 86_400


@register.simple_tag(takes_context=True)
def theme(context: Context) -> str:
    """The colours that were chosen: auto, light or dark."""
    request = context.get("request")
    chosen = request.COOKIES.get(THEME_COOKIE, "") if request else ""
    return chosen if chosen in THEMES else "auto"


@register.simple_tag(takes_context=True)
def here(context: Context) -> str:
    """The page's own address for a form's `next`; of an address that only takes posts, the front page."""
    request = context.get("request")
    if request is None or request.method not in ("GET", "HEAD"):
        return "/"
    return str(request.get_full_path())


@register.simple_tag
def free_words() -> int:
    """Words a month of an account that pays nothing."""
    return int(settings.FREE_WORDS_PER_MONTH)


@register.simple_tag
def group_separator() -> str:
    """What stands between thousands in the page's language, so that scripts write numbers like the server."""
    return str(get_format("THOUSAND_SEPARATOR"))


@register.filter
def share(value: float | None) -> str:
    """0.923 -> "92 %" as the language writes it; "<1 %" and ">99 %" rather than a certainty that isn't."""
    if value is None:
        return "–"
    if 0 < value < 0.01:
        return f"<{_percent(1, 0)}"
    if 0.99 < value < 1:
        return f">{_percent(99, 0)}"
    return _percent(value * 100, 0)


@register.filter
def exact_share(value: float) -> str:
    """With one decimal, for measured rates: 0.0162 -> "1.6 %"."""
    return _percent(value * 100, 1 if value else 0)


@register.filter
def expected_number(value: float) -> str:
    """How many false flags to expect: 0.28 with two decimals while it is that small, then one."""
    return number_format(round(value, 2), 2 if value < 1 else 1)


@register.filter
def rate(value: float | None) -> str:
    """A measured rate as exactly as limits need it: two decimals near either end, else one; "–" where none is."""
    if value is None:
        return "–"
    if 0 < value < 0.0001:
        return f"<{_percent(0.01, 2)}"
    if 0.9999 < value < 1:
        return f">{_percent(99.99, 2)}"
    near_an_end = value < 0.1 or value > 0.99
    return _percent(value * 100, 0 if value in (0, 1) else 2 if near_an_end else 1)


@register.filter
def cap(value: object) -> str:
    """A limit as short as it can be said: 0.005 -> "0.5 %", 0.01 -> "1 %"."""
    percent = float(str(value)) * 100
    return _percent(percent, 0 if round(percent, 6) == round(percent) else 1)


@register.filter
def svg_percent(value: float) -> str:
    """A width for a drawing: always with a decimal point, whatever the language."""
    return f"{value * 100:.2f}"


@register.filter
def four(value: float | None) -> str:
    """Four decimals, as every way in shows them."""
    return "–" if value is None else number_format(value, 4)


@register.filter
def whole(value: int) -> str:
    """12345 -> "12,345" or "12.345"."""
    return number_format(value, 0, force_grouping=True)


@register.filter
def confidence_name(word: str) -> str | Promise:
    return story.CONFIDENCES.get(word, word)


@register.filter
def confidence_meaning(verdict: Verdict) -> str | Promise:
    return story.confidence_meaning(verdict)


@register.filter
def summary(verdict: Verdict) -> str | Promise:
    return story.summary(verdict)


@register.filter
def reason(verdict: Verdict) -> str | Promise:
    return story.REASONS.get(verdict.reason, "")


@register.filter
def cleaned_name(kind: str, count: int) -> str:
    return story.cleaned(kind, count)


@register.filter
def left_out_name(kind: str) -> str | Promise:
    return story.left_out(kind)


@register.filter
def language_name(code: str) -> str | Promise:
    return story.language(code)


@register.filter
def card_kind(card: dict[str, Any]) -> str:
    """The language of a rate card's texts, and their genre where it counts one alone."""
    language = str(story.language(card["language"]))
    if card["genre"] not in GENRES:
        return language
    return f"{language}, {GENRES[card['genre']]}"


@register.filter
def words_range(words: list[int]) -> str:
    return story.words_range(words)


@register.filter
def moment(value: datetime) -> SafeString:
    """A time element: UTC as written by the server, in the reader's own time where scripts run."""
    text = date_format(value, "DATETIME_FORMAT")
    return format_html('<time datetime="{}" data-local>{} UTC</time>', value.isoformat(), text)


@register.filter
def free_at(retry_after: int) -> SafeString:
    """When `retry_after` seconds will be over."""
    return moment(timezone.now() + timedelta(seconds=retry_after))


@register.filter
def duration(seconds: int) -> str:
    """In the two largest units, rounded up: "7 hours 12 minutes"."""
    if seconds < MINUTE_SECONDS:
        return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": seconds}
    minutes = -(-seconds // MINUTE_SECONDS)
    days, minutes = divmod(minutes, DAY_SECONDS // MINUTE_SECONDS)
    hours, minutes = divmod(minutes, HOUR_SECONDS // MINUTE_SECONDS)
    parts = [
        ngettext("%(n)d day", "%(n)d days", days) % {"n": days} if days else "",
        ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours} if hours else "",
        ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes} if minutes and not days else "",
    ]
    return " ".join(part for part in parts if part)


def _percent(value: float, decimals: int) -> str:
    number = number_format(round(value, decimals), decimals)
    return f"{number}\u202f%" if (get_language() or "en").startswith("es") else f"{number}%"
