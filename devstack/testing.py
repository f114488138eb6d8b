"""test and lint: the same environment for a newcomer and for CI, with servers that are thrown away."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from devstack import browser, install
from devstack.checkout import Checkout
from devstack.console import Console
from devstack.privileges import before_exec
from devstack.services import SERVERS, Services
from devstack.supervisor import Supervisor

FIXED_SECRET = "only-for-tests-" + "x" * 40
FIXED_SIGNING_KEY = "b25seS1mb3ItdGVzdHMtMzItYnl0ZXMtb2Yta2V5IS4"  # 32 bytes in base64url
# Checks that need no database; (what, command of the virtual environment).
LINTERS: tuple[tuple[str, ...], ...] = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy", "."),
    ("manage.py", "makemigrations", "--check", "--dry-run"),
)
# Tests that need none of our servers: they start whole stacks of their own, or calculate. About half of the time.
BESIDE = ("tests/flows", "tests/devstack", "tests/deploy", "tests/pod")
END_SECONDS = 30
FORMATTERS: tuple[tuple[str, ...], ...] = (("ruff", "check", "--fix", "."), ("ruff", "format", "."))


def test_environment() -> dict[str, str]:
    """The process environment without what would lead a test to somebody's real data."""
    ours = {
        "DEBUG": "1",
        "SECRET_KEY": FIXED_SECRET,
        "REPORT_SIGNING_KEY": FIXED_SIGNING_KEY,
        "INKCLOAK_IGNORE_DEV_ENV": "1",
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "CACHE_URL": "",
    }
    kept = {"DATABASE_URL": "TEST_DATABASE_URL", "REDIS_URL": "TEST_REDIS_URL", "CACHE_URL": "TEST_REDIS_URL"}
    given = {name: os.environ[source] for name, source in kept.items() if os.environ.get(source)}
    full = dict(os.environ) | ours | given
    return {key: value for key, value in full.items() if value or key not in kept}


def test(checkout: Checkout, arguments: Sequence[str]) -> int:
    """pytest with all packages, throw-away servers and a Chromium; its exit status."""
    console = Console()
    checkout.make_var()
    supervisor = Supervisor(console)
    install.ensure(checkout, install.ALL_EXTRAS, supervisor)
    base = Path(tempfile.mkdtemp(prefix="inkcloak-test-"))
    base.chmod(0o711)  # another user's server passes through; its own folders stay closed
    try:
        chromium = browser.ensure(checkout, supervisor, base / "browser.log")
        services = Services(checkout, base=base, logs=base, throw_away=True)
        found = services.start(supervisor, test_environment()) | {"CHROMIUM_PATH": str(chromium)}
        if arguments:
            return supervisor.run_foreground(_pytest(checkout, arguments), cwd=checkout.root, env=found)
        return _all(checkout, supervisor, found, base / "beside.log")
    finally:
        supervisor.stop_all(last=SERVERS)
        shutil.rmtree(base, ignore_errors=True)


def _all(checkout: Checkout, supervisor: Supervisor, env: Mapping[str, str], log: Path) -> int:
    """Every test, in two halves at the same time: much of it is waiting. The worse status of the two."""
    rest = [f"--ignore={folder}" for folder in BESIDE]
    with log.open("wb") as output:
        beside = subprocess.Popen(
            _pytest(checkout, BESIDE),
            cwd=checkout.root,
            env=_of_its_own(env),
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=before_exec(signal.SIGTERM),
        )
    try:
        status = supervisor.run_foreground(_pytest(checkout, rest), cwd=checkout.root, env=env)
        supervisor.wait_until(lambda: beside.poll() is not None)
    finally:
        _end(beside)
        sys.stdout.write(f"\n{' and '.join(BESIDE)}, which ran beside the tests above:\n")
        sys.stdout.write(log.read_text(encoding="utf-8", errors="replace"))
        sys.stdout.flush()
    return max(status, abs(int(beside.returncode)))


def _pytest(checkout: Checkout, arguments: Sequence[str]) -> list[str]:
    return [str(checkout.python), "-m", "pytest", *arguments]


def _of_its_own(env: Mapping[str, str]) -> dict[str, str]:
    """The same servers, with another database and other numbers in Redis."""
    database = urlsplit(env["DATABASE_URL"])
    others = {
        name: urlsplit(env[name])._replace(path=f"/{number}").geturl()
        for name, number in (("REDIS_URL", 8), ("CACHE_URL", 9))
    }
    return {**env, **others, "DATABASE_URL": database._replace(path=f"{database.path}_beside").geturl()}


def _end(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C would: pytest ends what its tests started."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def lint(checkout: Checkout) -> int:
    """Every linter, also after one has complained; 1 when any did."""
    return _tools(checkout, LINTERS)


def reformat(checkout: Checkout) -> int:
    """Let ruff put the code in order."""
    return _tools(checkout, FORMATTERS)


def _tools(checkout: Checkout, commands: Sequence[Sequence[str]]) -> int:
    console = Console()
    checkout.make_var()
    supervisor = Supervisor(console)
    install.ensure(checkout, install.ALL_EXTRAS, supervisor)
    # Settings want addresses; nothing here connects to them.
    nowhere = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
    environment = test_environment() | nowhere
    failed = 0
    for command in commands:
        argv = [str(checkout.python), *(command if command[0].endswith(".py") else ("-m", *command))]
        console.line(f"$ {' '.join(command)}")
        failed += supervisor.run_foreground(argv, cwd=checkout.root, env=environment) != 0
    return 1 if failed else 0


def python(checkout: Checkout, arguments: Sequence[str]) -> int:
    """The virtual environment's Python with all packages and nothing started (training)."""
    checkout.make_var()
    install.ensure(checkout, install.ALL_EXTRAS, Supervisor(Console()))
    os.chdir(checkout.root)
    os.execv(checkout.python, [str(checkout.python), *arguments])  # noqa: S606
