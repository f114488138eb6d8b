"""REST v2: pods, and the catalogue of GPUs and data centres."""

from typing import Any

from aiohttp import web

from tests.loopback.runpod import catalog
from tests.loopback.runpod.gate import rest, world_of
from tests.loopback.runpod.problem import Problem, body_of, unprocessable
from tests.loopback.runpod.world import World

PRODUCTS = {"POD", "CLUSTER", "SERVERLESS"}
FILTERS = ("product", "count", "cloud", "minCudaVersion", "cudaVersions")


def routes() -> list[web.RouteDef]:
    """All of it."""
    table = (
        ("GET", "/v2/pods", list_pods),
        ("POST", "/v2/pods", create_pod),
        ("GET", "/v2/pods/{id}", get_pod),
        ("DELETE", "/v2/pods/{id}", delete_pod),
        ("POST", "/v2/pods/{id}/action", act),
        ("GET", "/v2/catalog/gpus", list_gpus),
        ("GET", "/v2/catalog/gpus/{id}", get_gpu),
        ("GET", "/v2/catalog/datacenters", list_data_centers),
    )
    return [web.route(method, path, rest("rest", handler)) for method, path, handler in table]


async def list_pods(request: web.Request) -> web.Response:
    """All, wrapped."""
    world = world_of(request)
    now = world.clock.now()
    return web.json_response({"pods": [pod.to_json(now) for pod in world.pods.all.values()]})


async def create_pod(request: web.Request) -> web.Response:
    """201; there is no idempotency key."""
    world, data = world_of(request), await body_of(request)
    template = None
    if "templateId" in data:
        template = world.templates.get(str(data["templateId"]))
        if template is None:
            raise Problem(404, "template not found")
        if template["serverless"]:
            raise unprocessable(["templateId: a serverless template"])
    pod = world.pods.create(data, template)
    if world.faults.take("pod_created_500", world.clock.now(), gpu=pod.gpu.id, cloud=pod.cloud):
        raise Problem(500, "internal error")
    return web.json_response(pod.to_json(world.clock.now()), status=201)


async def get_pod(request: web.Request) -> web.Response:
    """One."""
    world = world_of(request)
    return web.json_response(world.pods.find(request.match_info["id"]).to_json(world.clock.now()))


async def delete_pod(request: web.Request) -> web.Response:
    """204, whatever it was doing."""
    pods = world_of(request).pods
    pods.act(pods.find(request.match_info["id"]), "terminate")
    return web.Response(status=204)


async def act(request: web.Request) -> web.Response:
    """A change of state; the pod as it is then (204 when it is no more)."""
    world, data = world_of(request), await body_of(request)
    if set(data) != {"action"}:
        raise unprocessable(["action: required, and nothing else"])
    pod = world.pods.find(request.match_info["id"])
    world.pods.act(pod, str(data["action"]))
    if pod.id not in world.pods.all:
        return web.Response(status=204)
    return web.json_response(pod.to_json(world.clock.now()))


# --- Catalogue --------------------------------------------------------------------------------------------------


def _gpu_json(world: World, gpu: catalog.Gpu, query: dict[str, str]) -> dict[str, Any]:
    offered = gpu.pod_nanousd_per_hour / 1e9
    price = {"secure": offered, "community": offered}
    if gpu.pool:
        price["serverless"] = gpu.serverless_nanousd_per_hour / 1e9
    shown: dict[str, Any] = {
        "id": gpu.id,
        "name": gpu.name,
        "pool": gpu.pool,
        "manufacturer": "NVIDIA",
        "memory": gpu.memory_gb,
        "secure": bool(offered),
        "community": bool(offered),
        "price": price,
        "maxCount": {"secure": 8, "community": 4},
    }
    if query.get("include") == "AVAILABILITY":
        shown["availability"] = level = _availability(world, gpu, query)
        shown["cudaVersions"] = [{"version": name, "available": level != "NONE"} for name in catalog.CUDA_VERSIONS]
        if level != "NONE":
            centers = [{"id": name, "name": name, "availability": level} for name in catalog.DATA_CENTERS]
            shown["dataCenters"] = centers
    return shown


def _availability(world: World, gpu: catalog.Gpu, query: dict[str, str]) -> str:
    now, products = world.clock.now(), set(query["product"].split(","))
    if "POD" in products:
        cloud = query.get("cloud", "SECURE")
        full = world.faults.take("no_capacity", now, gpu=gpu.id, cloud=cloud)
        return "NONE" if full or not gpu.pod_nanousd_per_hour else "HIGH"
    return "NONE" if gpu.pool is None or world.faults.take("throttled", now, gpu=gpu.id) else "HIGH"


def _check_query(query: dict[str, str]) -> None:
    if query.get("include") not in (None, "AVAILABILITY"):
        raise unprocessable(["include: AVAILABILITY"])
    asked = [name for name in FILTERS if name in query]
    if "include" not in query and asked:
        raise Problem(400, f"{asked[0]} is valid only with include=AVAILABILITY")
    if "include" in query and not set(query.get("product", "").split(",")) <= PRODUCTS:
        raise Problem(400, "product is required with include=AVAILABILITY: POD, CLUSTER or SERVERLESS")


async def list_gpus(request: web.Request) -> web.Response:
    """Types with prices; with include=AVAILABILITY also what can be had now."""
    query = dict(request.query)
    _check_query(query)
    return web.json_response({"gpus": [_gpu_json(world_of(request), gpu, query) for gpu in catalog.GPUS]})


async def get_gpu(request: web.Request) -> web.Response:
    """One type."""
    query = dict(request.query)
    _check_query(query)
    gpu = catalog.BY_ID.get(request.match_info["id"])
    if gpu is None:
        raise Problem(404, "GPU type not found")
    return web.json_response(_gpu_json(world_of(request), gpu, query))


async def list_data_centers(request: web.Request) -> web.Response:
    """A few."""
    shown = [
        {"id": name, "name": name, "region": "NORTH_AMERICA" if name.startswith("US") else "EUROPE",
         "globalNetwork": True, "networkVolumeTypes": ["STANDARD"], "compliance": []}
        for name in catalog.DATA_CENTERS
    ]  # fmt: skip
    return web.json_response({"dataCenters": shown})
