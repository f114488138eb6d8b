"""RoutingChange: somebody of the staff set the scoring policy aside, or gave it back to the settings. Append-only."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


class RoutingChange(models.Model):
    """The last one whose time is not over counts; it is taken back by another one."""

    class Policy(models.TextChoices):
        AS_SET = "", _("as the settings say")
        CPU = "cpu", _("CPU only")
        GPU = "gpu", _("GPU only")
        HYBRID = "hybrid", _("hybrid: GPU for much work, CPU for a trickle and when the GPU is out of reach")

    policy = models.CharField(_("policy"), max_length=10, choices=Policy.choices, blank=True)
    until = models.DateTimeField(
        _("until"), null=True, blank=True, help_text=_("Empty: until the next change. After it the settings count.")
    )
    reason = models.CharField(_("reason"), max_length=200)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name, verbose_name_plural = _("routing change"), _("routing changes")

    def __str__(self) -> str:
        return f"{self.get_policy_display()}: {self.reason}"

    def clean(self) -> None:
        """A policy that needs a GPU needs an endpoint first: otherwise texts would wait for nobody."""
        needs_gpu = self.policy in (self.Policy.GPU, self.Policy.HYBRID)
        if needs_gpu and not (settings.RUNPOD_ENDPOINT_ID and settings.RUNPOD_API_KEY):
            raise ValidationError({"policy": _("No GPU endpoint is configured (docs/runpod.md).")})
