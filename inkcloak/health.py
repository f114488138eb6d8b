"""`/healthz`: this process answers. Touches neither the database nor Redis, so their restart never looks like ours."""

from django.http import HttpRequest, HttpResponse


async def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain", headers={"Cache-Control": "no-store"})
