"""Each service's command line is run as it stands in docker-compose.yml, until it says that it is ready, and ended."""

import http.client
import signal

import composed
import pytest
from running import Deployment, eventually

WORKERS = ("worker-score", "worker-steps", "worker-gpu")


def get(port: int, path: str, **headers: str) -> http.client.HTTPResponse:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    link.request("GET", path, headers={"Host": composed.SITE} | headers)
    answer = link.getresponse()
    answer.body = answer.read()
    return answer


def test_it_runs_every_service_that_the_file_has(deployment: Deployment) -> None:
    assert set(composed.services()) == set(deployment.running) | {"migrate", "proxy"}
    assert [name for name, process in deployment.running.items() if process.poll() is not None] == []


def test_migrations_leave_a_model_in_service(deployment: Deployment) -> None:
    assert deployment.rows("SELECT count(*) FROM gpujobs_modelalias WHERE name = 'champion'") == [(1,)]
    again = deployment.once("migrate")
    assert (again.returncode, "champion:" in again.stderr) == (0, False), again.stderr


def test_its_settings_pass_the_checks_for_a_deployment(deployment: Deployment) -> None:
    done = deployment.once("web", ["python", "manage.py", "check", "--deploy", "--fail-level", "WARNING"])
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_it_refuses_to_start_with_a_secret_that_is_missing(deployment: Deployment) -> None:
    secret = deployment.secrets / "secret_key"
    aside = secret.rename(secret.with_suffix(".aside"))
    try:
        done = deployment.once("web", ["python", "manage.py", "check"])
    finally:
        aside.rename(secret)
    assert done.returncode != 0
    assert "SECRET_KEY_FILE names a file that can't be read: No such file or directory" in done.stderr


def test_pages_come_with_their_files_and_only_by_https(deployment: Deployment) -> None:
    port = deployment.ports["web"]
    plain = get(port, "/")
    assert (plain.status, plain.headers["Location"]) == (301, f"https://{composed.SITE}/")
    page = get(port, "/", **{"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"})
    assert page.status == 200
    assert "server" not in page.headers
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
    style = page.body.decode().split('rel="stylesheet" href="')[1].split('"')[0]
    file = get(port, style, **{"X-Forwarded-Proto": "https"})
    assert (file.status, "immutable" in file.headers["Cache-Control"]) == (200, True)
    assert get(port, "/", Host="elsewhere.example").status == 400


@pytest.mark.parametrize("service", ["web", *WORKERS, "beat"])
def test_its_health_check_says_that_it_is_alive(deployment: Deployment, service: str) -> None:
    kind, *line = composed.services()[service]["healthcheck"]["test"]
    assert kind == "CMD"
    done = eventually(lambda: (tried := deployment.once(service, line)).returncode == 0 and tried, f"{service} alive")
    assert done.stderr == ""


def test_its_health_check_notices_that_nobody_is_there(deployment: Deployment) -> None:
    done = deployment.once("web", ["python", "-m", "inkcloak.alive", "worker", "nobody"])
    assert (done.returncode, "does not answer" in done.stderr) == (1, True)


def test_a_text_gets_its_verdict(deployment: Deployment) -> None:
    text = deployment.base / "essay.txt"
    text.write_text("The harbour was quiet that morning, and nobody had come to unload the boats yet. " * 12)
    done = deployment.once("web", ["python", "manage.py", "check_text", str(text), "--json"])
    assert done.returncode == 0, done.stderr
    assert '"verdict"' in done.stdout


def test_what_it_needs_fits_the_limits(deployment: Deployment) -> None:
    """Resident memory of a service after a start and one check, measured here, leaves room below its limit."""
    needed = {name: deployment.memory_mb(name) for name in deployment.running}
    allowed = {name: composed.memory_mb(composed.services()[name]) for name in needed}
    print(needed)  # noqa: T201 - for docs/deploy.md: pytest -rP
    assert min(needed.values()) > 1, needed
    assert {name for name in needed if needed[name] > allowed[name] * 0.6} == set(), needed


def test_every_service_ends_when_it_is_told_to(deployment: Deployment) -> None:
    """The last test of the file: in the order in which Compose would, and each within its time."""
    order = [*WORKERS, "beat", "web", "redis-cache", "redis-broker", "postgres"]
    statuses = {name: deployment.end(name) for name in order}
    # uvicorn finishes and then ends by the signal that it was sent.
    assert statuses == dict.fromkeys(order, 0) | {"web": -signal.SIGTERM}
    assert "Finished server process" in deployment.log("web").read_text()
    assert deployment.running == {}
