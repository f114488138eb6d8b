"""System checks: refuse to boot misconfigured, each with an id and the fix."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from inkcloak import report_keys

MIN_SECRET_CHARS = 40
RUNPOD_ADDRESSES = ("RUNPOD_BASE_URL", "RUNPOD_REST_URL", "RUNPOD_GRAPHQL_URL")


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
    if settings.SCORING_POLICY == "cpu":
        return []
    found: list[CheckMessage] = [
        Error(f"SCORING_POLICY needs {name}, which is not set", hint="docs/runpod.md says where to get it.", id=number)
        for name, number in (("RUNPOD_ENDPOINT_ID", "inkcloak.E004"), ("RUNPOD_API_KEY", "inkcloak.E005"))
        if not getattr(settings, name)
    ]
    return found + ([] if settings.DEBUG else [problem for name in RUNPOD_ADDRESSES for problem in _address(name)])


def _address(name: str) -> list[CheckMessage]:
    """What is wrong with one of RunPod's addresses, in production."""
    address = urlsplit(getattr(settings, name))
    if _is_loopback(address.hostname or ""):
        hint = "Unset RUNPOD_LOOPBACK_URL and the RUNPOD_…_URL settings: the real addresses are their defaults."
        return [Error(f"{name} is the loopback RunPod, with DEBUG off", hint=hint, id="inkcloak.E006")]
    if address.scheme != "https":
        return [Error(f"{name} is not https", hint="Texts and the key would travel in the clear.", id="inkcloak.E007")]
    return []


@register()
def webhooks_reach_us(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """RunPod can only call an absolute address, and whoever reads it on the way could call it too."""
    if not settings.RUNPOD_WEBHOOK_URL:
        return []
    scheme, host = _scheme_and_host(settings.RUNPOD_WEBHOOK_URL)
    if scheme not in ("http", "https") or not host:
        hint = "Give scheme and host, as in https://inkcloak.example, or leave it empty: RunPod is asked anyway."
        return [Error("RUNPOD_WEBHOOK_URL is no absolute address", hint=hint, id="inkcloak.E008")]
    if scheme != "https" and not _is_loopback(host):
        hint = "Addresses of webhooks are secrets, and would travel in the clear."
        return [Error("RUNPOD_WEBHOOK_URL is not https", hint=hint, id="inkcloak.E009")]
    return []


@register(Tags.security)
def webhooks_stay_outside(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A host that customers' webhooks may reach inside is one that every customer may reach."""
    if settings.DEBUG or not settings.WEBHOOK_ALLOWED_HOSTS:
        return []
    hint = "It is meant for receivers on a developer's machine. Leave it empty unless you trust every account."
    return [Warning("WEBHOOK_ALLOWED_HOSTS is set, with DEBUG off", hint=hint, id="inkcloak.W001")]


@register(Tags.security)
def reports_are_signed(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Without a key no report can be had; with a broken one each would be an error."""
    hint = "`python manage.py report_key --new` prints a key, and what to do with the one before it."
    found: list[CheckMessage] = []
    if not settings.DEBUG and not settings.REPORT_SIGNING_KEY:
        found.append(Error("REPORT_SIGNING_KEY is not set", hint=hint, id="inkcloak.E010"))
    try:
        report_keys.published()
    except ValueError as error:  # names the rule, never the value
        named = "REPORT_SIGNING_KEY or REPORT_OLD_KEYS"
        found.append(Error(f"{named} can't be used: {error}", hint=hint, id="inkcloak.E011"))
    return found


def _scheme_and_host(address: str) -> tuple[str, str]:
    """Both empty where a path could not simply be added to the address."""
    try:
        parts = urlsplit(address)
        usable = parts.port != 0 and not parts.query and not parts.fragment and not parts.username
    except ValueError:  # half an IPv6 address; a port that is no number
        return "", ""
    return (parts.scheme, parts.hostname or "") if usable else ("", "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
