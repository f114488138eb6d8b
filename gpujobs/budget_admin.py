"""Staff's view of budgets: how each stands, limits and overrides behind another look at the password, and the audit
log. What is changed goes through gpujobs.budget_changes, which keeps who, why and when."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from gpujobs import budget_changes, budget_reading, budget_words, estimates
from gpujobs.admin_base import DollarField
from gpujobs.models import AuditEntry, Budget, BudgetNotice, BudgetOverride, BudgetReservation
from inkcloak import money
from inkcloak.errors import DomainError
from inkcloak.read_only_admin import ReadOnlyAdmin

NONE = "–"
FIELDS = ("scope", "service", "account_id", "period", "zone", "soft_nanousd", "hard_nanousd", "active")


class ReasonForm(forms.ModelForm):  # type: ignore[type-arg]
    """With a reason, and the rules of budget_changes."""

    reason = forms.CharField(
        label=_("reason"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("It is kept in the audit log."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self.look(cleaned)
        except DomainError as error:
            raise forms.ValidationError(str(error.message)) from None
        return cleaned

    def look(self, cleaned: dict[str, Any]) -> None:
        """Raises Invalid."""


class BudgetForm(ReasonForm):
    hard_nanousd = DollarField(label=_("limit ($)"), help_text=_("No GPU work begins that would pass it."))
    soft_nanousd = DollarField(label=_("warning ($)"), required=False)

    class Meta:
        model = Budget
        fields = FIELDS

    def look(self, cleaned: dict[str, Any]) -> None:
        whole = {name: cleaned.get(name, getattr(self.instance, name)) for name in FIELDS}
        budget_changes.check(Budget(**whole), cleaned["reason"])


class OverrideForm(ReasonForm):
    extra_nanousd = DollarField(label=_("on top of the limit ($)"), help_text=_("0 takes an earlier override back."))

    class Meta:
        model = BudgetOverride
        fields = ("budget", "extra_nanousd", "until", "reason")

    def look(self, cleaned: dict[str, Any]) -> None:
        budget_changes.check_override(cleaned["extra_nanousd"], cleaned["until"], timezone.now())


class WithStatuses(ChangeList):
    """Reads how all budgets of the page stand at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        shown = list(self.result_list)
        try:
            found = {status.budget.pk: status for status in budget_reading.read(shown, timezone.now())}
        except DomainError:
            found = {}
        for budget in shown:
            budget.status = found.get(budget.pk)
        self.result_list = shown


@method_decorator(reauthentication_required(allow_get=True), name="changeform_view")
@admin.register(Budget)
class BudgetAdmin(ModelAdmin):  # type: ignore[misc]
    form = BudgetForm
    list_display = ("name", "of", "spent", "held", "limit", "state", "free_again", "active")
    list_filter = ("scope", "period", "active")
    list_per_page = 50

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WithStatuses

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("scope", "service", "account_id", "period") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # switched off instead: what it allowed stays known

    def save_model(self, request: HttpRequest, obj: Budget, form: Any, change: bool) -> None:
        who = {"actor": request.user.email, "reason": form.cleaned_data["reason"]}  # type: ignore[union-attr]
        values = {name: getattr(obj, name) for name in budget_changes.CHANGEABLE}
        if change:
            budget_changes.change(obj, **values, **who)
            return
        hard = values.pop("hard_nanousd")
        made = budget_changes.make(
            scope=obj.scope,
            period=obj.period,
            hard_nanousd=hard,
            service=obj.service,
            account_id=obj.account_id,
            **who,
        )
        if values["soft_nanousd"] is None:
            values["soft_nanousd"] = made.soft_nanousd
        budget_changes.change(made, **values, **who)
        obj.pk, obj.name = made.pk, made.name

    @admin.display(description=_("budget for"))
    def of(self, budget: Any) -> str:
        return str(budget_words.name(budget))

    @admin.display(description=_("spent"))
    def spent(self, budget: Any) -> str:
        return money.shown(budget.status.spent) if budget.status else NONE

    @admin.display(description=_("held"))
    def held(self, budget: Any) -> str:
        return money.shown(budget.status.held) if budget.status else NONE

    @admin.display(description=_("limit"))
    def limit(self, budget: Any) -> str:
        return money.shown(budget.status.limit if budget.status else budget.hard_nanousd)

    @admin.display(description=_("state"))
    def state(self, budget: Any) -> str:
        if budget.status is None:
            return str(_("can't be read"))
        needed = estimates.next_amount(budget, timezone.now())
        return str(budget_words.STATES[budget.status.state(needed)])

    @admin.display(description=_("free again"))
    def free_again(self, budget: Any) -> str:
        return budget_words.when(budget.status) if budget.status else NONE


@method_decorator(reauthentication_required(allow_get=True), name="changeform_view")
@admin.register(BudgetOverride)
class BudgetOverrideAdmin(ModelAdmin):  # type: ignore[misc]
    """Adding one lets work go on past a budget for a while; the last one counts."""

    form = OverrideForm
    list_display = ("made_at", "budget", "extra", "until", "reason", "made_by")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: BudgetOverride, form: Any, change: bool) -> None:
        made = budget_changes.override(
            obj.budget,
            extra_nanousd=obj.extra_nanousd,
            until=obj.until,
            actor=request.user.email,  # type: ignore[union-attr]
            reason=obj.reason,
            now=timezone.now(),
            user_id=request.user.pk,
        )
        obj.pk = made.pk

    @admin.display(description=_("on top of the limit"))
    def extra(self, override: BudgetOverride) -> str:
        return money.shown(override.extra_nanousd)


@admin.register(BudgetNotice)
class BudgetNoticeAdmin(ReadOnlyAdmin):
    list_display = ("at", "budget", "level", "period_start", "resets_at")


@admin.register(BudgetReservation)
class BudgetReservationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "status", "service", "run_id", "amount", "expires_at")
    list_filter = ("status", "service")

    @admin.display(description=_("held"))
    def amount(self, reservation: BudgetReservation) -> str:
        return money.exact(reservation.amount_nanousd)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "action", "subject", "reason")
    list_filter = ("action",)
