"""What Django asks for when a request ends in 400, 403, 404 or 500 (named in inkcloak.urls)."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Says both possibilities, so that a stranger cannot tell a deleted check from somebody else's."""
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without the request: whatever broke may be what the context processors would ask (session, user)."""
    return HttpResponse(render_to_string("500.html"), status=500)
