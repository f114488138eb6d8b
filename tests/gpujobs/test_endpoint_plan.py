"""From what is found at RunPod to what is wanted: creations, changes, and refusals by name. Pure."""

from dataclasses import replace
from typing import Any

import pytest

from gpujobs.endpoint_plan import Plan, PlanError, Wanted, is_pinned, plan
from gpujobs.providers.runpod_rest import Resource

WANTED = Wanted(name="inkcloak", image="inkcloak/pod:7", env={"RUNPOD_LOG_LEVEL": "INFO"})
# What RunPod adds to what one sends.
TOLD = {"id": "4m7x", "createdAt": "2026-11-30T12:00:00Z", "requestUrls": {"run": "https://…"}, "templateId": "t1"}


def endpoint(**changes: Any) -> Resource:
    """As RunPod shows it when all is well, but for `changes`."""
    fields = WANTED.endpoint() | TOLD | changes
    return Resource("4m7x", fields["name"], fields)


def template(**changes: Any) -> Resource:
    fields = WANTED.template() | {"id": "t1"} | changes
    return Resource("t1", fields["name"], fields)


def planned(found: Resource | None = None, want: Wanted = WANTED, **options: Any) -> Plan:
    return plan(want, endpoint=found or endpoint(), template=options.pop("template", template()), **options)


def changes(found: Plan) -> dict[str, tuple[str, str]]:
    return {line.name: (line.before, line.after) for step in found.steps for line in step.lines}


def test_it_plans_nothing_where_all_is_as_wanted() -> None:
    assert planned() == Plan((), (), ())


def test_it_creates_with_every_setting_explicit() -> None:
    found = plan(WANTED, endpoint=None, template=None)
    made_template, made_endpoint = found.steps
    assert (made_template.what, made_template.id, made_endpoint.what, made_endpoint.id) == (
        "template",
        "",
        "endpoint",
        "",
    )
    assert made_template.body == {
        "name": "inkcloak-worker",
        "image": "inkcloak/pod:7",
        "args": "",
        "disk": 20,
        "env": {"RUNPOD_LOG_LEVEL": "INFO"},
        "ports": [],
        "serverless": True,
        "public": False,
        "category": "NVIDIA",
        "startSsh": False,
        "startJupyter": False,
        "mounts": {},
        "allowedCudaVersions": [],
    }
    assert made_endpoint.body == {
        "name": "inkcloak",
        "type": "QUEUE",
        "gpu": {"pools": ["AMPERE_16"], "count": 1},
        "workers": {"min": 0, "max": 3, "idleTimeout": 5},
        "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
        "timeout": 60_000,
        "flashboot": "FLASHBOOT",
        "dataCenterIds": [],
        "networkVolumes": [],
    }


@pytest.mark.parametrize(
    ("found", "body", "lines"),
    [
        ({"timeout": 300_000}, {"timeout": 60_000}, {"timeout": ("300000", "60000")}),
        ({"flashboot": "OFF"}, {"flashboot": "FLASHBOOT"}, {"flashboot": ("OFF", "FLASHBOOT")}),
        (
            {"workers": {"min": 0, "max": 2, "idleTimeout": 5}},
            {"workers": {"min": 0, "max": 3, "idleTimeout": 5}},
            {"workers.max": ("2", "3")},
        ),
        (
            {"scaling": {"type": "REQUEST_COUNT", "requestCount": 1}, "workers": {"min": 0, "max": 3}},
            {"scaling": WANTED.endpoint()["scaling"], "workers": {"min": 0, "max": 3, "idleTimeout": 5}},
            {
                "scaling": ("type REQUEST_COUNT, requestCount 1", "type QUEUE_DELAY, queueDelay 4"),
                "workers.idleTimeout": ("none", "5"),
            },
        ),
        (
            {"gpu": WANTED.endpoint()["gpu"] | {"allowedCudaVersions": ["12.8"]}},
            {"gpu": {"pools": ["AMPERE_16"], "count": 1, "allowedCudaVersions": []}},
            {"gpu.allowedCudaVersions": ("12.8", "none")},
        ),
        (
            {"gpu": WANTED.endpoint()["gpu"] | {"minCudaVersion": "12.8", "excludedTypes": ["NVIDIA L4"]}},
            {"gpu": {"pools": ["AMPERE_16"], "count": 1, "minCudaVersion": "", "excludedTypes": []}},
            {"gpu.minCudaVersion": ("12.8", "empty"), "gpu.excludedTypes": ("NVIDIA L4", "none")},
        ),
        ({"networkVolumes": ["v"]}, {"networkVolumes": []}, {"networkVolumes": ("v", "none")}),
    ],
)
def test_it_changes_only_what_differs(found: dict, body: dict, lines: dict) -> None:
    seen = planned(endpoint(**found))
    (step,) = seen.steps
    assert (step.what, step.id, step.body, changes(seen)) == ("endpoint", "4m7x", body, lines)


def test_nothing_is_nothing_however_it_is_written() -> None:
    gpu = {"pools": ["AMPERE_16"], "count": 1}
    assert planned(endpoint(gpu=gpu, registry="", ports=None, dataCenterIds=None, standby=0)).steps == ()


def test_it_asks_for_no_idle_time_where_the_scaler_has_none() -> None:
    want = replace(WANTED, scaler="REQUEST_COUNT", scaler_value=2)
    found = planned(want=want)
    assert found.steps[0].body == {"scaling": {"type": "REQUEST_COUNT", "requestCount": 2}}
    assert found.refused == ()


def test_a_new_image_goes_to_template_and_endpoint() -> None:
    found = planned(want=replace(WANTED, image="inkcloak/pod:8"))
    assert [(step.what, step.body) for step in found.steps] == [
        ("template", {"image": "inkcloak/pod:8"}),
        ("endpoint", {"image": "inkcloak/pod:8"}),
    ]
    assert "both versions answer" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("drift", "names"),
    [
        ({"autopilot": True}, ("endpoint.autopilot",)),
        ({"env": {"RUNPOD_LOG_LEVEL": "INFO", "EXTRA": "1"}}, ("endpoint.env.EXTRA",)),
        ({"workers": {"min": 0, "max": 3, "idleTimeout": 5, "standby": 2}}, ("endpoint.workers.standby",)),
        ({"scaling": {"type": "ORACLE", "faith": 1}}, ("endpoint.scaling",)),
        ({"type": "LOAD_BALANCER"}, ("endpoint.type",)),
        ({"cpu": [{"id": "cpu3c"}], "gpu": None}, ("endpoint.cpu",)),
    ],
)
def test_it_refuses_by_name_what_it_does_not_understand(drift: dict, names: tuple[str, ...]) -> None:
    assert planned(endpoint(**drift)).refused == names


def test_it_refuses_a_template_for_pods() -> None:
    assert planned(template=template(serverless=False)).refused == ("template.serverless",)


def test_it_leaves_alone_what_it_is_told_to() -> None:
    found = endpoint(env={"EXTRA": "1"}, timeout=1)
    left = planned(found, ignore=["env.EXTRA", "timeout"])
    assert left.refused == ()
    assert left.steps[0].body == {"env": {"RUNPOD_LOG_LEVEL": "INFO", "EXTRA": "1"}}
    assert planned(found, ignore=["env", "timeout"]).steps == ()


def test_it_shows_no_value_that_may_be_secret() -> None:
    want = replace(WANTED, env={"TOKEN": "planted"}, registry="planted-login")
    found = planned(endpoint(env={"TOKEN": "planted-before"}, args="--key planted"), want)
    assert "planted" not in str(changes(found))
    assert changes(found)["env.TOKEN"] == ("(not shown)", "(not shown)")
    assert "planted" not in str([step.lines for step in plan(want, endpoint=None, template=None).steps])


def test_it_says_why_max_workers_may_be_zero() -> None:
    found = planned(endpoint(workers={"min": 0, "max": 0, "idleTimeout": 5}))
    assert changes(found) == {"workers.max": ("0", "3")}
    assert "7 days without requests" in found.notes[0]


def test_it_says_that_a_worker_that_always_runs_costs() -> None:
    assert "all the time" in planned(want=replace(WANTED, workers_min=1)).notes[0]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "name"),
        ({"image": "inkcloak/pod"}, "tag"),
        ({"image": "inkcloak/pod:latest"}, "tag"),
        ({"gpu_pools": ()}, "pool"),
        ({"workers_min": 4}, "workers"),
        ({"workers_max": 0}, "max of 0"),
        ({"scaler": "ORACLE"}, "scaler"),
        ({"scaler_value": 0}, "scaler"),
        ({"idle_seconds": 3601}, "idle"),
        ({"timeout_seconds": 4}, "timeout"),
        ({"flashboot": "ON"}, "flashboot"),
        ({"disk_gb": 0}, "disk"),
    ],
)
def test_it_wants_nothing_impossible(change: dict, named: str) -> None:
    with pytest.raises(PlanError, match=named):
        replace(WANTED, **change)


@pytest.mark.parametrize(
    ("image", "pinned"),
    [
        ("inkcloak/pod:7", True),
        ("registry.example:5000/inkcloak/pod:7", True),
        ("inkcloak/pod@sha256:abc", True),
        ("registry.example:5000/inkcloak/pod", False),
        ("inkcloak/pod:latest", False),
        (":7", False),
        ("", False),
    ],
)
def test_it_knows_a_tag_of_its_own(image: str, pinned: bool) -> None:
    assert is_pinned(image) is pinned
