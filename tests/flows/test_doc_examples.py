"""Every example of the API's page, in curl and in Python, run as it stands against the running product; and the Python
of docs/client.md and docs/webhooks.md.

A reader has to put in what the page can't know: the key, ids, and the address of a receiver of webhooks. So do we.
"""

import ast
import contextlib
import html
import io
import json
import logging
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import samples
from product import REPOSITORY, Product
from standardwebhooks import Webhook

from inkcloak.client.webhooks import WebhookError
from tests.loopback import webhook_receiver

MAKE_KEYS = """
import json
from django.utils import timezone
from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
tokens = {}
for name in ("curl", "python", "docs"):
    user = User.objects.create_user(f"{name}-examples@example.com", "a long enough password")
    made = keys.issue(account=account_of(user), name=name, scopes=Scope.values, now=timezone.now(), created_by=user)
    tokens[name] = made.token
print("keys:", json.dumps(tokens))
"""
ARTICLE = re.compile(
    r'<article id="(?P<id>\w+)".*?<b>(?P<method>[A-Z]+)</b><code>(?P<path>[^<]+)</code>.*?'
    r'<pre data-example="curl" tabindex="0">(?P<curl>.*?)</pre>.*?'
    r'<pre data-example="python" tabindex="0">(?P<python>.*?)</pre>',
    re.DOTALL,
)
VARIABLE = re.compile(r"\{(\w+)\}")
RECEIVER = "https://example.com/inkcloak"  # the page's
# Whose answer has an id for an address that isn't its own with one more part.
GIVES = {"create_batch": "BATCH_ID", "test_webhook": "DELIVERY_ID"}
STATUS_LAST = 'write-out = "\\n%{http_code}"\n'  # in .curlrc: the examples stay as they stand
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "sh", "json", "http"}


@dataclass(frozen=True)
class Example:
    """One operation's."""

    id: str
    method: str
    path: str
    curl: str
    python: str

    @property
    def wants(self) -> set[str]:
        return {name.upper() for name in VARIABLE.findall(self.path)}


@dataclass
class Reader:
    """Somebody who tries one example after the other. run: an example -> what is in its answer, None for nothing."""

    run: Callable[[Example, dict[str, str]], Any]
    known: dict[str, str]
    tried: list[str] = field(default_factory=list)

    def try_all(self, examples: list[Example]) -> None:
        """What makes things before what needs them; what deletes comes last, the innermost first."""
        gives = {example.id: given(example, examples) for example in examples}
        open_ = sorted(
            examples, key=lambda one: (one.method == "DELETE", -len(one.path) if one.method == "DELETE" else 0)
        )
        while open_:
            ready = next((one for one in open_ if one.wants <= self.known.keys()), None)
            assert ready is not None, f"nothing gives what these need: {open_}"
            assert ready.method != "DELETE" or all(one.method == "DELETE" for one in open_), open_
            open_.remove(ready)
            answer = self.run(ready, self.known)
            self.tried.append(ready.id)
            if name := gives[ready.id]:
                self.known[name] = str(answer["id"])


def given(example: Example, examples: list[Example]) -> str | None:
    """The variable that its answer fills: of `POST /x` what `/x/{x_id}` wants."""
    if example.method != "POST":
        return None
    inner = [re.fullmatch(re.escape(example.path) + r"/\{(\w+)\}", other.path) for other in examples]
    return GIVES.get(example.id) or next((found[1].upper() for found in inner if found), None)


@pytest.fixture(scope="module")
def tokens(product: Product) -> dict[str, str]:
    """A key that may do everything for each way of trying, of an account of its own."""
    done = product.manage("shell", "-c", MAKE_KEYS)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("keys: ")]
    found: dict[str, str] = json.loads(line.removeprefix("keys: "))
    return found


@pytest.fixture(scope="module")
def examples(product: Product) -> list[Example]:
    page = httpx.get(f"{product.url}/api/docs/", timeout=60).raise_for_status().text
    found = [
        Example(**{name: html.unescape(value) for name, value in one.groupdict().items()})
        for one in ARTICLE.finditer(page)
    ]
    assert len(found) == page.count("<article ")
    contract = httpx.get(f"{product.url}/api/schema.json", timeout=60).json()
    assert {(one.method.lower(), one.path) for one in found} == {
        (method, path) for path, item in contract["paths"].items() for method in item
    }
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the file that the page speaks of."""
    (tmp_path / "essay.txt").write_text(samples.HUMAN, encoding="utf-8")
    (tmp_path / ".curlrc").write_text(STATUS_LAST)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def receiver_url() -> Iterator[str]:
    with webhook_receiver.receiver() as made:
        yield made.url


def by_curl(example: Example, variables: dict[str, str], receiver_url: str, folder: Path) -> Any:
    done = subprocess.run(
        ["bash", "-c", example.curl.replace(RECEIVER, receiver_url)],
        cwd=folder,
        env=dict(os.environ) | {"CURL_HOME": str(folder)} | variables,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    body, _line, status = done.stdout.rpartition("\n")
    assert status[:1] == "2", (example.id, done.stdout, done.stderr)
    return json.loads(body) if body.startswith("{") and "\n" not in body else None


def by_python(example: Example, variables: dict[str, str], receiver_url: str, patch: pytest.MonkeyPatch) -> Any:
    for name, value in variables.items():
        patch.setenv(name, value)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(example.python.replace(RECEIVER, receiver_url), example.id, "exec"), {})  # noqa: S102 - our own page
    printed = said.getvalue()
    return ast.literal_eval(printed) if printed.startswith("{") else None


def test_each_example_in_curl_works(
    examples: list[Example], tokens: dict[str, str], receiver_url: str, folder: Path
) -> None:
    reader = Reader(lambda one, known: by_curl(one, known, receiver_url, folder), {"INKCLOAK_API_KEY": tokens["curl"]})
    reader.try_all(examples)
    assert sorted(reader.tried) == sorted(example.id for example in examples)


@pytest.mark.usefixtures("folder")
def test_each_example_in_python_works(
    examples: list[Example], tokens: dict[str, str], receiver_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"INKCLOAK_API_KEY": tokens["python"]}
    reader = Reader(lambda one, known: by_python(one, known, receiver_url, monkeypatch), known)
    reader.try_all(examples)
    assert sorted(reader.tried) == sorted(example.id for example in examples)


# --- docs/client.md, docs/webhooks.md -------------------------------------------------------------------------


def python_of(name: str) -> list[str]:
    """The page's blocks of Python. Every block says what it is; code without a fence would escape us."""
    page = (REPOSITORY / "docs" / name).read_text(encoding="utf-8")
    blocks = FENCE.findall(page)
    assert {language for language, _code in blocks} <= LANGUAGES
    assert not re.search(r"^ {4}", FENCE.sub("", page), re.MULTILINE)
    return [code for language, code in blocks if language == "python"]


def test_the_python_of_the_page_about_the_client_works(
    product: Product, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INKCLOAK_URL", product.url)
    monkeypatch.setenv("INKCLOAK_API_KEY", tokens["docs"])
    blocks = python_of("client.md")
    assert len(blocks) >= 2
    for number, code in enumerate(blocks):
        names: dict[str, Any] = {"text": samples.AI, "log": logging.getLogger("docs")}
        exec(compile(code, f"client.md {number}", "exec"), names)  # noqa: S102 - our own page
        assert names["found"].verdict == "ai"
    assert capsys.readouterr().out.startswith("ai 0.")


def test_the_receiver_of_the_page_about_webhooks_works() -> None:
    secret, known, handled = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", set[str](), list[Any]()

    def known_before(message_id: str) -> bool:
        was_known = message_id in known
        known.add(message_id)
        return was_known

    names: dict[str, Any] = {"SECRET": secret, "known_before": known_before, "handle_later": handled.append}
    (code,) = python_of("webhooks.md")
    exec(compile(code, "webhooks.md", "exec"), names)  # noqa: S102 - our own page
    body, now = '{"type": "webhook.test", "timestamp": "2026-06-15T12:00:00Z", "data": {}}', datetime.now(UTC)
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("evt_1", now, body),
    }
    receive = names["receive"]
    assert issubclass(names["WebhookError"], WebhookError)
    assert (receive(body.encode(), headers), receive(body.encode(), headers)) == (200, 200)
    assert receive(body.encode() + b" ", headers) == 400
    assert [event["type"] for event in handled] == ["webhook.test"]
