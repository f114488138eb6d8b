"""System checks: refuse to boot misconfigured, each with an id and the fix."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

MIN_SECRET_CHARS = 40


@register(Tags.security)
def secrets_are_real(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A short or well-known secret key would let anybody sign a session."""
    if settings.DEBUG or len(settings.SECRET_KEY) >= MIN_SECRET_CHARS:
        return []
    hint = "Generate one: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    return [Error(f"SECRET_KEY is shorter than {MIN_SECRET_CHARS} characters", hint=hint, id="inkcloak.E001")]


@register(Tags.security)
def hosts_are_named(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A wildcard host with DEBUG off lets a forged Host header into password-reset mails."""
    if settings.DEBUG or "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Error("ALLOWED_HOSTS is a wildcard", hint="Set ALLOWED_HOSTS to your host names.", id="inkcloak.E002")]


@register()
def model_folder_exists(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Without a model folder no worker can score."""
    if any(settings.MODEL_DIR.glob("*/manifest.json")):
        return []
    hint = "Point MODEL_DIR at a folder that holds model folders (each with a manifest.json)."
    return [Error("MODEL_DIR holds no model", hint=hint, id="inkcloak.E003")]


@register()
def runpod_is_reachable(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Without endpoint and key every batch would be refused; and a rehearsal must not pass for the real service."""
    if settings.SCORING_BACKEND != "runpod":
        return []
    found: list[CheckMessage] = [
        Error(
            f"SCORING_BACKEND is runpod, but {name} is not set", hint="docs/runpod.md says where to get it.", id=number
        )
        for name, number in (("RUNPOD_ENDPOINT_ID", "inkcloak.E004"), ("RUNPOD_API_KEY", "inkcloak.E005"))
        if not getattr(settings, name)
    ]
    address = urlsplit(settings.RUNPOD_BASE_URL)
    if not settings.DEBUG and _is_loopback(address.hostname or ""):
        hint = "Use https://api.runpod.ai/v2 in production."
        found.append(Error("RUNPOD_BASE_URL is the loopback RunPod, with DEBUG off", hint=hint, id="inkcloak.E006"))
    elif not settings.DEBUG and address.scheme != "https":
        hint = "Texts and the key would travel in the clear."
        found.append(Error("RUNPOD_BASE_URL is not https", hint=hint, id="inkcloak.E007"))
    return found


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
