"""A real browser sends files to the real product: chosen, shown, looked at, checked; with scripts and without."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import samples
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from product import Product

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "detector"))
import file_builders as build

PATIENCE_MS = 60_000
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser, product: Product) -> Iterator[Callable[..., Page]]:
    contexts: list[BrowserContext] = []

    def open_page(**options: object) -> Page:
        contexts.append(browser.new_context(base_url=product.url, locale="en-GB", **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto("/")
        return page

    yield open_page
    for context in contexts:
        context.close()


def choose(page: Page, *files: tuple[str, bytes]) -> None:
    sent = [{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files]
    page.locator("input[type=file]").set_input_files(sent)


def test_files_are_chosen_looked_at_and_checked(visit: Callable[..., Page]) -> None:
    page = visit()
    big = build.changed(build.essay_docx(samples.AI), {"word/media/picture.png": os.urandom(3 * MIB)})
    choose(page, ("ana.pdf", build.essay_pdf(samples.HUMAN)), ("luis.docx", big), ("scan.pdf", build.pdf(b"q Q")))
    expect(page.locator("[data-chosen] li")).to_have_text(["ana.pdf (1 KB)", "luis.docx (3 MB)", "scan.pdf (1 KB)"])
    expect(page.locator("textarea")).to_be_hidden()
    page.get_by_role("button", name="Look at 3 files").click()
    expect(page.locator("h1")).to_have_text("Your files")
    expect(page.locator(".row")).to_contain_text(["ana.pdf", "luis.docx", "No text found in this PDF"])
    expect(page.locator(".rate")).to_contain_text("If people wrote all 2 of these texts")
    page.get_by_role("button", name="Check 2 texts").click()
    page.wait_for_url("**/uploads/**")
    expect(page.get_by_role("status").first).to_contain_text("2 of 2 texts done", timeout=PATIENCE_MS)
    page.get_by_role("link", name="luis.docx").click()
    page.wait_for_url("**/checks/**")


def test_files_that_were_chosen_can_be_taken_away(visit: Callable[..., Page]) -> None:
    page = visit()
    choose(page, ("photo.png", b"\x89PNG"), ("ana.pdf", b"%PDF-"))
    expect(page.locator("[data-chosen] li").first).to_have_text("photo.png (1 KB): can't be read here")
    page.get_by_role("button", name="Take the files away").click()
    expect(page.locator("textarea")).to_be_visible()
    expect(page.get_by_role("button", name="Check text")).to_be_visible()


def test_a_plain_text_still_goes_into_the_box(visit: Callable[..., Page]) -> None:
    page = visit()
    choose(page, ("essay.txt", samples.HUMAN.encode()))
    expect(page.locator("textarea")).to_have_value(samples.HUMAN)
    choose(page, ("essay.txt", samples.SPANISH.encode("cp1252")))
    expect(page.locator("[data-chosen] li")).to_contain_text("essay.txt")


def test_without_scripts_it_is_the_same(visit: Callable[..., Page]) -> None:
    page = visit(java_script_enabled=False)
    choose(page, ("ana.pdf", build.essay_pdf(samples.HUMAN)), ("luis.docx", build.essay_docx(samples.AI)))
    page.get_by_role("button", name="Check text").click()
    page.get_by_role("button", name="Check 2 texts").click()
    page.wait_for_url("**/uploads/**")
    expect(page.get_by_role("status").first).to_contain_text("2 of 2 texts done", timeout=PATIENCE_MS)
