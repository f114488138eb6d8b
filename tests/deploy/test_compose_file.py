"""docker-compose.yml: read by a parser of the specification, and every service closed as far as its work allows."""

import re
import tomllib

import compose_spec
import composed
import pytest
import yaml
from django.conf import settings

SERVICES = composed.services()
GUIDE = composed.ROOT / "docs" / "deploy.md"
APP = [name for name, service in SERVICES.items() if service["image"].startswith("inkcloak:")]
# A tag of its own: at least a version of two numbers, never a word.
PINNED = re.compile(r"[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?")


def test_it_is_a_compose_file_as_the_specification_has_it() -> None:
    read = compose_spec.PyCompose.from_yaml(yaml.safe_dump(composed.compose()))
    assert set(read.service_names()) == set(SERVICES)
    broken = yaml.safe_dump({"services": {"web": SERVICES["web"] | {"read-only": True}}})
    with pytest.raises(ValueError, match="read-only"):  # the parser does look
        compose_spec.PyCompose.from_yaml(broken)


def test_it_has_the_services_that_the_product_needs() -> None:
    ours = {"migrate", "web", "worker-score", "worker-steps", "worker-gpu", "beat"}
    assert set(SERVICES) == ours | {"postgres", "redis-broker", "redis-cache", "proxy"}
    assert {name for name in SERVICES if "profiles" in SERVICES[name]} == {"worker-gpu"}


def test_it_needs_the_name_of_the_site() -> None:
    with pytest.raises(KeyError, match="SITE"):
        composed.compose({})
    assert SERVICES["web"]["environment"]["PUBLIC_URL"] == f"https://{composed.SITE}"


def test_it_runs_this_release_unless_told_otherwise() -> None:
    version = tomllib.loads((composed.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {SERVICES[name]["image"] for name in APP} == {f"inkcloak:{version}"}
    other = composed.compose({"SITE": composed.SITE, "INKCLOAK_VERSION": "9.8.7"})["services"]
    assert (other["web"]["image"], other["proxy"]["image"]) == ("inkcloak:9.8.7", "inkcloak-proxy:9.8.7")


@pytest.mark.parametrize("name", SERVICES)
def test_it_gives_no_service_more_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    uid, gid = map(int, service["user"].split(":"))
    assert uid > 0
    assert gid > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(":" in place for place in service["tmpfs"])
    assert not {"privileged", "pid", "ipc", "network_mode", "devices", "extra_hosts"} & set(service)
    assert not [volume for volume in service.get("volumes", []) if volume.startswith((".", "/"))]


@pytest.mark.parametrize("name", SERVICES)
def test_it_pins_limits_and_watches_every_service(name: str) -> None:
    service = SERVICES[name]
    assert PINNED.fullmatch(service["image"])
    limits = service["deploy"]["resources"]["limits"]
    assert set(limits) == {"cpus", "memory", "pids"}
    assert composed.memory_mb(service) >= 64
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "3"}
    once = name == "migrate"
    assert service["restart"] == ("no" if once else "unless-stopped")
    if once:
        assert service["healthcheck"] == {"disable": True}
    else:
        assert {"test", "interval", "timeout", "retries", "start_period"} <= set(service["healthcheck"])


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert {name for name in SERVICES if "ports" in SERVICES[name]} == {"proxy"}
    assert composed.compose()["networks"]["inside"] == {"internal": True}
    outside = {name for name in SERVICES if "outside" in SERVICES[name]["networks"]}
    assert outside == {"proxy", "web", "worker-steps", "worker-gpu"}


def test_no_secret_stands_in_the_file() -> None:
    for name, service in SERVICES.items():
        for setting, value in service.get("environment", {}).items():
            named = re.search(r"KEY|PASSWORD|SECRET|PEPPER|DATABASE_URL|REDIS_URL|CACHE_URL", setting)
            assert not named or setting.endswith("_FILE"), (name, setting)
            if setting.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]
    assert not re.search(r"sk_live|rpa_|whsec_", composed.COMPOSE_FILE.read_text())


def test_every_queue_has_a_worker_and_every_process_of_development_a_service() -> None:
    lines = {name: SERVICES[name]["command"] for name in SERVICES}
    served = [line[line.index("-Q") + 1] for line in lines.values() if "-Q" in line]
    sent_to = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {settings.CELERY_TASK_DEFAULT_QUEUE}
    assert sorted(served) == sorted(sent_to)


def test_the_broker_loses_nothing_and_the_cache_makes_room() -> None:
    broker, cache = (" ".join(SERVICES[name]["command"]) for name in ("redis-broker", "redis-cache"))
    assert "--appendonly yes --appendfsync always" in broker
    assert "--maxmemory-policy noeviction" in broker
    assert SERVICES["redis-broker"]["volumes"] == ["redis-broker:/data"]
    assert "--maxmemory-policy allkeys-lru" in cache
    for line, name in ((broker, "redis-broker"), (cache, "redis-cache")):
        assert int(re.search(r"--maxmemory (\d+)mb", line)[1]) < composed.memory_mb(SERVICES[name]) * 0.7


def test_nothing_of_ours_starts_before_tables_and_servers_are_there() -> None:
    for name in set(APP) - {"migrate"}:
        waits = {other: how["condition"] for other, how in SERVICES[name]["depends_on"].items()}
        healthy = dict.fromkeys(("postgres", "redis-broker", "redis-cache"), "service_healthy")
        assert waits == {"migrate": "service_completed_successfully"} | healthy


def test_the_database_has_a_connection_for_everybody() -> None:
    given = int(re.search(r"max_connections=(\d+)", " ".join(SERVICES["postgres"]["command"]))[1])
    threads = sum(
        int(re.search(r"--concurrency=(\d+)", " ".join(service["command"]))[1]) + 2
        for name, service in SERVICES.items()
        if name.startswith("worker")
    )
    pool = int(SERVICES["web"]["environment"]["DATABASE_POOL_SIZE"])
    for_people = 8
    assert threads + pool + for_people <= given


def test_it_takes_from_env_what_the_guide_says() -> None:
    guide = GUIDE.read_text()
    assert [name for name in composed.variables() if f"`{name}" not in guide] == []


def test_the_guide_changes_what_is_there() -> None:
    """Its override for several machines names services, networks and secrets of the file."""
    (block,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    override, base = yaml.safe_load(block), composed.compose()
    assert set(override["services"]) <= set(base["services"])
    assert set(override["networks"]) <= set(base["networks"])
    whole = base["services"]["web"] | override["services"]["web"]
    merged = base | {"services": base["services"] | {"web": whole}, "networks": base["networks"] | override["networks"]}
    assert "web" in compose_spec.PyCompose.from_yaml(yaml.safe_dump(merged)).service_names()
    assert [name for name in re.findall(r"`secrets/([a-z_]+)`", GUIDE.read_text()) if name not in base["secrets"]] == []
