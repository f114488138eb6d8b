"""GET /models and GET /benchmarks: what can be called, and what was measured of it."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.api.base import ApiView
from billing.models import Scope
from billing.permissions import HasScope
from detector import pinning
from detector.api import answers, showing
from gpujobs import registry, reports
from gpujobs.models import ModelVersion

# The parts of a stored report that are figures about the service; the rest are tables for its page.
FIGURES = (
    "default_max_fpr", "min_words", "data", "headline", "long", "baseline", "caps", "attacks", "form", "mixed",
    "writers", "canon", "human_groups", "invariance", "speed",
)  # fmt: skip


class Models(ApiView):
    """Model versions that can be called now."""

    permission_classes = [HasScope.of(Scope.CHECKS_READ)]

    @extend_schema(
        operation_id="list_models",
        summary="Model versions that can be called",
        description="Name one as `model` and it answers, and no other. The default one answers otherwise; where the "
        "site has a model for each tier, the verdict says which it was.",
        responses=answers.ok(answers.Models) | answers.problems(503),
    )
    def get(self, request: Request) -> Response:
        champion, now = registry.resolve(), timezone.now()
        found = [
            showing.model(version, tiers=tiers, default=version.pk == champion.pk)
            for version in ModelVersion.objects.order_by("-created_at", "pk")
            if (tiers := pinning.tiers_of(version.pk, now=now))
        ]
        return Response({"items": found})


class Benchmarks(ApiView):
    """The stored report of a model version, in figures."""

    permission_classes = [HasScope.of(Scope.CHECKS_READ)]

    @extend_schema(
        operation_id="get_benchmarks",
        summary="What was measured of a model version",
        description="On texts that it was not trained on: people flagged by mistake first, then how much AI text is "
        "caught, by language, length, genre and limit. The page of the whole report is `/accuracy/`.",
        parameters=[OpenApiParameter("model_version", str, description="Default: the one in service.")],
        responses=answers.ok(answers.Benchmarks) | answers.problems(404, 503),
    )
    def get(self, request: Request) -> Response:
        champion = registry.resolve().pk
        version = request.query_params.get("model_version") or champion
        report = reports.find(version)
        if report is None:
            raise Http404
        figures: dict[str, Any] = report.figures
        page = reverse("detector:accuracy_report")
        return Response(
            {
                "model": figures["model"],
                "model_version": figures["model_version"],
                "made": figures["made"],
                "report": request.build_absolute_uri(page) if version == champion else None,
                "figures": {name: figures[name] for name in FIGURES},
            }
        )
