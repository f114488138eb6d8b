"""Whether a request's parameters are ones that the SDK's own types know, nested ones too.

The real Stripe refuses a misspelt parameter; a double that swallows it would hide the mistake.
"""

import importlib
import sys
import typing
from functools import cache
from typing import Any, ForwardRef, NotRequired, Required, Union, get_args, get_origin

from stripe._stripe_object import UntypedStripeObject
from typing_extensions import is_typeddict

from tests.loopback.stripe.errors import Refusal

COMMON = {"expand"}
MAPS = (dict, UntypedStripeObject)  # any names


@cache
def described(name: str) -> type | None:
    """The TypedDict of an operation, as `checkout.SessionCreateParams`; None when it takes only `expand`."""
    if not name:
        return None
    place, _, last = name.rpartition(".")
    module = importlib.import_module(f"stripe.params.{place}" if place else "stripe.params")
    return typing.cast(type, getattr(module, last))


def check(name: str, params: dict[str, Any]) -> None:
    """Raises Refusal 400 for the first parameter that Stripe wouldn't know."""
    wanted = described(name)
    known = set(wanted.__annotations__) if wanted else set()
    for each in sorted(set(params) - known - COMMON):
        raise _unknown(each)
    if wanted is not None:
        for each, value in params.items():
            if each in known:
                _check(value, _parts(wanted, wanted.__annotations__[each]), each)


def _unknown(path: str) -> Refusal:
    return Refusal(400, f"Received unknown parameter: {path}", code="parameter_unknown", param=path)


def _parts(owner: type, annotation: Any) -> list[tuple[type, Any]]:
    """The alternatives of an annotation, each with the class in whose module its names are looked up."""
    if isinstance(annotation, str | ForwardRef):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            annotation = eval(text, {**vars(typing), **vars(sys.modules[owner.__module__])})  # noqa: S307 (the SDK's own)
        except NameError:
            return [(owner, Any)]
    origin = get_origin(annotation)
    if origin in (NotRequired, Required):
        return _parts(owner, get_args(annotation)[0])
    if origin is Union or type(annotation).__name__ == "UnionType":
        return [part for each in get_args(annotation) for part in _parts(owner, each)]
    return [(owner, annotation)]


def _check(value: Any, parts: list[tuple[type, Any]], path: str) -> None:
    for owner, part in parts:
        if isinstance(value, list) and get_origin(part) is list:
            for at, each in enumerate(value):
                _check(each, _parts(owner, get_args(part)[0]), f"{path}[{at}]")
            return
        if isinstance(value, dict) and get_origin(part) in MAPS:
            inner = _parts(owner, get_args(part)[-1])
            for name, each in value.items():
                _check(each, inner, f"{path}[{name}]")
            return
        if isinstance(value, dict) and is_typeddict(part):
            for name, each in value.items():
                if name not in part.__annotations__:
                    raise _unknown(f"{path}[{name}]")
                _check(each, _parts(part, part.__annotations__[name]), f"{path}[{name}]")
            return
