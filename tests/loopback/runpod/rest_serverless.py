"""REST v2: serverless endpoints, their workers and releases, and templates."""

import secrets
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.loopback.runpod.endpoint import Endpoint
from tests.loopback.runpod.gate import rest, world_of
from tests.loopback.runpod.problem import Problem, body_of, unprocessable
from tests.loopback.runpod.settings import CONTAINER, EndpointSettings, shape_errors
from tests.loopback.runpod.world import World

TEMPLATE_OWN = {"name": str, "serverless": bool, "public": bool, "category": str, "startSsh": bool,
                "startJupyter": bool, "mounts": dict, "allowedCudaVersions": list}  # fmt: skip
TEMPLATE_DEFAULTS: dict[str, Any] = {
    "args": "",
    "disk": 20,
    "env": {},
    "ports": [],
    "registry": None,
    "serverless": False,
    "public": False,
    "category": "NVIDIA",
    "startSsh": True,
    "startJupyter": True,
    "mounts": {},
    "allowedCudaVersions": [],
}
CATEGORIES = ("CPU", "NVIDIA", "AMD")


def routes() -> list[web.RouteDef]:
    """All of it."""
    table = (
        ("GET", "/v2/serverless", list_endpoints),
        ("POST", "/v2/serverless", create_endpoint),
        ("GET", "/v2/serverless/{id}", get_endpoint),
        ("PATCH", "/v2/serverless/{id}", patch_endpoint),
        ("DELETE", "/v2/serverless/{id}", delete_endpoint),
        ("GET", "/v2/serverless/{id}/workers", list_workers),
        ("GET", "/v2/templates", list_templates),
        ("POST", "/v2/templates", create_template),
        ("GET", "/v2/templates/{id}", get_template),
        ("PATCH", "/v2/templates/{id}", patch_template),
        ("DELETE", "/v2/templates/{id}", delete_template),
    )
    return [web.route(method, path, rest("rest", handler)) for method, path, handler in table]


# --- Endpoints --------------------------------------------------------------------------------------------------


def _endpoint(request: web.Request) -> Endpoint:
    found = world_of(request).endpoints.get(request.match_info["id"])
    if found is None:
        raise Problem(404, "endpoint not found")
    return found


def serverless_template(world: World, data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The template that a body names, if it names one."""
    if "templateId" not in data:
        return None
    template = world.templates.get(str(data["templateId"]))
    if template is None:
        raise Problem(404, "template not found")
    if not template["serverless"]:
        raise unprocessable(["templateId: not a serverless template"])
    return template


def _within_quota(world: World, settings: EndpointSettings, but: str | None = None) -> None:
    others = (endpoint for endpoint in world.endpoints.values() if endpoint.id != but)
    total = settings.workers["max"] + sum(endpoint.settings.workers["max"] for endpoint in others)
    if total > world.quota():
        raise Problem(400, f"Max workers across all endpoints must not exceed your workers quota ({world.quota()}).")


async def list_endpoints(request: web.Request) -> web.Response:
    """All, wrapped."""
    world = world_of(request)
    return web.json_response({"endpoints": [each.to_json(world.base_url) for each in world.endpoints.values()]})


async def create_endpoint(request: web.Request) -> web.Response:
    """201; there is no idempotency key: twice makes two."""
    world, data = world_of(request), await body_of(request)
    settings = EndpointSettings.create(data, serverless_template(world, data))
    assert settings.gpu_type
    _within_quota(world, settings)
    return web.json_response(world.add_endpoint(settings).to_json(world.base_url), status=201)


async def get_endpoint(request: web.Request) -> web.Response:
    """One."""
    return web.json_response(_endpoint(request).to_json(world_of(request).base_url))


async def patch_endpoint(request: web.Request) -> web.Response:
    """Only what is sent changes."""
    world, endpoint, data = world_of(request), _endpoint(request), await body_of(request)
    settings = endpoint.settings.patched(data, serverless_template(world, data))
    assert settings.gpu_type
    _within_quota(world, settings, but=endpoint.id)
    endpoint.configure(settings)
    return web.json_response(endpoint.to_json(world.base_url))


async def delete_endpoint(request: web.Request) -> web.Response:
    """204."""
    world_of(request).remove_endpoint(_endpoint(request).id)
    return web.Response(status=204)


async def list_workers(request: web.Request) -> web.Response:
    """Each with its state, and how many of which."""
    return web.json_response(_endpoint(request).workers_json())


# --- Templates --------------------------------------------------------------------------------------------------


def _template(request: web.Request) -> dict[str, Any]:
    found = world_of(request).templates.get(request.match_info["id"])
    if found is None:
        raise Problem(404, "template not found")
    return found


def _template_errors(data: Mapping[str, Any]) -> list[str]:
    errors = shape_errors(data, CONTAINER | TEMPLATE_OWN)
    if data.get("category", "NVIDIA") not in CATEGORIES:
        errors.append(f"category: one of {', '.join(CATEGORIES)}")
    return errors


async def list_templates(request: web.Request) -> web.Response:
    """All, wrapped."""
    return web.json_response({"templates": list(world_of(request).templates.values())})


async def create_template(request: web.Request) -> web.Response:
    """201."""
    world, data = world_of(request), await body_of(request)
    errors = _template_errors(data) + [f"{name}: required" for name in ("name", "image") if not data.get(name)]
    if errors:
        raise unprocessable(errors)
    if any(template["name"] == data["name"] for template in world.templates.values()):
        raise Problem(400, "Template name must be unique.")
    template = {"id": secrets.token_hex(5), **TEMPLATE_DEFAULTS, **data}
    world.templates[template["id"]] = template
    return web.json_response(template, status=201)


async def get_template(request: web.Request) -> web.Response:
    """One."""
    return web.json_response(_template(request))


async def patch_template(request: web.Request) -> web.Response:
    """Endpoints made from it keep what they have."""
    template, data = _template(request), await body_of(request)
    if errors := _template_errors(data):
        raise unprocessable(errors)
    template.update(data)
    return web.json_response(template)


async def delete_template(request: web.Request) -> web.Response:
    """204."""
    del world_of(request).templates[_template(request)["id"]]
    return web.Response(status=204)
