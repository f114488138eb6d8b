"""System checks: refuse to boot misconfigured, each with an id and the fix."""

from typing import Any

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
