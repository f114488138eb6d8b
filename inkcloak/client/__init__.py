"""What speaks to InkCloak from outside: needs no Django, and nothing of this project but itself.

    from inkcloak.client import Client

    with Client("ink_live_…") as inkcloak:
        found = inkcloak.detect("…")
        print(found.verdict, found.probability, found.rate_card)

    api.py      Client, AsyncClient              steps.py     requests and their tries, for both clients
    shapes.py   what comes back                  retrying.py  whether and when to ask again
    errors.py   what may go wrong                calls.py     calls about one text and the account
    reports.py  signed reports, checked offline  many.py      calls about many texts or files
    webhooks.py messages to your server          batches.py   requests of the right size
    cli.py      the command `inkcloak`: with sources.py (what to check), checking.py (has it checked), printing.py
                (in words), kept.py (its key and the service's public ones)

Names are loaded when they are asked for: `webhooks` alone needs the standard library and nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inkcloak.client.api import AsyncClient, Client
    from inkcloak.client.batches import Upload
    from inkcloak.client.calls import Options
    from inkcloak.client.errors import (
        CheckFailed,
        ConnectionFailed,
        InkcloakError,
        KeyRefused,
        LimitReached,
        NotFinished,
        NotFound,
        Problem,
        UnexpectedAnswer,
    )
    from inkcloak.client.shapes import Detection, FileItem, Item, ModelVersion, Quote, RateCard, Segment, Usage

_PLACES = {
    "api": ("AsyncClient", "Client"),
    "batches": ("Upload",),
    "calls": ("Options",),
    "errors": (
        "CheckFailed", "ConnectionFailed", "InkcloakError", "KeyRefused", "LimitReached", "NotFinished", "NotFound",
        "Problem", "UnexpectedAnswer",
    ),
    "shapes": ("Detection", "FileItem", "Item", "ModelVersion", "Quote", "RateCard", "Segment", "Usage"),
}  # fmt: skip
_HOME = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "AsyncClient",
    "CheckFailed",
    "Client",
    "ConnectionFailed",
    "Detection",
    "FileItem",
    "InkcloakError",
    "Item",
    "KeyRefused",
    "LimitReached",
    "ModelVersion",
    "NotFinished",
    "NotFound",
    "Options",
    "Problem",
    "Quote",
    "RateCard",
    "Segment",
    "UnexpectedAnswer",
    "Upload",
    "Usage",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
