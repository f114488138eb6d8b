"""`make run-gpu-demo` is the product with one address changed, and a loopback RunPod that is as its settings want."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from devstack import envfile, gpu_demo
from devstack.checkout import Checkout
from devstack.services import Services, running_environment

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "http://127.0.0.1:8400"
ASK = """
import json
from django.conf import settings
from gpujobs import endpoints
urls = [settings.RUNPOD_BASE_URL, settings.RUNPOD_REST_URL, settings.RUNPOD_GRAPHQL_URL]
want = endpoints.wanted()
print(json.dumps({"urls": urls, "template": want.template(), "endpoint": want.endpoint()}))
"""


def made(tmp_path: Path):
    checkout = Checkout.at(tmp_path)
    stack = gpu_demo.stack(checkout, "127.0.0.9", 8400)
    return checkout, stack


def settings_with(environment: dict[str, str]) -> dict:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("RUNPOD_")}
    django = {"DJANGO_SETTINGS_MODULE": "inkcloak.settings", "INKCLOAK_IGNORE_DEV_ENV": "1", "SECRET_KEY": "x" * 50,
              "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=kept | django | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_address_differs_from_the_real_service() -> None:
    demo = gpu_demo.environment_of(ADDRESS)
    assert [name for name, value in demo.items() if "://" in value] == ["RUNPOD_LOOPBACK_URL"]
    assert settings_with(demo)["urls"] == [f"{ADDRESS}/v2", f"{ADDRESS}/v2", f"{ADDRESS}/graphql"]
    assert settings_with(demo | {"RUNPOD_LOOPBACK_URL": ""})["urls"] == [
        "https://api.runpod.ai/v2",
        "https://api.runpod.io/v2",
        "https://api.runpod.io/graphql",
    ]


def test_the_loopback_endpoint_is_as_the_settings_want_it(tmp_path: Path) -> None:
    checkout, stack = made(tmp_path)
    (server,) = stack.before({})
    words = dict(zip(server.argv[3::2], server.argv[4::2], strict=True))
    assert (words["--port"], words["--key"]) == ("8400", stack.environment["RUNPOD_API_KEY"])
    assert words["--endpoint"] == stack.environment["RUNPOD_ENDPOINT_ID"] == stack.environment["RUNPOD_ENDPOINT_NAME"]
    assert words["--image"] == stack.environment["RUNPOD_IMAGE"]
    assert shlex.split(words["--command"]) == [str(checkout.python), "-m", "gpujobs.pod.handler"]
    given = json.loads(words["--settings"])
    want = settings_with(dict(stack.environment))["endpoint"]
    assert {name: want[name] for name in given} == given
    assert want["flashboot"] == "OFF"  # what the server makes by itself


def test_it_changes_nothing_else_of_the_product(tmp_path: Path) -> None:
    _, stack = made(tmp_path)
    table = {program.name: program for program in stack.programs({"PORT": "8123", **stack.environment})}
    assert list(table) == ["web", "score", "gpu", "steps", "beat"]
    assert stack.ready_line.format(port=8123).startswith("InkCloak is ready: http://127.0.0.1:8123\n")
    assert f"{ADDRESS}/_control/state" in stack.ready_line


def test_a_command_beside_it_asks_the_loopback_runpod_whatever_the_person_has_set(tmp_path: Path) -> None:
    checkout, stack = made(tmp_path)
    checkout.make_var()
    services = Services(checkout, base=checkout.var, logs=checkout.logs)
    services.publish({"DEBUG": "1", **stack.environment}, stack.environment)
    theirs = {"RUNPOD_API_KEY": "rpa_real", "RUNPOD_BASE_URL": "https://api.runpod.ai/v2", "DEBUG": "0"}
    seen = running_environment(checkout, theirs)
    assert (seen["RUNPOD_API_KEY"], seen["RUNPOD_BASE_URL"], seen["DEBUG"]) == (gpu_demo.KEY, "", "0")


@pytest.mark.parametrize("left", [True, False])
def test_its_settings_do_not_outlive_it(tmp_path: Path, left: bool) -> None:
    checkout, stack = made(tmp_path)
    checkout.make_var()
    services = Services(checkout, base=checkout.var, logs=checkout.logs)
    services.publish({"DATABASE_URL": "d", **stack.environment}, stack.environment)
    assert envfile.read(checkout.dev_env)["SCORING_POLICY"] == "gpu"
    if left:
        services.withdraw(stack.environment)
        assert envfile.read(checkout.dev_env) == {"DATABASE_URL": "d"}
    else:  # it was killed: the next `make run` writes its own
        services.publish({"DATABASE_URL": "d"})
        assert envfile.read(checkout.dev_env) == {"DATABASE_URL": "d"}
