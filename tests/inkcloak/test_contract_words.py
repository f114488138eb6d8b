"""The contract speaks to its readers: every operation is described, and by no docstring that was meant for us."""

import inspect
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from inkcloak.openapi import METHODS, contract

LEAST_CHARACTERS = 40

OPERATIONS = {
    operation["operationId"]: operation
    for item in contract()["paths"].values()
    for method, operation in item.items()
    if method in METHODS
}


def docstrings(resolver: URLResolver) -> Iterator[str]:
    """Of every view class below /api/v1."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from docstrings(pattern)
        elif isinstance(pattern, URLPattern) and hasattr(pattern.callback, "cls"):
            yield inspect.getdoc(pattern.callback.cls) or ""


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_is_described(name: str) -> None:
    said = OPERATIONS[name]
    assert said["summary"]
    assert len(said.get("description", "")) >= LEAST_CHARACTERS
    assert said["description"] != said["summary"]


def test_no_docstring_is_a_description() -> None:
    known = set(docstrings(get_resolver()))
    assert len(known) > 15
    assert [name for name, said in OPERATIONS.items() if said["description"] in known] == []
