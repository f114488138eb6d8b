"""How much of a pass is padding: by the engine's own batches, told in the answer of each text."""

from gpujobs.pod.contract import TextOut, WindowScore
from gpujobs.pod.padding import Rule, with_padding

CPU = Rule(budget=2048, step=1)


def text(tokens: int, *ends: int) -> TextOut:
    """With windows that end there, each from where the one before ended."""
    starts = (0, *ends)
    windows = tuple(WindowScore(start, end, 0.0, 0.5) for start, end in zip(starts, ends, strict=False))
    return TextOut("t", 0.0, 0.5, windows, tokens)


def padding(texts: list[TextOut], rule: Rule = CPU) -> list[int | None]:
    return [each.padding for each in with_padding(texts, rule)]


def test_it_is_what_is_missing_to_the_longest_of_the_batch() -> None:
    assert padding([text(98, 400), text(58, 240), text(98, 390)]) == [0, 40, 0]
    assert padding([text(98, 400)]) == [0]
    assert padding([]) == []


def test_it_counts_the_batches_as_the_engine_cuts_them() -> None:
    assert padding([text(98, 400), text(58, 240)], Rule(budget=150, step=1)) == [0, 0]


def test_it_counts_each_window_with_its_share_of_the_tokens() -> None:
    assert padding([text(300, 800, 1200), text(198, 800)]) == [100, 2]  # rows of 202, 102; 200


def test_it_counts_rows_that_are_rounded_up() -> None:
    assert padding([text(98, 400), text(58, 240)], Rule(budget=2048, step=32)) == [28, 68]


def test_a_text_with_an_error_has_none() -> None:
    assert padding([TextOut("t", 0.0, 0.0, (), 0, "empty"), text(10, 40)]) == [None, 0]
