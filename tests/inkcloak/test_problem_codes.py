"""Each code that the source can answer with has its line in the documentation, with the status it really has."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from detector.files import messages
from inkcloak import problem_codes, problems

ROOT = Path(__file__).resolve().parents[2]
STATUS = {"Invalid": 400, "Forbidden": 403, "Conflict": 409, "Exhausted": 429, "Unavailable": 503, "BadKey": 401}
OTHER_STATUS = {"too_large": 413}


def raised() -> Iterator[tuple[str, int]]:
    """Codes by the calls that make errors, written out: Invalid("code", …), Refused(409, "code", …)."""
    for app in ("billing", "detector", "inkcloak"):
        for path in set((ROOT / app).rglob("*.py")) - set((ROOT / app / "views").rglob("*.py")):  # pages only
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                    yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[tuple[str, int]]:
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr  # type: ignore[union-attr]
    said = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if name in STATUS and said and isinstance(said[0], str):
        yield said[0], OTHER_STATUS.get(said[0], STATUS[name])
    if name == "Refused" and len(said) > 1 and isinstance(said[1], str):
        yield said[1], said[0]
    if name == "AuthenticationFailed" and said and isinstance(said[-1], str):
        yield said[-1], 401


FOUND = sorted(set(raised()))


def test_the_scan_sees_codes() -> None:
    assert {("empty", 400), ("words_used", 429), ("idempotency_mismatch", 422), ("wrong_scheme", 401)} <= set(FOUND)


@pytest.mark.parametrize(("code", "status"), FOUND)
def test_each_code_is_documented_with_its_status(code: str, status: int) -> None:
    assert code in problem_codes.CODES
    assert problem_codes.CODES[code][0] == status


@pytest.mark.parametrize("code", sorted(messages.MESSAGES))
def test_what_may_be_wrong_with_a_file_is_documented(code: str) -> None:
    assert problem_codes.CODES[code][0] == 400


@pytest.mark.parametrize("code", [*problems.CODES.values(), "internal", "missing_scope", "wrong_environment"])
def test_codes_that_are_not_raised_by_name_are_documented_too(code: str) -> None:
    assert code in problem_codes.CODES


def test_no_meaning_is_left_untranslated_or_empty() -> None:
    with translation.override("en"):
        assert all(len(str(meaning)) > 10 for _status, meaning in problem_codes.CODES.values())
