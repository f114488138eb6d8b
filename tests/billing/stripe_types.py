"""Whether an object is one that the SDK's own types describe: keys, types, what may be null."""

import importlib
import typing
from decimal import Decimal
from types import NoneType
from typing import Any, get_args, get_origin

from stripe._object_classes import OBJECT_CLASSES
from stripe._stripe_object import StripeObject, UntypedStripeObject


def sdk_class(kind: str) -> type:
    """The class that reads objects of this kind."""
    module, name = OBJECT_CLASSES[kind]
    return typing.cast(type, getattr(importlib.import_module(module), name))


def complaints(value: Any, wanted: Any, where: str) -> list[str]:
    """What is wrong with a value; empty = the SDK's type holds."""
    if wanted is Any or isinstance(wanted, str | typing.ForwardRef | typing.TypeVar):
        return _expandable(value, where)
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is typing.Union:
        return _one_of(value, parts, where)
    if origin is typing.Literal:
        return [] if value in parts else [f"{where}: {value!r} is none of {parts}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: no list but {type(value).__name__}"]
        return [each for at, entry in enumerate(value) for each in complaints(entry, parts[0], f"{where}[{at}]")]
    if origin is not None:
        return _generic(value, origin, parts, where)
    return _plain(value, wanted, where)


def _expandable(value: Any, where: str) -> list[str]:
    """A type that is only named: an id, or an object that says what it is."""
    if isinstance(value, dict) and "object" in value and value["object"] in OBJECT_CLASSES:
        return complaints(value, sdk_class(value["object"]), where)
    return []


def _one_of(value: Any, parts: tuple[Any, ...], where: str) -> list[str]:
    found = [complaints(value, part, where) for part in parts]
    return [] if any(not each for each in found) else min(found, key=len)


def _generic(value: Any, origin: Any, parts: tuple[Any, ...], where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: no object but {type(value).__name__}"]
    if "data" in value and value.get("object") == "list":
        return [each for at, entry in enumerate(value["data"]) for each in complaints(entry, parts[0], f"{where}.{at}")]
    return []


def _plain(value: Any, wanted: Any, where: str) -> list[str]:
    if isinstance(wanted, type) and issubclass(wanted, UntypedStripeObject):
        return [] if isinstance(value, dict) else [f"{where}: no object"]
    if isinstance(wanted, type) and issubclass(wanted, StripeObject):
        return _object(value, wanted, where)
    if wanted is NoneType or wanted is None:
        return [] if value is None else [f"{where}: not null"]
    name = getattr(wanted, "__name__", str(wanted))
    if name == "Decimal":
        return [] if isinstance(value, str | Decimal) else [f"{where}: a decimal travels as text"]
    if wanted is float:
        return [] if isinstance(value, int | float) and not isinstance(value, bool) else [f"{where}: no number"]
    right = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    return [] if right else [f"{where}: no {name} but {value!r}"]


def _object(value: Any, wanted: type, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: no object but {value!r}"]
    types = {name: kind for name, kind in wanted.__annotations__.items() if name != "OBJECT_NAME"}
    found = [f"{where}.{name}: the SDK knows no such field" for name in value if name not in types and types]
    for name, kind in types.items():
        if name in value:
            found += complaints(value[name], kind, f"{where}.{name}")
        elif NoneType not in get_args(kind):
            found.append(f"{where}.{name}: missing")
    return found
