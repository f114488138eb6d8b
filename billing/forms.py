"""What the keys page takes."""

from datetime import datetime, timedelta

from django import forms
from django.utils.translation import gettext_lazy as _

from billing import keys
from billing.models import Scope

USUAL_SCOPES = (Scope.CHECKS_WRITE, Scope.CHECKS_READ, Scope.USAGE_READ)
LIFETIMES = [("", _("Until you revoke it")), ("30", _("30 days")), ("90", _("90 days")), ("365", _("One year"))]
OVERLAPS = [("0", _("Stop at once")), ("1", _("One hour more")), ("24", _("One day more")), ("168", _("A week more"))]


class NewKeyForm(forms.Form):
    name = forms.CharField(max_length=keys.MAX_NAME_CHARACTERS)
    environment = forms.ChoiceField(choices=[("live", _("Live")), ("test", _("Test"))], initial="live")
    scopes = forms.MultipleChoiceField(choices=Scope.choices, initial=list(USUAL_SCOPES))
    lifetime = forms.ChoiceField(choices=LIFETIMES, required=False)

    def expires_at(self, now: datetime) -> datetime | None:
        """When the key is to end; None for never."""
        days = self.cleaned_data["lifetime"]
        return now + timedelta(days=int(days)) if days else None


class NameForm(forms.Form):
    name = forms.CharField(max_length=keys.MAX_NAME_CHARACTERS)


class RotateForm(forms.Form):
    overlap = forms.TypedChoiceField(choices=OVERLAPS, coerce=int, initial=str(keys.OVERLAP_HOURS))
