"""The product speaks Spanish wholly: every text of its own is in the catalogue, translated, and compiled."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation.template import templatize

from detector.models import Verdict
from detector.views import samples, story
from gpujobs.pod.shared.normalise import KINDS
from gpujobs.pod.shared.prose import LEFT_OUT_KINDS

ROOT = Path(settings.BASE_DIR)
FOLDER = ROOT / "inkcloak" / "locale" / "es" / "LC_MESSAGES"
APPS = ("inkcloak", "billing", "gpujobs", "detector", "templates")
MARKERS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
CALL = re.compile(r"""(?<!\w)(?:_|n?gettext)\(\s*u?("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|</?\w+>")


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(FOLDER / "django.po"))


@pytest.fixture(scope="module")
def wanted() -> set[str]:
    """Every text that the code and the templates ask for; found without GNU gettext, which few machines have."""
    files = [path for name in APPS for path in (ROOT / name).rglob("*") if path.is_file()]
    code = {text for path in files if path.suffix == ".py" for text in asked_by_code(path.read_text())}
    pages = [path for path in files if path.suffix in (".html", ".txt") and "static" not in path.parts]
    return code | {text for path in pages for text in asked_by_template(path.read_text())}


def asked_by_code(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKERS and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def asked_by_template(source: str) -> Iterator[str]:
    """Django turns a template into calls that gettext's tool could read, and so can an expression."""
    for match in CALL.finditer(templatize(source)):
        yield ast.literal_eval(match[1])


def test_it_has_every_text_of_code_and_templates(catalogue: polib.POFile, wanted: set[str]) -> None:
    assert wanted - {entry.msgid for entry in catalogue} == set()


def test_it_has_no_text_that_nobody_asks_for(catalogue: polib.POFile, wanted: set[str]) -> None:
    assert {entry.msgid for entry in catalogue} - wanted == set()


def test_it_is_translated_throughout(catalogue: polib.POFile) -> None:
    assert [e.msgid for e in catalogue.untranslated_entries() + catalogue.fuzzy_entries()] == []
    plurals = [e for e in catalogue if e.msgid_plural]
    assert [e.msgid for e in plurals if len(e.msgstr_plural) != 2 or not all(e.msgstr_plural.values())] == []


def test_its_translations_keep_placeholders_and_markup(catalogue: polib.POFile) -> None:
    def kept(source: str, translated: str) -> bool:
        return sorted(PLACEHOLDER.findall(source)) == sorted(PLACEHOLDER.findall(translated))

    singular = [e.msgid for e in catalogue if e.msgstr and not kept(e.msgid, e.msgstr)]
    plural = [e.msgid for e in catalogue for text in e.msgstr_plural.values() if not kept(e.msgid_plural, text)]
    assert singular + plural == []


def test_it_is_compiled_as_it_is_written(catalogue: polib.POFile) -> None:
    compiled = {e.msgid: (e.msgstr, e.msgstr_plural) for e in polib.mofile(str(FOLDER / "django.mo"))}
    assert compiled == {e.msgid: (e.msgstr, e.msgstr_plural) for e in catalogue}


@pytest.mark.parametrize("kind", KINDS)
def test_it_names_what_was_cleaned_in_both_languages(kind: str) -> None:
    english = [story.cleaned(kind, count) for count in (1, 2)]
    with translation.override("es"):
        spanish = [story.cleaned(kind, count) for count in (1, 2)]
    assert kind not in english
    assert len({*english, *spanish}) == 4


@pytest.mark.parametrize("kind", LEFT_OUT_KINDS)
def test_it_names_what_was_left_out_in_both_languages(kind: str) -> None:
    english = str(story.left_out(kind))
    with translation.override("es"):
        assert str(story.left_out(kind)) != english


def test_it_has_words_for_every_verdict_reason_and_confidence() -> None:
    assert set(story.HEADLINES) == set(story.LABELS) == set(Verdict.Label.values)
    assert set(story.REASONS) == set(Verdict.Reason.values) - {""}
    assert set(story.CONFIDENCES) == set(Verdict.Confidence.values) - {""}
    meanings = {(label, word) for label in ("ai", "human") for word in story.CONFIDENCES}
    assert set(story.CONFIDENCE_MEANINGS) == meanings | {("mixed", "medium"), ("mixed", "low")}


def test_its_samples_exist_in_both_languages_and_are_long_enough() -> None:
    for sample in samples.SAMPLES:
        english, spanish = (samples.text_of(sample.name, language) for language in ("en", "es"))
        assert english != spanish
        assert min(len(english.split()), len(spanish.split())) >= 80
