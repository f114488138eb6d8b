"""The genre guess: picks a line of the rate card, and comes back from its file the same."""

from dataclasses import replace
from pathlib import Path

import tiny

from gpujobs.pod.genre_model import GenreModel
from gpujobs.pod.linear import fit_genres

MANUAL = "Click the menu and select the option in the settings dialog of the window."
STORY = "She whispered to the old man by the sea and he laughed at her dream."


def fitted(domains: tuple[str, ...] = ("story", "technical-manual", "news")) -> GenreModel:
    texts = {"story": STORY, "technical-manual": MANUAL, "news": "The minister said on Monday that taxes would rise."}
    rows = [
        replace(row, domain=domain, text=f"{texts[domain]} {row.text[:20]}")
        for row in tiny.rows(training=30)[:30]
        for domain in domains
    ]
    return fit_genres(rows, seed=1)


def test_it_guesses_by_what_is_written() -> None:
    model = fitted()
    assert set(model.genres) == {"fiction", "technical", "news"}
    assert (model.guess(MANUAL), model.guess(STORY)) == ("technical", "fiction")


def test_it_tells_two_genres_apart() -> None:
    model = fitted(("story", "technical-manual"))
    assert (model.guess(MANUAL), model.guess(STORY)) == ("technical", "fiction")


def test_it_guesses_something_for_any_text() -> None:
    model = fitted()
    assert {model.guess(text) for text in ("", "?", "日本語")} <= set(model.genres)


def test_it_guesses_the_same_from_its_file(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "genres.npz")
    again = GenreModel.load(tmp_path / "genres.npz")
    assert again.genres == model.genres
    assert (again.guess(MANUAL), again.guess(STORY)) == (model.guess(MANUAL), model.guess(STORY))
