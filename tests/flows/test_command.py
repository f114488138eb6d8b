"""The command `inkcloak` as a user has it: a process of its own against the running product and its model."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
import samples
from product import REPOSITORY, Product

EMAIL = "command@example.com"
MAKE_USER = f"from billing.models import User; User.objects.filter(email='{EMAIL}').exists() or \
User.objects.create_user('{EMAIL}', 'a long enough password')"
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def key(product: Product) -> str:
    product.manage("shell", "-c", MAKE_USER)
    made = product.manage("create_api_key", "--email", EMAIL)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture
def inkcloak(product: Product, tmp_path: Path) -> Command:
    """The command, for a user without a past."""

    def running(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INKCLOAK_")}
        ours = {
            "INKCLOAK_CONFIG_DIR": str(tmp_path / "config"),
            "INKCLOAK_URL": product.url,
            "PYTHONPATH": str(REPOSITORY),
        }
        return subprocess.run(
            [sys.executable, "-m", "inkcloak.client", *arguments],
            cwd=tmp_path,
            env=kept | ours,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return running


def test_from_a_key_to_the_end_of_a_pipeline(product: Product, inkcloak: Command, key: str, tmp_path: Path) -> None:
    assert inkcloak("login", stdin=key).returncode == 0
    alone = inkcloak("check", "--json", "-", stdin=samples.AI)
    assert alone.returncode == 0, alone.stderr
    found = json.loads(alone.stdout)["detection"]
    known = product.check_text(samples.AI)
    assert (found["verdict"], found["probability"]) == (known["verdict"], pytest.approx(known["probability"], abs=1e-4))

    essays = tmp_path / "essays"
    essays.mkdir()
    (essays / "austen.md").write_text(samples.HUMAN, encoding="utf-8")
    (essays / "machine.txt").write_text(f"{samples.AI}\n", encoding="utf-8")
    (essays / "page.html").write_text(f"<p>{samples.AI}</p>", encoding="utf-8")
    document = docx.Document()
    document.add_paragraph(samples.HUMAN)
    document.save(str(essays / "austen.docx"))
    many = inkcloak("check", "--json", "--fail-over", "0.9", "--no-store", "essays")
    lines = {line["name"]: line["detection"] for line in map(json.loads, many.stdout.splitlines())}
    assert sorted(lines) == ["essays/austen.docx", "essays/austen.md", "essays/machine.txt", "essays/page.html"], (
        many.stderr
    )
    assert lines["essays/machine.txt"]["probability"] == pytest.approx(found["probability"], abs=1e-4)
    assert lines["essays/page.html"]["probability"] == pytest.approx(found["probability"], abs=1e-4)
    assert lines["essays/austen.md"]["probability"] == pytest.approx(
        lines["essays/austen.docx"]["probability"], abs=1e-4
    )
    assert many.returncode == (1 if found["probability"] > 0.9 else 0)

    usage = json.loads(inkcloak("usage", "--json").stdout)
    charged = sum(line["usage"]["words_charged"] for line in (found, *lines.values()))
    assert (usage["words"]["used"], usage["words"]["held"]) == (charged, 0)


def test_a_wrong_key_is_refused_by_name(inkcloak: Command) -> None:
    refused = inkcloak("login", stdin="ink_live_nonsense")
    assert refused.returncode == 3
    assert "malformed_key" in refused.stderr
