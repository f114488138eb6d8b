"""What the admin's pages of this app have in common."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from inkcloak import money


class DollarField(forms.CharField):
    """Whole nano-dollars, written in dollars."""

    widget = UnfoldAdminTextInputWidget

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        try:
            return money.parse(str(value))
        except ValueError:
            raise forms.ValidationError(_("An amount in dollars, as in 25 or 0.15.")) from None

    def prepare_value(self, value: Any) -> Any:
        return money.exact(value).removeprefix("$") if isinstance(value, int) else value
