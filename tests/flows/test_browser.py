"""A real browser at the real product: paste, read the verdict; by keyboard, without scripts, in Spanish, on a phone."""

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import samples
import zstandard
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from product import Product, number_of

PATIENCE_MS = 60_000
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "wide.jsonl.zst"
# Of the validation split, which training never saw.
CORPUS_AI, CORPUS_HUMAN = "wd-00563", "wd-01752"
AI, HUMAN = "Likely AI-written", "No sign of AI writing found"
PAGES = ("/", "/how-it-works/", "/privacy/", "/history/", "/accounts/login/", "/accounts/signup/", "/s/nothing-here/")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for this file. It must end with it: Django refuses queries beside Playwright's event loop."""
    path = os.environ.get("CHROMIUM_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser had to complain about: script errors, refused resources, failed requests of ours."""
    return []


@pytest.fixture
def visit(browser: Browser, product: Product, complaints: list[str]) -> Iterator[Callable[..., Page]]:
    """visit(): a new person's page of the product, in English unless told."""
    contexts: list[BrowserContext] = []

    def open_page(**options: object) -> Page:
        settings = {"base_url": product.url, "locale": "en-GB", "viewport": DESK} | options
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    return visit()


def check(page: Page, text: str) -> None:
    """Paste and send; returns on the result page, with or without the verdict."""
    page.goto("/")
    page.locator("textarea").fill(text)
    page.locator("button[type=submit].primary").click()
    page.wait_for_url("**/checks/**")


def expect_verdict(page: Page, headline: str) -> None:
    expect(page.locator("h1")).to_have_text(headline, timeout=PATIENCE_MS)


def texts() -> tuple[str, str]:
    """An AI text and a human text: of the validation split where the corpora are, else of tests/samples.py."""
    if not CORPUS.exists():
        return samples.AI, samples.HUMAN
    with CORPUS.open("rb") as packed:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")
        found = {row["id"]: row["text"] for row in map(json.loads, lines) if row["split"] == "val"}
    return found[CORPUS_AI], found[CORPUS_HUMAN]


def test_it_gives_two_right_verdicts(page: Page, complaints: list[str]) -> None:
    ai, human = texts()
    check(page, ai)
    expect_verdict(page, AI)
    expect(page.locator(".run.ai").first).to_be_visible()
    assert ai[:40] in page.locator(".document").inner_text()
    page.get_by_role("link", name="Check another text").click()
    check(page, human)
    expect_verdict(page, HUMAN)
    expect(page.locator(".run.ai")).to_have_count(0)
    assert complaints == []


def test_it_shows_a_long_check_arrive_without_reloading(product: Product, page: Page, complaints: list[str]) -> None:
    with product.paused("score"):
        check(page, samples.AI)
        expect(page.locator("h1")).to_have_text("Checking your text")
        page.evaluate("window.stayed = true")
    expect(page.locator("section.verdict")).to_be_visible(timeout=PATIENCE_MS)
    assert page.evaluate("window.stayed")
    assert complaints == []


def test_it_works_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    press_until(page, "Tab", "document.activeElement.tagName == 'TEXTAREA'")
    page.keyboard.insert_text(samples.AI)
    press_until(page, "Tab", "document.activeElement.type == 'submit'")
    page.keyboard.press("Enter")
    page.wait_for_url("**/checks/**")
    expect_verdict(page, AI)
    press_until(page, "Tab", "document.activeElement.classList.contains('run')")
    press_until(page, "Tab", "document.activeElement.textContent.includes('Check another')")
    page.keyboard.press("Enter")
    expect(page.locator("textarea")).to_be_visible()


def press_until(page: Page, key: str, reached: str) -> None:
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate(reached):
            return
    pytest.fail(f"{key} never leads to where {reached}")


def test_it_works_without_scripts(visit: Callable[..., Page]) -> None:
    page = visit(java_script_enabled=False)
    check(page, samples.AI)
    expect_verdict(page, AI)
    check(page, samples.long_text(40_000))
    expect(page.locator("section.verdict")).to_be_visible(timeout=PATIENCE_MS)


def test_it_speaks_spanish(visit: Callable[..., Page], complaints: list[str]) -> None:
    page = visit(locale="es-ES")
    check(page, samples.SPANISH)
    expect(page.locator("html")).to_have_attribute("lang", "es")
    expect(page.locator("section.verdict.human")).to_be_visible(timeout=PATIENCE_MS)
    for english in ("Probability", "No sign of AI", "What we cleaned", "Check another text"):
        assert english not in page.locator("body").inner_text()
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect_verdict(page, HUMAN)
    assert complaints == []


@pytest.mark.parametrize("language", ["en-GB", "es-ES"])
def test_no_page_is_wider_than_a_phone(visit: Callable[..., Page], language: str) -> None:
    page = visit(viewport=PHONE, locale=language)
    check(page, f"{samples.AI}\n\n{'w' * 300}\n\n```\n{'x = 1; ' * 60}\n```\n")
    expect(page.locator("section.verdict")).to_be_visible(timeout=PATIENCE_MS)
    wide = {}
    for address in (page.url, *PAGES):
        page.goto(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            wide[address] = width
    assert wide == {}


def test_two_clicks_make_one_check(page: Page, product: Product) -> None:
    page.goto("/")
    page.locator("textarea").fill(samples.HUMAN)
    nonce = page.locator("input[name=nonce]").get_attribute("value")
    page.locator("button[type=submit].primary").dblclick()
    page.wait_for_url("**/checks/**")
    expect_verdict(page, HUMAN)
    assert product.rows("SELECT count(*) FROM detector_submission WHERE nonce = %s", nonce) == [(1,)]


def test_it_says_what_is_wrong_and_keeps_the_text(page: Page) -> None:
    page.goto("/")
    page.locator("textarea").fill("   ")
    page.locator("button[type=submit].primary").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no text to check")
    check(page, samples.SHORT)
    expect_verdict(page, "Not enough to judge")


def test_it_deletes_for_good(page: Page, product: Product) -> None:
    check(page, samples.HUMAN)
    expect_verdict(page, HUMAN)
    address = page.url
    page.get_by_role("link", name="Delete").click()
    page.locator("main form button").first.click()
    page.wait_for_url("**/history/")
    assert page.goto(address).status == 404
    assert product.rows("SELECT count(*) FROM detector_submission WHERE id = %s", number_of(address)) == [(0,)]


def test_a_stranger_sees_nothing(page: Page, visit: Callable[..., Page]) -> None:
    check(page, samples.HUMAN)
    stranger = visit()
    assert stranger.goto(page.url).status == 404
    assert "Woodhouse" not in stranger.content()


def test_a_new_person_keeps_their_checks_in_an_account(page: Page, visit: Callable[..., Page]) -> None:
    email, password = f"new-{os.getpid()}@example.com", "a long enough password"
    page.goto("/accounts/signup/")
    page.locator("input[name=email]").fill(email)
    page.locator("input[name=password1]").fill(password)
    page.locator("main form button[type=submit], main form button.primary").first.click()
    page.wait_for_url(lambda url: "signup" not in url)
    check(page, samples.HUMAN)
    expect_verdict(page, HUMAN)
    elsewhere = visit()
    elsewhere.goto("/accounts/login/")
    elsewhere.locator("input[name=login]").fill(email.upper())
    elsewhere.locator("input[name=password]").fill(password)
    elsewhere.locator("main form button[type=submit], main form button.primary").first.click()
    elsewhere.wait_for_url(lambda url: "login" not in url)
    elsewhere.goto("/history/")
    expect(elsewhere.get_by_role("link", name="Emma Woodhouse").first).to_be_visible()
    everybody_else = visit()
    everybody_else.goto("/history/")
    expect(everybody_else.get_by_role("link", name="Emma Woodhouse")).to_have_count(0)
