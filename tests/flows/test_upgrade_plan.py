"""From free to paid and back in a real browser: the words are used up, a plan is paid on Stripe's page, the words are
there without a reload by hand, the portal cancels, and when the clock has moved on the account is free again."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import samples
from playwright.sync_api import Page, expect, sync_playwright
from product import Product, eventually

from devstack import ports
from tests.loopback.stripe.launcher import LoopbackStripe

PATIENCE_MS = 60_000
SECRET = "whsec_only_for_flow_tests"
PASSWORD = "a-harbour-with-9-boats"
FREE_WORDS = len(samples.HUMAN.split()) + 40  # enough for one check, too few for a second
FAILURES = 6  # of Stripe's answers about the payment, so that the page has to wait


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    """Outside of pytest's own folders, which are closed to the servers' user."""
    folder = Path(tempfile.mkdtemp(prefix="inkcloak-upgrade-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def port() -> int:
    return ports.free_port()


@pytest.fixture(scope="module")
def stripe(port: int) -> Iterator[LoopbackStripe]:
    """Its webhooks go to the product."""
    hook = f"http://127.0.0.1:{port}/hooks/stripe/"
    with LoopbackStripe("--frozen", "--webhook", hook, "--webhook-secret", SECRET) as server:
        yield server


@pytest.fixture(scope="module")
def shop(base: Path, port: int, stripe: LoopbackStripe) -> Iterator[Product]:
    """The product, with the loopback Stripe in the place of the real one and its catalogue made."""
    made = Product(
        base / "var",
        port,
        FREE_WORDS_PER_MONTH=str(FREE_WORDS),
        STRIPE_SECRET_KEY=stripe.key,
        STRIPE_API_BASE=stripe.url,
        STRIPE_WEBHOOK_SECRETS=SECRET,
    )
    try:
        made.start()
        done = made.manage("stripe_sync_catalogue", "--apply")
        assert done.returncode == 0, done.stderr + done.stdout
        yield made
    finally:
        made.end()


@pytest.fixture
def page(shop: Product) -> Iterator[Page]:
    path = os.environ.get("CHROMIUM_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = chromium.new_page(base_url=shop.url, locale="en-GB", viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        yield page
        chromium.close()


def check(page: Page, text: str) -> None:
    page.goto("/")
    page.locator("textarea").fill(text)
    page.locator("form[data-check] button[type=submit].primary").click()


def seen_after_reloads(page: Page, words: str) -> None:
    """What the worker does with an event is not this browser's to wait for."""
    eventually(lambda: (page.reload(), words in page.locator("main").inner_text())[1])


def test_it_pays_when_words_run_out_and_is_free_again_in_the_end(page: Page, stripe: LoopbackStripe) -> None:
    page.goto("/accounts/signup/")
    page.fill("input[name=email]", "buyer@example.com")
    page.fill("input[name=password1]", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url("**/")

    check(page, samples.HUMAN)
    expect(page.locator("[data-verdict]")).to_be_visible()
    check(page, samples.AI)
    expect(page.locator("#text-error")).to_contain_text("more words than your account has left")
    page.locator("#text-error").get_by_role("link", name="Compare the plans").click()

    page.get_by_role("button", name="Take Starter").click()
    expect(page.get_by_test_id("total")).to_contain_text("9.00")
    stripe.fault("unavailable", times=FAILURES, where={"op": "GET /v1/checkout/sessions/{id}"})
    page.get_by_test_id("pay").click()
    page.wait_for_url("**/plan/return/**")
    page.evaluate("window.stayed = true")
    expect(page.locator("h1")).to_have_text("Starter is active")
    assert page.evaluate("window.stayed"), "nobody reloaded"
    page.get_by_role("link", name="Check a text").click()
    page.locator("textarea").fill(samples.AI)
    page.locator("form[data-check] button[type=submit].primary").click()
    expect(page.locator("[data-verdict]")).to_be_visible()

    page.goto("/plan/")
    expect(page.locator("main")).to_contain_text("of 100,000 left")
    expect(page.locator("main")).to_contain_text("$9.00")
    page.get_by_role("button", name="Card, tax id and all invoices at Stripe").click()
    page.get_by_test_id("cancel").click()
    page.get_by_test_id("back").click()
    page.wait_for_url("**/plan/")
    seen_after_reloads(page, "is not charged again")
    stripe.advance(days=32)
    seen_after_reloads(page, "Take a larger plan")
    expect(page.locator("main")).to_contain_text("0 of")
    assert len(stripe.objects("subscription")) == 1
    assert stripe.balance()["usd"]["charge"] == 900
