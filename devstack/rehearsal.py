"""The whole product on throw-away servers and a free port, while one tool (screens, benchmarks) looks at it."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from devstack import browser, envfile, install, ports, programs
from devstack.checkout import Checkout
from devstack.console import Console
from devstack.services import SERVERS, Services, development_environment
from devstack.stack import bring_up
from devstack.supervisor import Supervisor
from devstack.testing import test_environment

HOST = "127.0.0.1"
# A tool checks more than a visitor may: the limits are not what it looks at. It checks the same text again and again,
# and what it looks at is the model: an earlier verdict is no answer.
GENEROUS = {
    "VISITOR_CHECKS_PER_DAY": "1000000",
    "POSTS_PER_MINUTE": "1000000",
    "FREE_WORDS_PER_MONTH": "1000000000",
    "REUSE_DAYS": "0",
    "API_REQUESTS_PER_MINUTE": "1000000",
    "API_ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
    "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
}


def tool(checkout: Checkout, arguments: Sequence[str]) -> int:
    """`python -m …` with BASE_URL, CHROMIUM_PATH and the product's own addresses; its exit status."""
    supervisor = Supervisor(Console())
    checkout.make_var()
    install.ensure(checkout, install.ALL_EXTRAS, supervisor)
    base = Path(tempfile.mkdtemp(prefix="inkcloak-rehearsal-"))
    base.chmod(0o711)  # another user's server passes through; its own folders stay closed
    apart = replace(checkout, var=base)
    apart.make_var()
    try:
        chromium = browser.ensure(checkout, supervisor, apart.logs / "browser.log")
        environment = development_environment(apart, test_environment() | GENEROUS, ports.free_port())
        services = Services(apart, base=base, logs=apart.logs, throw_away=True)
        bring_up(programs.product(apart, HOST), apart, supervisor, services, environment)
        addresses = envfile.read(apart.dev_env)
        there = {"BASE_URL": f"http://{HOST}:{environment['PORT']}", "CHROMIUM_PATH": str(chromium)}
        command = [str(checkout.python), "-m", *arguments]
        return supervisor.run_foreground(command, cwd=checkout.root, env=environment | addresses | there)
    finally:
        supervisor.stop_all(last=SERVERS)
        shutil.rmtree(base, ignore_errors=True)
