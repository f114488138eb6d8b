"""Prices in the admin: looked at and added, with where they were read. The database keeps them from being changed."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from gpujobs.admin_base import DollarField
from gpujobs.models import Price
from inkcloak import money


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    amount_nanousd = DollarField(label=_("price ($)"), help_text=_("Of one hour, or of a GB in 30 days."))

    class Meta:
        model = Price
        fields = (
            "provider",
            "gpu_type",
            "mode",
            "region",
            "unit",
            "amount_nanousd",
            "source",
            "as_of",
            "valid_from",
        )


@admin.register(Price)
class PriceAdmin(ModelAdmin):  # type: ignore[misc]
    """A price that changes is another row, valid from a later moment."""

    form = PriceForm
    list_display = ("provider", "gpu_type", "mode", "region", "unit", "price", "as_of", "valid_from", "source")
    list_filter = ("provider", "mode")
    search_fields = ("gpu_type", "source")
    ordering = ("provider", "gpu_type", "mode", "-valid_from")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("price"))
    def price(self, row: Price) -> str:
        return money.exact(row.amount_nanousd)
