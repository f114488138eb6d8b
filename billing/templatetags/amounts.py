"""Customers' money in templates: {{ invoice.total_cents|amount:invoice.currency }}."""

from django import template

from billing import amounts

register = template.Library()


@register.filter
def amount(minor: int, currency: str) -> str:
    """With every place: invoices."""
    return amounts.exact(minor, currency)


@register.filter
def price(minor: int, currency: str) -> str:
    """Without empty cents: what a plan costs."""
    return amounts.price(minor, currency)
