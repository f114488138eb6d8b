"""The staff's page that plans a month: what each way to serve costs. Reads settings and prices; writes nothing.

A plan is in the page's address, so that it can be kept and sent on. Nothing is planned before somebody asks.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from detector.views import plan_page
from detector.views.gpu import staff_only
from gpujobs import plans
from gpujobs.planning import planner, question, words
from gpujobs.planning.arrivals import MEAN_CHECKS
from gpujobs.planning.assumptions import PlanError

STARTING = {
    "users": "1000",
    "checks": f"{MEAN_CHECKS:g}",
    "words": "",
    "shape": question.SHAPE,
    "p95": f"{question.WISH_SECONDS:g}",
    "bulk_p95": f"{question.BULK_WISH_SECONDS:g}",
}


@require_safe
@staff_only
def show(request: HttpRequest) -> HttpResponse:
    asked = "users" in request.GET
    given = {name: request.GET.get(name) or value for name, value in STARTING.items()}
    if asked:
        given["users"] = request.GET["users"]
    lines = request.GET.get("set", "")
    context: dict[str, Any] = {
        "fields": plan_page.fields(given),
        "shapes": [(name, what, name == given["shape"]) for name, what in words.SHAPES.items()],
        "set": lines,
    }
    if not asked:
        return render(request, "gpujobs/plan.html", context)
    try:
        book = plans.book((line for line in lines.splitlines() if line.strip()), now=timezone.now())
        found = planner.plan(question.read(given), book)
    except PlanError as error:
        return render(request, "gpujobs/plan.html", context | {"error": str(error)}, status=400)
    return render(request, "gpujobs/plan.html", context | plan_page.sections(found))
