"""Measured numbers of the accuracy page that are no shares: rounded as far as they say something."""

from django import template
from django.utils.formats import number_format

register = template.Library()

TINY_DIGITS = 9


@register.filter
def one(value: float) -> str:
    """One decimal at most: 41.26 -> "41.3", 7.0 -> "7"."""
    rounded = round(value, 1)
    return number_format(rounded, 0 if rounded == int(rounded) else 1, force_grouping=True)


@register.filter
def tiny(value: float) -> str:
    """A difference near nothing, without an exponent: 2.4e-7 -> "0.00000024"."""
    digits = f"{value:.{TINY_DIGITS}f}".rstrip("0").partition(".")[2]
    return number_format(round(value, TINY_DIGITS), len(digits))
