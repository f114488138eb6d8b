"""`python -m tests.screens`: a picture of each page of the running product, in both languages, on phone and desktop.

    python -m tests.screens [--base-url URL] [--out var/screens]

Makes an account of its own, checks the samples, and leaves both behind: point it at a development stack. Names are
PAGE-LANGUAGE-WIDTH[-dark].png. It is a browser and no more, but for the staff's pages: with DATABASE_URL it makes its
account one of the staff, and `--seed` fills an empty ledger with made-up days there, which nothing takes out again: for
throw-away databases, as that of `make screens`. `--staff` leaves the other pages out.
"""

import argparse
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM_PATH") or "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
WIDTHS = {360: 740, 1280: 900}
LANGUAGES = ("en", "es")
PASSWORD = "a-harbour-with-9-boats"
VERDICT_MS = 60_000
# Texts that show what the samples do not: no verdict, and everything that is cleaned or left out.
SHORT = "The harbour office keeps a ledger of every boat that comes in."
MESSY = """# Ledger notes

The harb\u043eur office keeps a led\u00adger of every boat that comes in, and for forty years the same wo\u200bman
wrote it by hand. She began each entry with the weather, because she held that boat and weather could not be told
apart\u2014and she ended it with a remark that nobody had asked for. \u201cWhen the port authority bought a computer she
went on writing,\u201d he said, and a clerk typed her pages in the evening. The clerk left out the remarks at first.

| boat | docked |
| ---- | ------ |
| Anna | Monday |
| Vega | Friday |

```python
for boat in ledger:
    print(boat.name, boat.docked)
```

Then an insurer asked why a trawler had docked a day late, and the only answer in the building was one of her
remarks, about a broken winch and a crew that had been singing when they tied up. See
https://example.org/ledger/1987?page=4 for the entry."""

OPEN_PAGES = {
    "front": "/",
    "front-sample": "/?sample=both",
    "how-it-works": "/how-it-works/",
    "accuracy": "/accuracy/",
    "pricing": "/pricing/",
    "pricing-year": "/pricing/?per=year&currency=usd",
    "join-not": "/team/join/nothing/",
    "privacy": "/privacy/",
    "api": "/api/docs/",
    "api-errors": "/api/docs/errors",
    "api-quickstart": "/api/docs/quickstart/",
    "api-changelog": "/api/docs/changelog/",
    "not-found": f"/checks/{uuid.UUID(int=0)}/",
    "share-gone": "/s/nothing/",
    "history-empty": "/history/",
    "login": "/accounts/login/",
    "signup": "/accounts/signup/",
    "password-reset": "/accounts/password/reset/",
    "password-reset-done": "/accounts/password/reset/done/",
    "password-reset-bad-key": "/accounts/password/reset/key/1-wrong-key/",
    "verification-sent": "/accounts/confirm-email/",
    "inactive": "/accounts/inactive/",
}
ACCOUNT_PAGES = {
    "history": "/history/",
    "history-filtered": "/history/?q=harbour&label=human",
    "keys": "/keys/",
    "plan-free": "/plan/",
    "plan-nothing": "/plan/return/?session_id=nothing",
    "team-free": "/team/",
    "email": "/accounts/email/",
    "password-change": "/accounts/password/change/",
    "two-factor": "/accounts/2fa/",
    "two-factor-totp": "/accounts/2fa/totp/activate/",
    "logout": "/accounts/logout/",
    "front-signed-in": "/",
}

# The one about the GPU is the last: it renews itself, which is waited for.
STAFF_PAGES = {
    "costs": "/staff/costs/",
    "costs-month": "/staff/costs/?period=month&zone=Pacific/Kiritimati",
    "costs-week": "/staff/costs/week/",
    "alerts": "/staff/alerts/",
    "costs-lines": "/staff/costs/lines/?period=7days",
    "costs-refused": "/staff/costs/?period=custom&from=2026-11-30&to=2026-11-01",
    "admin": "/staff/",
    "admin-runs": "/staff/gpujobs/gpurun/",
    "admin-routing": "/staff/gpujobs/routingchange/add/",
    "admin-budgets": "/staff/gpujobs/budget/",
    "plan": "/staff/plan/?users=1000",
    "gpu": "/staff/gpu/",
}


class Camera:
    """Takes the pictures of one language at one width."""

    def __init__(self, page: Page, out: Path, suffix: str) -> None:
        self.page, self.out, self.suffix = page, out, suffix
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on("console", self._listen)

    def _listen(self, message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind == "error" and "the server responded with a status of" not in text:
            self.problems.append(f"{self.page.url}: {text}")

    def take(self, name: str, address: str = "") -> None:
        if address:
            self.page.goto(address)
        self.page.evaluate("document.fonts.ready")
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            self.problems.append(f"{name}-{self.suffix}: {wide} px wider than the screen")
        self.page.screenshot(path=str(self.out / f"{name}-{self.suffix}.png"), full_page=True)

    def check(self, text: str) -> None:
        """Pastes, posts, and waits for the verdict."""
        self.page.goto("/")
        self.page.fill("#text", text)
        self.page.click("form[data-check] button[type=submit]")
        self.page.wait_for_selector("[data-verdict]", timeout=VERDICT_MS)


def shoot_staff(browser: Browser, base: str, out: Path, language: str, width: int) -> list[str]:
    """The staff's pages alone."""
    with _context(browser, base, language, width) as context:
        camera = Camera(context.new_page(), out, f"{language}-{width}-dark")
        email = _sign_up(camera)
        camera.page.emulate_media(color_scheme="dark")
        _as_staff(camera, email)
        return camera.problems


def shoot_plans(browser: Browser, base: str, out: Path, language: str, width: int) -> list[str]:
    """The pages about plan, payment and team alone, in the states that they can have."""
    with _context(browser, base, language, width) as context:
        camera = Camera(context.new_page(), out, f"{language}-{width}")
        for name in ("pricing", "pricing-year", "join-not"):
            camera.take(name, OPEN_PAGES[name])
        email = _sign_up(camera)
        for name in ("plan-free", "plan-nothing", "team-free"):
            camera.take(name, ACCOUNT_PAGES[name])
        _as_subscriber(camera, email)
        return camera.problems


def shoot(browser: Browser, base: str, out: Path, language: str, width: int) -> list[str]:
    """Every page of one language at one width. Returns what was wrong with them."""
    with _context(browser, base, language, width) as context:
        camera = Camera(context.new_page(), out, f"{language}-{width}")
        for name, address in OPEN_PAGES.items():
            camera.take(name, address)
        _refused(camera)
        email = _sign_up(camera)
        for name, sample in (("ai", "model"), ("human", "classic"), ("mixed", "both")):
            camera.page.goto(f"/?sample={sample}")
            camera.check(camera.page.input_value("#text"))
            camera.take(f"result-{name}")
        result = camera.page.url
        _shared(camera)
        for name, text in (("insufficient", SHORT), ("messy", MESSY)):
            camera.check(text)
            camera.take(f"result-{name}")
        camera.take("delete", camera.page.url + "delete")
        for name, address in ACCOUNT_PAGES.items():
            camera.take(name, address)
        _as_subscriber(camera, email)
        camera.page.emulate_media(color_scheme="dark")
        camera.suffix += "-dark"
        camera.take("front", "/")
        camera.take("result", result)
        camera.take("history", "/history/")
        camera.take("accuracy", "/accuracy/")
        camera.take("api-quickstart", "/api/docs/quickstart/")
        camera.take("api-changelog", "/api/docs/changelog/")
        _as_staff(camera, email)
        return camera.problems


def _shared(camera: Camera) -> None:
    """Two links of the check that is shown: with its text and without."""
    result = camera.page.url
    for number, name in enumerate(("shared", "shared-with-text")):
        camera.page.goto(result)
        if not number:
            camera.page.click("#share summary")
        else:
            camera.page.check("#share input[name=with_text]")
        camera.page.click("#share > form:last-of-type button")
        camera.page.wait_for_selector(f"#share-{number + 1}")
        camera.take(name, camera.page.input_value("#share-1"))
    camera.take("result-shares", result)


class _context:
    """A fresh browser profile; closed at the end."""

    def __init__(self, browser: Browser, base: str, language: str, width: int) -> None:
        self.context: BrowserContext = browser.new_context(
            base_url=base, locale=language, viewport={"width": width, "height": WIDTHS[width]}
        )

    def __enter__(self) -> BrowserContext:
        return self.context

    def __exit__(self, *_details: object) -> None:
        self.context.close()


def _refused(camera: Camera) -> None:
    """The form with an error at its box."""
    camera.page.goto("/")
    camera.page.fill("#text", "   ")
    camera.page.click("form[data-check] button[type=submit]")
    camera.page.wait_for_selector("#text-error")
    camera.take("front-refused")


def _as_staff(camera: Camera, email: str) -> None:
    """The staff's pages, where the account can be made one of theirs: in a rehearsal, whose database is at hand."""
    if "DATABASE_URL" not in os.environ:
        return
    rights = "is_staff=True, is_superuser=True"
    _product(f"from billing.models import User; User.objects.filter(email='{email}').update({rights})")
    for name, address in STAFF_PAGES.items():
        camera.take(name, address)
    with camera.page.expect_response("**/staff/gpu/figures"):  # it renews itself
        camera.page.emulate_media(color_scheme="light")
    camera.suffix = camera.suffix.removesuffix("-dark")
    for name, address in STAFF_PAGES.items():
        camera.take(name, address)


def _as_subscriber(camera: Camera, email: str) -> None:
    """With a plan in each of its states, made of rows: where the database is at hand, as in a rehearsal."""
    if "DATABASE_URL" not in os.environ:
        return
    for state in ("late", "ending", "shrinking", "active"):
        _product(f"import sys; sys.path.insert(0, 'tests'); import plan_rows; plan_rows.show('{email}', '{state}')")
        camera.take(f"plan-{state}", "/plan/")
    for name, address in {"plan-cancel": "/plan/cancel/", "pricing-mine": "/pricing/", "team": "/team/"}.items():
        camera.take(name, address)
    asked = f"import sys; sys.path.insert(0, 'tests'); import plan_rows; print(plan_rows.invitation('{email}'))"
    camera.take("join-another", _product(asked).split()[-1])
    camera.take("team-invited", "/team/")
    camera.page.click("main .row-actions a.danger")
    camera.take("team-leave")


def _product(code: str) -> str:
    """Runs it inside the product. What it printed."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", code], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def seed() -> None:
    """Made-up days in an empty ledger."""
    _product(
        "import sys; sys.path.insert(0, 'tests'); import alert_seed, ledger_seed; from django.utils import timezone;"
        "from gpujobs.models import CostEntry;"
        "CostEntry.objects.exists() or (ledger_seed.fill(timezone.now()), alert_seed.fill(timezone.now()))"
    )


def _sign_up(camera: Camera) -> str:
    """Returns its address."""
    email = f"screens-{uuid.uuid4().hex[:10]}@example.com"
    camera.page.goto("/accounts/signup/")
    camera.page.fill("input[name=email]", email)
    camera.page.fill("input[name=password1]", PASSWORD)
    camera.page.click("main button[type=submit]")
    camera.page.wait_for_url("**/")
    return email


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", default=os.environ.get("BASE_URL", "http://127.0.0.1:8000"))
    parser.add_argument("--out", type=Path, default=Path("var/screens"))
    parser.add_argument("--seed", action="store_true", help="made-up days in an empty ledger; DATABASE_URL needed")
    parser.add_argument("--staff", action="store_true", help="only the staff's pages")
    parser.add_argument("--plans", action="store_true", help="only the pages about plan, payment and team")
    options = parser.parse_args(arguments)
    if options.seed:
        seed()
    look = shoot_staff if options.staff else shoot_plans if options.plans else shoot
    options.out.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for language, width in _views():
            print(f"{language} at {width} px", flush=True)  # noqa: T201
            problems += look(browser, options.base_url, options.out, language, width)
        browser.close()
    print("\n".join(problems) or f"Pictures are in {options.out}")  # noqa: T201
    return 1 if problems else 0


def _views() -> Iterator[tuple[str, int]]:
    for language in LANGUAGES:
        for width in WIDTHS:
            yield language, width


if __name__ == "__main__":
    sys.exit(main())
