"""A report from the running product, checked by the command as whoever got it would: from the service, then offline."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import samples
from product import REPOSITORY, Product, Visitor

Run = Callable[..., "subprocess.CompletedProcess[str]"]
EMAIL = "reports@example.com"
MAKE_USER = f"from billing.models import User; User.objects.create_user('{EMAIL}', 'a long enough password')"


@pytest.fixture
def inkcloak(product: Product, tmp_path: Path) -> Run:
    """The command of somebody who has no key."""

    def running(*arguments: str, url: str = product.url) -> "subprocess.CompletedProcess[str]":
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INKCLOAK_")}
        ours = {"INKCLOAK_CONFIG_DIR": str(tmp_path / "config"), "INKCLOAK_URL": url, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.run(
            [sys.executable, "-m", "inkcloak.client", *arguments],
            cwd=tmp_path, env=kept | ours, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return running


@pytest.fixture
def api(product: Product) -> httpx.Client:
    product.manage("shell", "-c", MAKE_USER)
    made = product.manage("create_api_key", "--email", EMAIL)
    headers = {"Authorization": f"Bearer {made.stdout.strip()}", "Prefer": "wait=60"}
    return httpx.Client(base_url=f"{product.url}/api/v1", headers=headers, timeout=90)


def test_it_is_believed_as_it_was_made_and_refused_when_changed(
    product: Product, api: httpx.Client, inkcloak: Run, tmp_path: Path
) -> None:
    made = api.post("/detections", json={"text": samples.AI}).json()
    answer = api.get(f"/detections/{made['id']}/report", params={"include_text": "true"})
    assert answer.status_code == 200, answer.text
    (tmp_path / "report.json").write_bytes(answer.content)
    changed = answer.json()
    changed["report"]["probability"] = 0.01
    (tmp_path / "changed.json").write_text(json.dumps(changed))

    asked = inkcloak("verify", "report.json")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "the signature is good" in asked.stdout
    assert f"text_sha256      {answer.json()['report']['text_sha256']}" in asked.stdout
    refused = inkcloak("verify", "changed.json")
    assert (refused.returncode, "bad_signature" in refused.stdout) == (1, True)

    (tmp_path / "keys.json").write_bytes(httpx.get(f"{product.url}/.well-known/inkcloak-keys.json").content)
    nowhere = "http://127.0.0.1:1"
    for how in (["--offline"], []):
        kept = inkcloak("verify", *how, "--keys", "keys.json", "report.json", url=nowhere)
        assert kept.returncode == 0, kept.stdout + kept.stderr
    assert inkcloak("verify", "--offline", "report.json").returncode == 0


def test_a_visitor_takes_report_and_history_from_the_pages(visitor: Visitor, inkcloak: Run, tmp_path: Path) -> None:
    result = visitor.post(samples.HUMAN)
    visitor.verdict(result)
    address = re.search(r'formaction="(/checks/[0-9a-f-]+/report\.json)"', visitor.page(result))
    assert address is not None
    (tmp_path / "page.json").write_bytes(visitor.http.get(address[1]).content)
    assert inkcloak("verify", "page.json").returncode == 0
    pdf = visitor.http.get(address[1].replace(".json", ".pdf"), params={"include_text": "true"})
    assert (pdf.headers["content-type"], pdf.content[:5]) == ("application/pdf", b"%PDF-")
    table = visitor.http.get("/history/export", params={"format": "csv", "include_text": "true"})
    rows = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"), newline="")))
    assert [row["text"] for row in rows] == [samples.HUMAN]
