"""A signed report of a finished check: what it says, who may have it, and that only ours, unchanged, are believed."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from api_calls import Caller, problem
from django.core.management import call_command
from django.test import Client

from billing.models import Scope, User
from detector import presenting
from detector.api import fixtures, report_shapes
from detector.models import Submission
from detector.reports import contents
from inkcloak import checks, report_keys
from inkcloak.client import reports

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

KEYS = "/.well-known/inkcloak-keys.json"
LATER = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def hers(alice: User) -> Submission:
    return factories.checked(factories.owner(alice), samples.AI)


def published() -> tuple[reports.PublicKey, ...]:
    return reports.read_keys(Client().get(KEYS).content)


def refusal(document: bytes | dict[str, Any]) -> str:
    with pytest.raises(reports.ReportError) as refused:
        reports.verify(document, published())
    return refused.value.code


def test_it_holds_the_verdict_its_versions_and_hashes_and_no_text(alice: User, hers: Submission) -> None:
    answer = Caller(alice).get(f"/detections/{hers.pk}/report")
    said = reports.verify(answer.content, published())
    assert answer["Content-Disposition"] == f'attachment; filename="inkcloak-report-{hers.pk}.json"'
    assert answer["Cache-Control"] == "private, no-store"
    assert said.items() >= json.loads(json.dumps(presenting.answer(hers))).items()
    assert said["text_sha256"] == hashlib.sha256(samples.AI.encode()).hexdigest()
    assert said["id"] == str(hers.pk)
    assert samples.AI[:20] not in answer.content.decode()
    assert said.keys() == set(report_shapes.Report().fields) - {"text"}


def test_the_owner_may_put_the_text_into_it(alice: User, hers: Submission) -> None:
    said = reports.verify(Caller(alice).get(f"/detections/{hers.pk}/report?include_text=true").content, published())
    assert said["text"] == samples.AI
    assert hashlib.sha256(said["text"].encode()).hexdigest() == said["text_sha256"]


def test_its_fingerprint_is_that_of_every_report_of_the_check(hers: Submission) -> None:
    now, later = factories.NOW, factories.NOW + timedelta(days=40)
    plain, whole = contents.contents(hers, now=now), contents.contents(hers, now=later, include_text=True)
    assert plain["content_sha256"] == whole["content_sha256"] == contents.fingerprint(json.loads(json.dumps(whole)))
    assert contents.fingerprint(plain | {"verdict": "human"}) != plain["content_sha256"]


@pytest.mark.parametrize("name", ["verdict", "probability", "text_sha256", "model_version", "issued_at", "segments"])
def test_a_changed_one_is_refused(alice: User, hers: Submission, name: str) -> None:
    document = Caller(alice).get(f"/detections/{hers.pk}/report").json()
    document["report"][name] = "2026-01-01T00:00:00+00:00"
    assert refusal(document) == "bad_signature"


def test_there_is_none_without_a_verdict(alice: User) -> None:
    waiting = factories.accepted(factories.owner(alice))
    failed = factories.accepted(factories.owner(alice), samples.AI)
    Submission.objects.filter(pk=failed.pk).update(status=Submission.Status.FAILED)
    for submission in (waiting, failed):
        for form in ("report", "report.pdf"):
            assert problem(Caller(alice).get(f"/detections/{submission.pk}/{form}")) == (409, "not_finished")


def test_a_text_that_is_gone_is_in_none(alice: User, hers: Submission) -> None:
    Submission.objects.filter(pk=hers.pk).update(text="", store=False)
    caller = Caller(alice)
    assert caller.get(f"/detections/{hers.pk}/report").json()["report"]["text_sha256"] == hers.digest
    for form in ("report", "report.pdf"):
        assert problem(caller.get(f"/detections/{hers.pk}/{form}?include_text=true")) == (409, "text_not_stored")


def test_too_little_evidence_is_reported_as_that(alice: User) -> None:
    short = factories.accepted(factories.owner(alice), samples.SHORT)
    said = reports.verify(Caller(alice).get(f"/detections/{short.pk}/report").content, published())
    assert (said["verdict"], said["reason"], said["probability"]) == ("insufficient", "too_short", None)


@pytest.mark.parametrize("query", ["include_text=yes", "include_text=", "include_text=True", "includetext=true"])
def test_what_only_resembles_an_option_is_refused(alice: User, hers: Submission, query: str) -> None:
    assert problem(Caller(alice).get(f"/detections/{hers.pk}/report?{query}")) == (400, "invalid")


def test_it_takes_the_scope_for_reading(alice: User, hers: Submission) -> None:
    caller = Caller(alice, scopes=(Scope.CHECKS_WRITE,))
    for form in ("report", "report.pdf"):
        assert problem(caller.get(f"/detections/{hers.pk}/{form}")) == (403, "missing_scope")


def test_a_made_up_one_is_believed_by_nobody(alice: User) -> None:
    caller = Caller(alice, live=False)
    made = fixtures.number_of(fixtures.BY_NAME["ai"], "x")
    answer = caller.get(f"/detections/{made}/report")
    assert (answer.status_code, answer.json()["report"]["live"]) == (200, False)
    assert refusal(answer.content) == "unknown_key"
    queued = fixtures.number_of(fixtures.BY_NAME["queued"], "x")
    assert problem(caller.get(f"/detections/{queued}/report")) == (409, "not_finished")


# --- On the page ---------------------------------------------------------------------------------------------


def test_the_page_gives_the_same_report(client_of: Callable[[User], Client], alice: User, hers: Submission) -> None:
    answer = client_of(alice).get(f"/checks/{hers.pk}/report.json", {"include_text": "true"})
    assert reports.verify(answer.content, published())["text"] == samples.AI
    assert answer["Cache-Control"] == "no-store, private"


def test_the_page_offers_both_forms_and_the_text_where_there_is_one(
    client_of: Callable[[User], Client], alice: User, hers: Submission
) -> None:
    browser = client_of(alice)
    page = browser.get(f"/checks/{hers.pk}/")
    assert pages.elements(page, "form", action=f"/checks/{hers.pk}/report.pdf", method="get")
    assert pages.elements(page, "button", formaction=f"/checks/{hers.pk}/report.json")
    assert pages.elements(page, "input", name="include_text")
    Submission.objects.filter(pk=hers.pk).update(text="", store=False)
    assert not pages.elements(browser.get(f"/checks/{hers.pk}/"), "input", name="include_text")
    assert browser.get(f"/checks/{hers.pk}/report.json?include_text=true").json()["report"].get("text") is None


@pytest.mark.parametrize("form", ["report.json", "report.pdf"])
def test_a_stranger_gets_none(client_of: Callable[[User], Client], charlie: User, hers: Submission, form: str) -> None:
    for browser in (client_of(charlie), Client()):
        assert browser.get(f"/checks/{hers.pk}/{form}").status_code == 404


def test_an_unfinished_check_leads_to_its_page(client_of: Callable[[User], Client], alice: User) -> None:
    waiting = factories.accepted(factories.owner(alice))
    assert client_of(alice).get(f"/checks/{waiting.pk}/report.pdf")["Location"] == f"/checks/{waiting.pk}/"


# --- Keys ----------------------------------------------------------------------------------------------------


def test_keys_are_public_and_kept_for_a_while() -> None:
    answer = Client().get(KEYS)
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cache-Control"] == "public, max-age=300"
    assert Client().get(KEYS, headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_reports_of_an_old_key_stay_good_and_it_signs_no_new_ones(alice: User, hers: Submission, settings: Any) -> None:
    caller, old = Caller(alice), settings.REPORT_SIGNING_KEY
    before = caller.get(f"/detections/{hers.pk}/report").content
    settings.REPORT_SIGNING_KEY = reports.new_seed()
    settings.REPORT_OLD_KEYS = [report_keys.as_old_key(old, LATER)]
    after = caller.get(f"/detections/{hers.pk}/report")
    assert reports.verify(before, published()) == json.loads(before)["report"]
    assert reports.verify(after.content, published())["id"] == str(hers.pk)
    late = json.loads(before)["report"] | {"issued_at": (LATER + timedelta(days=1)).isoformat()}
    assert refusal(reports.sign(late, old)) == "key_not_valid_then"


def test_without_a_key_there_are_no_signatures_but_pdfs(alice: User, hers: Submission, settings: Any) -> None:
    settings.REPORT_SIGNING_KEY = ""
    assert problem(Caller(alice).get(f"/detections/{hers.pk}/report")) == (503, "no_signing_key")
    assert Caller(alice).get(f"/detections/{hers.pk}/report.pdf").status_code == 200
    assert published() == ()


@pytest.mark.parametrize(
    ("debug", "key", "old", "ids"),
    [
        (False, reports.new_seed(), [], []),
        (True, "", [], []),
        (False, "", [], ["inkcloak.E010"]),
        (True, "secret-but-short", [], ["inkcloak.E011"]),
        (True, "", ["x@2026-01-01T00:00:00Z"], ["inkcloak.E011"]),
        (True, "", [reports.encode(bytes(32))], ["inkcloak.E011"]),
        (True, "", [f"{reports.encode(bytes(32))}@2026-01-01T00:00:00"], ["inkcloak.E011"]),
        (True, "", [f"{reports.encode(bytes(32))}@2026-01-01T00:00:00Z"], []),
    ],
)
def test_it_starts_with_keys_or_says_what_is_wrong(
    settings: Any, debug: bool, key: str, old: list[str], ids: list[str]
) -> None:
    settings.DEBUG, settings.REPORT_SIGNING_KEY, settings.REPORT_OLD_KEYS = debug, key, old
    found = checks.reports_are_signed(None)
    assert [message.id for message in found] == ids
    assert not any("secret-but-short" in str(message) for message in found)


def test_the_command_prints_what_takes_the_keys_place(capsys: pytest.CaptureFixture[str], settings: Any) -> None:
    call_command("report_key")
    assert report_keys.published()[0].key_id in capsys.readouterr().out
    call_command("report_key", "--new")
    printed = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    before = report_keys.published()[0]
    settings.REPORT_SIGNING_KEY = printed["REPORT_SIGNING_KEY"]
    settings.REPORT_OLD_KEYS = printed["REPORT_OLD_KEYS"].split(",")
    assert [key.key for key in report_keys.published()][1] == before.key
    assert checks.reports_are_signed(None) == []
