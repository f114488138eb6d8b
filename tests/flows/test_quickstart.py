"""The quickstart, followed as a reader follows it: sign up, make a key, and run the page's own commands as they stand.

From the page come the code blocks and what they print ("…" stands for anything); from here nothing but the key, put
where the page says so. `pip install -e .` is what `make test` has done to this checkout before; the outcome is tried.
"""

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from product import REPOSITORY, Product, hidden

EMAIL = "you@example.com"  # the page's
PASSWORD = "a-harbour-with-9-boats"
PLACEHOLDER = "ink_live_…"
BLOCK = re.compile(r'<pre data-(?:run="(\w+)"|shows(?:="json")?) tabindex="0">(.*?)</pre>', re.DOTALL)
BETWEEN = "\x1e"  # printed after each block
SCRIPTS = Path(sys.executable).parent


@dataclass
class Block:
    """Code of the page. how: bash, python, install, server (where the site runs).  shows: what it prints."""

    how: str
    code: str
    shows: str = ""


@pytest.fixture
def reader(product: Product) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=product.url, timeout=60, follow_redirects=True) as http:
        yield http


def blocks_of(page: str) -> list[Block]:
    found: list[Block] = []
    for how, escaped in BLOCK.findall(page):
        text = html.unescape(escaped)
        if how:
            found.append(Block(how, text))
        else:
            found[-1].shows = text
    return found


def send(reader: httpx.Client, address: str, fields: dict[str, str]) -> str:
    """A form of a page, filled in; the page that answers."""
    page = reader.get(address).raise_for_status().text
    token = hidden(page, "csrfmiddlewaretoken")
    checked = re.findall(r'<input type="(?:checkbox|radio)" name="(\w+)" value="([^"]+)" checked>', page)
    chosen = {name: [value for one, value in checked if one == name] for name, _value in checked}
    answer = reader.post(address, data={**chosen, **fields, "csrfmiddlewaretoken": token})
    return answer.raise_for_status().text


def environment(tmp_path: Path) -> dict[str, str]:
    """Of somebody who has InkCloak installed and never used it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("INKCLOAK_", "PYTHON"))}
    ours = {"PATH": f"{SCRIPTS}:{kept['PATH']}", "INKCLOAK_CONFIG_DIR": str(tmp_path / "config")}
    return kept | ours


def run_all(blocks: Sequence[Block], folder: Path) -> list[str]:
    """What each of them prints, run one after the other in one terminal."""
    lines = []
    for number, block in enumerate(blocks):
        if block.how == "python":
            (folder / f"block{number}.py").write_text(block.code, encoding="utf-8")
        lines += [block.code if block.how == "bash" else f"python block{number}.py", f"printf '{BETWEEN}'"]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split(BETWEEN)[:-1]


def test_its_commands_do_what_the_page_says(product: Product, reader: httpx.Client, tmp_path: Path) -> None:
    blocks = blocks_of(reader.get("/api/docs/quickstart/").raise_for_status().text)
    assert [block.how for block in blocks].count("bash") >= 5
    assert f"export INKCLOAK_URL={product.url}\n" in blocks[1].code

    send(reader, "/accounts/signup/", {"email": EMAIL, "password1": PASSWORD})
    (token,) = re.findall(r'id="token" value="(ink_live_\w+)"', send(reader, "/keys/", {"name": "quickstart"}))
    (placed,) = [block for block in blocks if PLACEHOLDER in block.code]
    placed.code = placed.code.replace(PLACEHOLDER, token)

    ours = [block for block in blocks if block.how in ("bash", "python")]
    printed = run_all(ours, tmp_path)
    for block, said in zip(ours, printed, strict=True):
        pattern = ".*?".join(map(re.escape, block.shows.split("…")))
        assert not block.shows or re.fullmatch(pattern, said.strip("\n"), re.DOTALL), f"{block.code}\n{said}"


def test_the_command_of_whoever_runs_it_makes_a_key_that_works(
    product: Product, reader: httpx.Client, tmp_path: Path
) -> None:
    product.manage(
        "shell",
        "-c",
        f"from billing.models import User; User.objects.filter(email='{EMAIL}') or User.objects.create_user('{EMAIL}')",
    )
    page = reader.get("/api/docs/quickstart/").text
    (server,) = [block for block in blocks_of(page) if block.how == "server"]
    made = subprocess.run(
        ["bash", "-c", server.code],
        cwd=REPOSITORY,
        env=product.environment() | {"PATH": f"{SCRIPTS}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    usage = reader.get("/api/v1/usage", headers={"Authorization": f"Bearer {made.stdout.strip()}"})
    assert usage.json()["live"] is True


def test_the_installation_that_it_names_gives_command_and_client(reader: httpx.Client, tmp_path: Path) -> None:
    """Outside of the checkout, so that it is the installation that is found."""
    page = reader.get("/api/docs/quickstart/").text
    assert [block.code for block in blocks_of(page) if block.how == "install"] == ["pip install -e ."]
    for command in (["inkcloak", "--version"], ["python", "-c", "import inkcloak.client"]):
        done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
