"""The accuracy page: the champion's stored report, wholly, in both languages, and no number from anywhere else."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import page_reading as pages
import pytest
import stored_reports
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from gpujobs import registry
from gpujobs.models import ModelVersion

pytestmark = pytest.mark.django_db
Store = Callable[..., dict[str, Any]]


@pytest.fixture
def store(settings: Settings, tmp_path: Path, champion: ModelVersion) -> Store:
    """store(**changes): the champion's report, in a folder of this test's own."""
    settings.REPORTS_FOLDER = tmp_path

    def put(**changes: Any) -> dict[str, Any]:
        found = stored_reports.report(champion.pk, **changes)
        stored_reports.store(tmp_path, found)
        return found

    return put


def page_in(client: Client, language: str = "en") -> HttpResponse:
    return client.get("/accuracy/", headers={"accept-language": language})


def section(page: HttpResponse, name: str) -> str:
    """What people read between one heading and the next."""
    html = pages.html(page)
    start = html.index(f'<h2 id="{name}"')
    body = re.split("<h2|</main>", html[start + 3 :])[0]
    return " ".join(re.sub(r"<[^>]+>", " ", "<h2" + body).replace("&#x27;", "'").split())


# --- Whose report -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_is_a_page_that_keeps_the_rules(client: Client, store: Store, language: str) -> None:
    store()
    page = page_in(client, language)
    assert page.status_code == 200
    assert pages.broken_rules(page) == []
    assert pages.elements(page, "html")[0].attributes["lang"] == language
    assert "unsafe" not in page["Content-Security-Policy"]
    assert "img-src 'self'" in page["Content-Security-Policy"]


@pytest.mark.parametrize(("language", "words"), [("en", "There is no stored report"), ("es", "No hay ningún informe")])
def test_it_says_that_there_is_no_report(client: Client, store: Store, language: str, words: str) -> None:
    page = page_in(client, language)
    assert page.status_code == 200
    assert words in pages.words(page)
    assert "test-version-1" in pages.words(page)
    assert not pages.elements(page, "table")
    assert pages.broken_rules(page) == []
    assert client.get("/accuracy/report.json").status_code == 404


def test_it_says_that_there_is_no_model(client: Client) -> None:
    page = page_in(client)
    assert "No model is in service" in pages.words(page)
    assert client.get("/accuracy/report.json").status_code == 404


def test_it_never_shows_the_report_of_another_model(client: Client, store: Store) -> None:
    store()
    assert "inkcloak-test (test-version-1)" in pages.words(page_in(client))
    registry.promote(factories.version(model_version="test-version-2"), reason="newer")
    page = page_in(client)
    assert "test-version-2" in pages.words(page)
    assert not pages.elements(page, "table")


# --- No number but the report's -----------------------------------------------------------------------------

SAID_OF_THE_PAGE_ITSELF = {
    "95", "90", "0", "1", "0.5",  # certainty of intervals, what a probability and a score mean
    "100", "256",  # "100 words and more", SHA-256
}  # fmt: skip


def test_it_has_no_number_that_is_not_in_the_report(client: Client, store: Store) -> None:
    report = store()
    known = SAID_OF_THE_PAGE_ITSELF | {spelling for number in numbers_of(report) for spelling in spellings(number)}
    page = page_in(client)
    said = " ".join(
        section(page, e.attributes["id"]) for e in pages.elements(page, "h2") if e.attributes["id"] != "fails"
    )
    for text in names_of(report):
        said = said.replace(text, " ")
    shown = {number.strip(".,") for number in re.findall(r"(?<![\w-])\d[\d.,]*", said)}
    assert len(shown) > 100
    assert shown - known == set()


def numbers_of(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for part in value.values() for n in numbers_of(part)]
    if isinstance(value, list):
        return [n for part in value for n in numbers_of(part)]
    if isinstance(value, str):
        return [float(n) for n in re.findall(r"\d+", value)]
    return [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


def names_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*(k for k in value if re.search(r"\d", k)), *(n for part in value.values() for n in names_of(part))]
    if isinstance(value, list):
        return [n for part in value for n in names_of(part)]
    return [value] if isinstance(value, str) and re.search(r"\d", value) and len(value) > 2 else []


def spellings(number: float) -> set[str]:
    """As a count, as a rounded number, and as a share of a hundred."""
    texts = (
        {f"{number:,.{places}f}" for places in range(6)}
        | {f"{number:g}"}
        | {f"{100 * number:.{places}f}" for places in range(4)}
    )
    return texts | {text.rstrip("0") for text in texts if "." in text} | {f"{number:.9f}".rstrip("0")}


# --- What stands where --------------------------------------------------------------------------------------


def test_it_begins_with_what_a_false_accusation_costs(client: Client, store: Store) -> None:
    store()
    headings = [e.attributes["id"] for e in pages.elements(page_in(client), "h2") if "id" in e.attributes]
    assert headings == [
        "cost", "people", "canon", "caught", "sources", "roc", "reliability", "length", "genre", "generator", "attacks",
        "form", "mixed", "writers", "spanish", "fails", "reproduce",
    ]  # fmt: skip


def test_it_says_first_how_many_people_were_flagged(client: Client, store: Store) -> None:
    store()
    people = section(page_in(client), "people")
    assert "Of 902 English texts by people" in people
    assert "4 were flagged by mistake at the default limit of 1%: 0.44%." in people
    assert "between 0.17% and 1.14%" in people


def test_it_lists_the_groups_that_are_over_the_limit(client: Client, store: Store) -> None:
    report = store()
    people = section(page_in(client), "people")
    assert "These groups are over the limit: Group" in people
    assert "Reviews fails English, by genre 0.96% 3 of 312 0.33% – 2.79% no" in people
    store(human_groups=[report["human_groups"][1]])
    people = section(page_in(client), "people")
    assert "Every group that was large enough to measure is within the limit." in people
    assert "over the limit:" not in people


def test_it_shows_what_each_limit_did(client: Client, store: Store) -> None:
    store()
    caught = section(page_in(client), "caught")
    assert "0.5% 0.21% 6 of 1,308 0.10% – 1.01% 81.2% 2,299 of 2,596 80.1% – 97.0%" in caught
    assert "1% default 0.45%" in caught
    assert "5% 3.32%" in caught


def test_numbers_follow_the_readers_language(client: Client, store: Store) -> None:
    store()
    caught = section(page_in(client, "es"), "caught")
    assert "0,5 % 0,21 % 6 de 1 308 0,10 % – 1,01 % 81,2 % 2 299 de 2 596 80,1 % – 97,0 %" in caught


def test_it_reads_the_curve_where_few_are_accused(client: Client, store: Store) -> None:
    """The share caught at the last stored point that flags no more than the level."""
    store()
    roc = section(page_in(client), "roc")
    assert "at most 0.1% – –" in roc
    assert "at most 0.2% 70.0% 70.0%" in roc
    assert "at most 1% 88.2% 88.2%" in roc


def test_it_lists_what_is_least_caught_first(client: Client, store: Store) -> None:
    store()
    page = page_in(client)
    generator = section(page, "generator")
    assert generator.index("davinci-002") < generator.index("gpt-4o")
    assert " human " not in generator
    attacks = section(page, "attacks")
    assert attacks.index("Misspelt words 93.0% 83.0% -10.0 points 1 of 300") < attacks.index("Look-alike letters")
    assert attacks.index("Humanised by a tool") < attacks.index("As the model wrote it")


@pytest.mark.parametrize(("loss", "shown"), [(0.0, "0.0 points"), (0.03, "0.0 points"), (-1.25, "1.2 points")])
def test_an_attack_that_costs_nothing_has_no_minus(client: Client, store: Store, loss: float, shown: str) -> None:
    line = {"attack": "nbsp", "n": 300, "tpr_clean": 0.9, "tpr": 0.9, "loss_points": loss, "human_n": 0, "human_k": 0}
    store(attacks=[line])
    assert f"Non-breaking spaces 90.0% 90.0% {shown} –" in section(page_in(client), "attacks")


def test_it_says_what_mixed_documents_give(client: Client, store: Store) -> None:
    store()
    mixed = section(page_in(client), "mixed")
    assert "off by 13.7% of the text on average" in mixed
    assert "61.5% were found within one sentence" in mixed
    assert "10% – 25% 101 9.88% No AI found: 60 Parts likely AI: 35 Likely AI: 6" in mixed


def test_it_says_where_no_learners_were_measured(client: Client, store: Store) -> None:
    store()
    writers = section(page_in(client), "writers")
    assert "For English we have no texts by learners" in writers
    assert "For Spanish" not in writers
    assert "Spanish, COWS-L2H; so few that some also served to set limits 0% 0 of 60" in writers


def test_it_is_honest_about_spanish(client: Client, store: Store) -> None:
    report = store()
    spanish = section(page_in(client), "spanish")
    assert "Spanish, new sources: 902 texts by people and 1,928 by models." in spanish
    assert "The models that wrote the Spanish AI texts: davinci-002 , gpt-4o . How well" in spanish
    english = {key: value for key, value in report["headline"].items() if key.startswith("en")}
    store(headline=english)
    assert "Not measured in this report." in section(page_in(client), "spanish")


def test_it_lists_what_fails_before_what_holds(client: Client, store: Store) -> None:
    store()
    fails = section(page_in(client), "fails")
    missed, met = fails.split("Goals that this model meets", 1)
    for goal in (
        "Loss by an attack: misspelt words fails at most 2 points 10.0 points",
        "Texts by people newly flagged: Markdown marks fails 0 1 of 67",
        "Well-known texts by people flagged fails 0 1 of 1,203",
        "Documents by two writers: error of the share marked AI fails at most 10% 13.7%",
        "Texts by people flagged: Reviews (English) fails",
    ):
        assert goal in missed
    assert "Texts read in a second at least 40 41.3" in met
    assert "Loss by an attack: look-alike letters at most 2 points 1.3 points" in met


def test_sections_that_were_not_measured_say_so(client: Client, store: Store) -> None:
    speed = {"texts": 0, "texts_per_s": None, "words_mean": None, "cpu": "", "threads": 2}
    store(mixed=None, canon=None, unseen_people=None, leave_one_out=None, writers=[], attacks=[], form=[], speed=speed)
    page = page_in(client)
    for name in ("mixed", "canon", "attacks", "form", "writers"):
        assert "Not measured in this report." in section(page, name)
    unmeasured = section(page, "fails").split("Goals that this report has no measurement of", 1)[1]
    assert "Documents by two writers" in unmeasured
    assert pages.broken_rules(page) == []


def test_a_class_that_is_missing_is_a_dash(client: Client, store: Store) -> None:
    bare = stored_reports.figures(0, 0, 31, 37)
    store(headline={"es in-domain": bare}, long={"es in-domain": bare}, roc={"es in-domain": []}, reliability={})
    page = page_in(client)
    assert page.status_code == 200
    assert "AUROC (1 is perfect, 0.5 is chance) –" in section(page, "spanish")


def test_a_report_of_a_sample_is_called_one(client: Client, store: Store) -> None:
    store(sample=50)
    assert "made from a sample of the texts" in pages.words(page_in(client))


def test_what_the_page_does_not_know_by_name_is_shown_as_the_report_spells_it(client: Client, store: Store) -> None:
    store(form=[{"transform": "new_kind", "n": 5, "changed": 0, "human_to_ai": 0}])
    page = page_in(client, "es")
    assert "New kind" in section(page, "form")
    assert "Saga" in section(page, "genre")


# --- The file and its drawings --------------------------------------------------------------------------------


def test_the_report_is_offered_as_the_file_that_it_is(client: Client, store: Store) -> None:
    report = store()
    link = pages.elements(page_in(client), "a", href="/accuracy/report.json")
    assert "download" in link[0].attributes
    answer = client.get("/accuracy/report.json")
    assert answer["Content-Type"] == "application/json"
    assert json.loads(answer.content) == report
    again = client.get("/accuracy/report.json", headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304
    assert "no-cache" in answer["Cache-Control"]


def test_every_drawing_is_there_with_a_text_for_it(client: Client, store: Store) -> None:
    store()
    images = pages.elements(page_in(client), "img")
    assert len(images) == len(stored_reports.DRAWINGS)
    for image in images:
        assert "same numbers" in image.attributes["alt"]
        answer = client.get(image.attributes["src"])
        assert answer["Content-Type"] == "image/svg+xml"
        assert "max-age=86400" in answer["Cache-Control"]
        assert answer["Content-Security-Policy"].startswith("default-src 'none'")
        assert "sandbox" in answer["Content-Security-Policy"]


def test_an_unknown_drawing_is_not_found(client: Client, store: Store) -> None:
    store()
    for address in ("/accuracy/test-version-1/none.svg", "/accuracy/another/roc.svg", "/accuracy/../roc.svg"):
        assert client.get(address).status_code == 404


def test_the_page_is_linked_from_every_page_and_from_the_explanation(client: Client, store: Store) -> None:
    footer = pages.elements(client.get("/"), "a", href="/accuracy/")
    assert [any(around.tag == "footer" for around in e.inside) for e in footer] == [True]
    assert len(pages.elements(client.get("/how-it-works/"), "a", href="/accuracy/")) == 2
