"""Every setting that is read from the environment stands in .env.example, and nothing else does."""

import json
import os
import re
import subprocess
import sys

import composed
import pytest

EXAMPLE = (composed.ROOT / ".env.example").read_text()
# Notes each name that settings.py asks for. A flag that opens more settings is on, DEBUG is off.
RECORDER = """
import json
from inkcloak import env
asked, raw = set(), env._raw
env._raw = lambda name: (asked.add(name), raw(name))[1]
import inkcloak.settings
print(json.dumps(sorted(asked)))
"""


def said_by(code: str, **changes: str) -> str:
    """What Python says with settings as in production and these changes."""
    production = {"DEBUG": "0", "DATABASE_POOL": "1", "INKCLOAK_IGNORE_DEV_ENV": "1", "SECRET_KEY": "x" * 50}
    addresses = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=composed.ROOT,
        env={"PATH": os.environ["PATH"]} | production | addresses | changes,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def read_by_settings() -> set[str]:
    return set(json.loads(said_by(RECORDER)))


def test_it_documents_every_setting_and_no_other() -> None:
    documented = re.findall(r"(?m)^([A-Z][A-Z0-9_]*)=", EXAMPLE)
    assert len(documented) == len(set(documented))
    read = read_by_settings()
    assert len(read) > 60
    assert read - set(documented) == set(), "read, but not in .env.example"
    assert set(documented) - read == set(), "in .env.example, but never read"


def test_nobody_reads_the_environment_by_another_way() -> None:
    """A setting that env.py doesn't know is documented nowhere."""
    files = [
        path for app in ("inkcloak", "billing", "detector", "gpujobs") for path in (composed.ROOT / app).rglob("*.py")
    ]
    pod, client = composed.ROOT / "gpujobs" / "pod", composed.ROOT / "inkcloak" / "client"
    ours = [path for path in files if not {pod, client} & set(path.parents)]
    reading = re.compile(r"os\.environ(?!\.setdefault\(\"DJANGO_SETTINGS_MODULE\")|os\.getenv|^from os import", re.M)
    found = {str(path.relative_to(composed.ROOT)) for path in ours if reading.search(path.read_text())}
    assert found == {"inkcloak/env.py"} | {name for name in found if "docs_examples" in name}


def test_each_line_stands_for_a_value_that_may_be_left_as_it_is() -> None:
    """A copy of the file, uncommented, must not surprise: defaults are the code's own or empty."""
    values = dict(re.findall(r"(?m)^([A-Z][A-Z0-9_]*)=(.*)$", EXAMPLE))
    assert (values["DEBUG"], values["SECRET_KEY"], values["STRIPE_SECRET_KEY"], values["RUNPOD_API_KEY"]) == (
        "0",
        "",
        "",
        "",
    )


@pytest.mark.parametrize(
    ("security", "flags"),
    [("", "True False"), ("starttls", "True False"), ("tls", "False True"), ("none", "False False")],
)
def test_mail_is_encrypted_unless_somebody_says_no(security: str, flags: str) -> None:
    ask = "from inkcloak import settings as s; print(s.EMAIL_USE_TLS, s.EMAIL_USE_SSL)"
    assert said_by(ask, EMAIL_SECURITY=security) == flags
