"""Files on the page: read, shown with words and problems, checked one by one, found again; all without scripts."""

import re
import uuid
from collections.abc import Callable, Sequence

import factories
import file_builders as build
import page_reading as pages
import pytest
import samples
from django.conf import settings as product
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from billing import quota
from billing.accounts import allowance_of
from billing.models import Meter, User
from detector import dispatch, forms, intake
from detector.files.limits import MAX_FILES, MAX_UPLOAD_BYTES
from detector.models import Submission
from detector.views import check as check_view
from gpujobs.models import ModelVersion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

ESSAYS = (("ana.pdf", build.essay_pdf(samples.HUMAN)), ("luis.docx", build.essay_docx(samples.AI)))


@pytest.fixture(autouse=True)
def _no_waiting_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_view, "FIRST_WAIT_SECONDS", 0.0)


@pytest.fixture
def browser(client_of: Callable[[User], Client], alice: User) -> Client:
    return client_of(alice)


def send(client: Client, *files: tuple[str, bytes], **fields: str) -> HttpResponse:
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post("/check", {"text": "", "file": sent, "nonce": str(uuid.uuid4())} | fields)


def shown_lines(page: HttpResponse) -> list[str]:
    return [" ".join(line.text.split()) for line in pages.elements(page, "li", class_="row")]


def go_on(client: Client, page: HttpResponse) -> HttpResponse:
    """Sends the page's own form, as a browser without scripts does."""
    return client.post("/uploads", pages.form_fields(page, "/uploads"))


def kept(page: HttpResponse) -> dict[str, str]:
    """What the page's form would send on, without the token that each page has anew."""
    return {k: v for k, v in pages.form_fields(page, "/uploads").items() if k != "csrfmiddlewaretoken"}


def names() -> list[str]:
    return sorted(Submission.objects.values_list("file_name", flat=True))


def assert_nothing_happened() -> None:
    assert not Submission.objects.exists()
    assert not Meter.objects.exists()


# --- One file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("upload", ESSAYS, ids=["pdf", "docx"])
def test_one_file_without_anything_to_say_is_checked_at_once(browser: Client, upload: tuple[str, bytes]) -> None:
    answer = send(browser, upload)
    check = Submission.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/checks/{check.pk}/")
    assert check.file_name == upload[0]
    assert len(check.text.split()) > 100


def test_the_same_form_twice_is_one_check(browser: Client) -> None:
    nonce = str(uuid.uuid4())
    assert len({send(browser, ESSAYS[0], nonce=nonce)["Location"] for _ in range(2)}) == 1
    assert Submission.objects.count() == 1


def test_history_and_result_show_the_name(browser: Client) -> None:
    place = send(browser, ESSAYS[0])["Location"]
    assert "ana.pdf" in pages.words(browser.get("/history/"))
    assert "ana.pdf" in pages.words(browser.get("/history/?q=ANA"))
    assert browser.get(f"{place}delete").status_code == 200


@pytest.mark.parametrize(
    ("upload", "message"),
    [
        (("a.pdf", build.encrypted_pdf(samples.HUMAN)), "protected by a password"),
        (("a.pdf", build.pdf(b"q Q")), "is it a scan?"),
        (("a.docx", build.essay_docx("x")[:2000]), "damaged"),
        (("a.txt", b""), "no text in this file"),
        (("a.txt", b"x" * 200_000), "more than 100000 characters"),
        (("a.csv", b"a,b\n1,2"), "No column of texts found"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_at_the_box(
    client: Client, upload: tuple[str, bytes], message: str
) -> None:
    page = send(client, upload)
    assert page.status_code == 400
    assert message in pages.elements(page, id="text-error")[0].text
    assert pages.broken_rules(page) == []
    assert_nothing_happened()
    assert not Session.objects.exists()


def test_the_reason_comes_in_the_language_of_the_page(client: Client) -> None:
    sent = {"file": SimpleUploadedFile("a.pdf", build.encrypted_pdf(samples.HUMAN))}
    page = client.post("/check", sent, headers={"accept-language": "es"})
    assert pages.elements(page, id="text-error")[0].text.strip() != ""
    assert "protected by a password" not in pages.words(page)


def test_what_is_hidden_in_a_file_is_named_before_it_is_checked(browser: Client) -> None:
    hidden = build.docx_of(build.run(samples.HUMAN) + build.run("secret words", "<w:vanish/>"))
    page = send(browser, ("ana.docx", hidden))
    assert page.status_code == 200
    assert "11 characters formatted as hidden" in pages.words(page)
    assert_nothing_happened()
    answer = go_on(browser, page)
    check = Submission.objects.get()
    assert (answer["Location"], check.text) == (f"/checks/{check.pk}/", samples.HUMAN)


def test_a_guessed_encoding_is_named(browser: Client) -> None:
    page = send(browser, ("ana.txt", samples.SPANISH.encode("cp1252")))
    assert "Read as cp1252" in pages.words(page)
    go_on(browser, page)
    assert Submission.objects.get().text == samples.SPANISH


# --- Several files ------------------------------------------------------------------------------------------


def test_several_files_are_shown_with_their_words_and_nothing_is_kept(browser: Client) -> None:
    page = send(browser, *ESSAYS, ("scan.pdf", build.pdf(b"q Q")), ("short.txt", samples.SHORT.encode()))
    ana, luis, scan, short = shown_lines(page)
    assert re.search(r"ana\.pdf \d{3} words", ana)
    assert re.search(r"luis\.docx \d{3} words", luis)
    assert "scan.pdf Not checked: No text found" in scan
    assert "too short" in short
    assert "No verdict, no charge." in short
    assert "Check 3 texts" in pages.words(page)
    assert "no-store" in page["Cache-Control"]
    assert pages.broken_rules(page) == []
    assert_nothing_happened()


def test_each_of_them_becomes_a_check_of_its_own(browser: Client) -> None:
    answer = go_on(browser, send(browser, *ESSAYS, ("scan.pdf", build.pdf(b"q Q"))))
    assert answer.status_code == 303
    assert names() == ["ana.pdf", "luis.docx"]
    page = browser.get(answer["Location"])
    assert [line.split()[0] for line in shown_lines(page)] == ["ana.pdf", "luis.docx"]
    assert "0 of 2 texts done" in pages.words(page)
    assert pages.broken_rules(page) == []


def test_the_text_comes_back_as_it_was_read(browser: Client) -> None:
    odd = 'Quote " and <b>tag</b> & more,\n\n  indented\ttab\x01 \u200b🙂 e\u0301 end. ' + samples.HUMAN
    go_on(browser, send(browser, ("a.txt", odd.encode()), ("b.txt", samples.AI.encode())))
    assert Submission.objects.get(file_name="a.txt").text == odd


def test_two_files_with_the_same_text_are_two_checks(browser: Client) -> None:
    go_on(browser, send(browser, ("a.txt", samples.HUMAN.encode()), ("b.txt", samples.HUMAN.encode())))
    assert names() == ["a.txt", "b.txt"]


def test_the_page_sent_twice_makes_the_same_checks(browser: Client) -> None:
    page = send(browser, *ESSAYS)
    assert go_on(browser, page)["Location"] == go_on(browser, page)["Location"]
    assert Submission.objects.count() == 2


def test_each_row_of_a_table_is_a_text(browser: Client) -> None:
    page = send(browser, ("class.csv", build.csv_of(samples.HUMAN, samples.AI, header="Essay")))
    assert [line.split(" words")[0] for line in shown_lines(page)] != []
    go_on(browser, page)
    assert names() == ["class.csv #2", "class.csv #3"]


def test_the_limit_that_was_chosen_goes_along(browser: Client) -> None:
    go_on(browser, send(browser, *ESSAYS, max_fpr="0.05"))
    assert set(Submission.objects.values_list("max_fpr", flat=True)) == {"0.05"}


def test_files_go_before_the_box(browser: Client) -> None:
    send(browser, ESSAYS[0], text=samples.AI)
    assert Submission.objects.get().file_name == "ana.pdf"


def test_many_texts_wait_behind_people_who_look_at_one(browser: Client, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 100_000
    go_on(browser, send(browser, ("class.csv", build.csv_of(*[f"{n} {samples.HUMAN}" for n in range(6)]))))
    assert set(Submission.objects.values_list("lane", flat=True)) == {Submission.Lane.BULK}


# --- What it costs, and what to expect ----------------------------------------------------------------------


def test_the_price_is_said_before(browser: Client, alice: User) -> None:
    page = send(browser, *ESSAYS, ("short.txt", samples.SHORT.encode()))
    go_on(browser, page)
    held = Meter.objects.get().held
    assert f"This costs up to {held} words; you have 10,000 left this month." in pages.words(page)


def test_a_visitor_is_told_in_checks(client: Client) -> None:
    page = send(client, *ESSAYS)
    assert "This takes up to 2 of the 5 free checks that you have left today." in pages.words(page)
    assert not Session.objects.exists()
    place = go_on(client, page)["Location"]
    assert client.get(place).status_code == 200
    assert Client().get(place).status_code == 404


def test_a_class_is_told_how_many_false_flags_to_expect(browser: Client) -> None:
    """Two texts of 100 to 199 words, 2 of 300 flagged: 0.01 flags, 1.3 %; at most 2.4 % each."""
    assert all(100 <= len(text.split()) <= 199 for text in (samples.HUMAN, samples.AI))
    page = send(browser, *ESSAYS)
    assert "If people wrote all 2 of these texts, about 0.01 would still be flagged by mistake" in pages.words(page)
    assert "with a chance of 1.3% at least one" in pages.words(page)
    assert "it is 0.05 and 4.7%" in pages.words(page)


def test_one_text_has_no_such_sentence(browser: Client) -> None:
    page = send(browser, ESSAYS[0], ("scan.pdf", build.pdf(b"q Q")))
    assert "would still be flagged by mistake" not in pages.words(page)


def test_it_fails_alone_for_which_there_are_no_words_left(browser: Client, alice: User, settings: Settings) -> None:
    page = send(browser, *ESSAYS)
    settings.FREE_WORDS_PER_MONTH = len(samples.HUMAN.split()) + 10
    answer = go_on(browser, page)
    assert names() == ["ana.pdf"]
    told = pages.words(browser.get(answer["Location"]))
    assert "1 text was not checked: This text has more words than your account has left" in told


def test_without_words_left_nothing_happens_and_the_texts_stay_on_the_page(
    browser: Client, alice: User, settings: Settings
) -> None:
    page = send(browser, *ESSAYS)
    settings.FREE_WORDS_PER_MONTH = 0
    again = go_on(browser, page)
    assert again.status_code == 429
    assert int(again["Retry-After"]) > 0
    assert kept(again) == kept(page)
    assert not Submission.objects.exists()


def test_too_many_posts_are_told_to_wait(browser: Client, settings: Settings) -> None:
    page = send(browser, *ESSAYS)
    settings.POSTS_PER_MINUTE = 1
    go_on(browser, page)
    again = go_on(browser, page)
    assert again.status_code == 429
    assert kept(again) == kept(page)


# --- Limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            [(f"{n}.txt", b"x") for n in range(MAX_FILES + 1)],
            f"There are {MAX_FILES + 1} files; the limit is {MAX_FILES}",
        ),
        ([("a.txt", bytes(MAX_UPLOAD_BYTES // 4 + 1))] * 4, "All files together may have up to 32 MB"),
        ([("a.txt", bytes(MAX_UPLOAD_BYTES // 2 + 600_000))] * 2, "All files together may have up to 32 MB"),
        ([("a.csv", b"text\n" + b"x\n" * (forms.MAX_PAGE_TEXTS + 1))], "201 texts; the limit is 200"),
        (
            [("a.csv", b"text\n" + b"\n".join([b"x" * 90_000] * 60))],
            "5400000 characters together; the limit is 5000000",
        ),
    ],
    ids=["files", "bytes", "more bytes than are held", "texts", "characters"],
)
def test_a_limit_of_an_upload_is_named(client: Client, files: Sequence[tuple[str, bytes]], message: str) -> None:
    page = send(client, *files)
    assert page.status_code == 400
    assert message in pages.words(page)
    assert_nothing_happened()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"nonce": "no number"},
        {"text-0": ""},
        {"text-0": " ", "name-0": "\x00"},
        {"text-9999": samples.HUMAN},
        {"text-0": samples.HUMAN, "max_fpr": "0.5"},
        {"text-0": "x" * (intake.MAX_CHARACTERS + 1)},
    ],
)
def test_a_mangled_form_is_no_error_of_ours(client: Client, fields: dict[str, str]) -> None:
    assert client.post("/uploads", fields).status_code in (302, 400)
    assert_nothing_happened()


def test_its_address_leads_to_the_form(client: Client) -> None:
    assert client.get("/uploads")["Location"] == "/"
    assert client.get(reverse("detector:uploaded", args=[uuid.uuid4()])).status_code == 404


def test_without_a_model_nothing_happens(browser: Client, champion: ModelVersion) -> None:
    champion.aliases.all().delete()
    assert send(browser, *ESSAYS).status_code == 503
    assert_nothing_happened()


# --- Afterwards ---------------------------------------------------------------------------------------------


def test_the_page_of_an_upload_ends_with_its_verdicts(browser: Client, alice: User) -> None:
    place = go_on(browser, send(browser, *ESSAYS))["Location"]
    waiting = browser.get(place)
    assert "hx-get" in pages.html(waiting)
    dispatch.next_batch(now=factories.NOW, backend=factories.ScriptedBackend(0.99))
    done = browser.get(place)
    assert "2 of 2 texts done. 2 are marked AI" in pages.words(done)
    assert "about 0.01 would still be flagged by mistake" in pages.words(done)
    assert "hx-get" not in pages.html(done)


def test_nobody_else_finds_an_upload(browser: Client, client_of: Callable[[User], Client], charlie: User) -> None:
    place = go_on(browser, send(browser, *ESSAYS))["Location"]
    assert client_of(charlie).get(place).status_code == 404
    assert Client().get(place).status_code == 404


def test_nothing_of_a_file_is_logged(browser: Client, caplog: pytest.LogCaptureFixture) -> None:
    go_on(browser, send(browser, *ESSAYS, ("secret-name.pdf", b"%PDF-broken secret")))
    assert not any(word in caplog.text for word in ("ana.pdf", "secret", samples.HUMAN[:20]))


def test_a_visitors_words_are_his_own_even_in_the_first_form_sent_twice() -> None:
    nonce = str(uuid.uuid4())
    places = {send(Client(), ESSAYS[0], nonce=nonce)["Location"] for _ in range(2)}
    assert len(places) == 1


def test_a_refused_upload_takes_nothing_from_the_allowance(browser: Client, alice: User) -> None:
    send(browser, ("a.pdf", b"%PDF-1.4 broken"))
    left = quota.balance(allowance_of(factories.owner(alice), factories.NOW)).left
    assert left == product.FREE_WORDS_PER_MONTH
