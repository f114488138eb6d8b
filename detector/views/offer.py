"""What the front page promises before a check: limits, what is left, what each false-positive limit catches."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from billing import accounts, quota
from detector import intake, verdicts
from gpujobs import registry
from gpujobs.models import ModelVersion
from inkcloak.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Cap:
    """One false-positive limit. value: as the manifest spells it.  catches: share of AI texts caught, by language.
    by_language: the same for each language of the model, None where it was not measured."""

    value: str
    limit: float
    catches: dict[str, float]
    is_default: bool
    by_language: list[float | None]


@dataclass(frozen=True, slots=True)
class Offer:
    """model is None, and so no minimum known, while no model is in service."""

    model: ModelVersion | None
    min_words: int | None
    max_characters: int
    caps: list[Cap]
    balance: quota.Balance
    by_words: bool

    @property
    def default_cap(self) -> str:
        """The cap that is chosen unless somebody chooses; empty without a model."""
        return next((cap.value for cap in self.caps if cap.is_default), "")


def offer_for(request: HttpRequest) -> Offer:
    """Reads only: no session is made for somebody who only looks."""
    model = champion()
    owner = accounts.reader_of(request) or accounts.Owner(
        visitor=uuid.uuid4(), address_key=accounts.keyed_address(request)
    )
    return Offer(
        model=model,
        min_words=model.manifest["min_words"] if model else None,
        max_characters=intake.MAX_CHARACTERS,
        caps=caps_of(model.manifest) if model else [],
        balance=quota.balance(accounts.allowance_of(owner, timezone.now())),
        by_words=owner.account is not None,
    )


def champion() -> ModelVersion | None:
    """The model in service, or None."""
    try:
        return registry.resolve()
    except Unavailable:
        return None


def caps_of(manifest: dict[str, Any]) -> list[Cap]:
    """The measured limits, strictest first."""
    return [_cap(manifest, cap) for cap in verdicts.caps(manifest)]


def _cap(manifest: dict[str, Any], cap: str) -> Cap:
    catches = _catches(manifest, cap)
    is_default = float(cap) == float(manifest["default_max_fpr"])
    return Cap(cap, float(cap), catches, is_default, [catches.get(code) for code in manifest["languages"]])


def _catches(manifest: dict[str, Any], cap: str) -> dict[str, float]:
    return {
        language: measured[cap]["tpr"]
        for language, measured in manifest["thresholds"].items()
        if "tpr" in measured.get(cap, {})
    }
