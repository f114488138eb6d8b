"""Every error of the API has one form, wherever it comes from."""

import re

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from django.test import AsyncClient, Client, RequestFactory
from rest_framework import exceptions, serializers

from inkcloak import api, problems
from inkcloak.errors import Exhausted, Forbidden, Invalid, Unavailable
from inkcloak.middleware import ClearErrorsMiddleware

FIELDS = {"type", "title", "status", "detail", "code", "errors", "request_id"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Invalid("empty", "No text."), 400, "empty"),
        (Forbidden("closed", "Closed."), 403, "closed"),
        (Exhausted("words_used", "None left.", retry_after=9), 429, "words_used"),
        (Unavailable("no_model", "None."), 503, "no_model"),
        (Invalid("too_large", "Too large."), 413, "too_large"),
        (RequestDataTooBig("x"), 413, "too_large"),
        (OperationalError("server closed"), 503, "restarting"),
        (Http404("secret"), 404, "not_found"),
        (exceptions.NotFound("secret"), 404, "not_found"),
        (PermissionDenied("secret"), 403, "forbidden"),
        (exceptions.PermissionDenied(), 403, "forbidden"),
        (exceptions.NotAuthenticated(), 401, "missing_key"),
        (exceptions.AuthenticationFailed("Gone.", "revoked_key"), 401, "revoked_key"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("text/plain"), 415, "unsupported_media_type"),
        (exceptions.ParseError("secret"), 400, "bad_request"),
        (exceptions.Throttled(5), 429, "rate_limited"),
        (api.Refused(409, "busy", "Wait.", retry_after=1), 409, "busy"),
    ],
)
def test_each_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    problem = api.problem_of(error)
    assert problem is not None
    assert (problem.status, problem.code) == (status, code)
    assert "secret" not in problem.detail


def test_a_defect_of_ours_is_not_dressed_up() -> None:
    assert api.problem_of(KeyError("x")) is None


class Item(serializers.Serializer):
    name = serializers.CharField()


class Form(serializers.Serializer):
    text = serializers.CharField(max_length=3)
    tags = serializers.ListField(child=serializers.IntegerField())
    items = Item(many=True)
    a_b = serializers.DictField(child=serializers.IntegerField())

    def validate(self, attrs: dict) -> dict:
        raise serializers.ValidationError("Never right.", "never")


def faults(data: dict) -> dict[str, str]:
    form = Form(data=data)
    with pytest.raises(serializers.ValidationError) as refused:
        form.is_valid(raise_exception=True)
    problem = api.problem_of(refused.value)
    assert problem is not None
    assert (problem.status, problem.code) == (400, "invalid")
    return {fault["pointer"]: fault["code"] for fault in problem.errors}


def test_each_fault_names_its_place_as_a_pointer() -> None:
    data = {"text": "long", "tags": [1, "x"], "items": [{"name": "a"}, {}], "a_b": {"x/y": "z", "~": 1}}
    assert faults(data) == {
        "/text": "max_length",
        "/tags/1": "invalid",
        "/items/1/name": "required",
        "/a_b/x~1y": "invalid",
    }


def test_a_fault_of_the_whole_body_points_at_it() -> None:
    assert faults({"text": "abc", "tags": [], "items": [], "a_b": {}}) == {"": "never"}


# --- Through the whole stack ----------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/api/v1/nothing", "/api/nothing", "/api/v1/usage/entries/", "/api/v2/usage"])
def test_an_unknown_address_is_a_problem(db: None, address: str, settings) -> None:
    answer = Client().get(address)
    body = answer.json()
    assert answer["Content-Type"] == "application/problem+json"
    assert body.keys() == FIELDS
    assert (answer.status_code, body["status"], body["code"], body["title"]) == (404, 404, "not_found", "Not Found")
    assert body["type"] == f"{settings.PUBLIC_URL}/api/docs/errors#not_found"
    assert body["request_id"] == answer["X-Request-ID"]


def test_the_detail_follows_the_reader(db: None) -> None:
    details = {Client().get("/api/x", headers={"Accept-Language": one}).json()["detail"] for one in ("en", "es")}
    codes = {Client().get("/api/x", headers={"Accept-Language": one}).json()["code"] for one in ("en", "es")}
    assert codes == {"not_found"}
    assert "There is nothing here for you: check the address and the id." in details


def test_a_page_for_people_stays_one(client: Client, db: None) -> None:
    assert client.get("/nothing").headers["Content-Type"].startswith("text/html")


def test_any_accept_header_gets_json(db: None) -> None:
    answer = Client().get("/api/x", headers={"Accept": "image/png"})
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_the_request_id_is_ours_and_theirs_comes_back(db: None) -> None:
    first = Client().get("/api/x", headers={"X-Request-ID": "their-7"})
    second = Client().get("/api/x", headers={"X-Request-ID": "bad\tone<"})
    assert re.fullmatch(r"req_[0-9a-f]{24}", first["X-Request-ID"])
    assert first["X-Request-ID"] != second["X-Request-ID"]
    assert first["X-Client-Request-ID"] == "their-7"
    assert "X-Client-Request-ID" not in second


def test_it_is_the_same_under_asgi(transactional_db: None) -> None:
    answer = async_to_sync(AsyncClient().get)("/api/x")
    assert answer.status_code == 404
    assert answer.json()["request_id"] == answer["X-Request-ID"]


def test_health_has_an_id_too() -> None:
    assert async_to_sync(AsyncClient().get)("/healthz")["X-Request-ID"].startswith("req_")


def test_an_error_outside_of_any_view_class_is_a_problem_too() -> None:
    request = RequestFactory().get("/api/v1/x")
    answer = ClearErrorsMiddleware(lambda _r: None).process_exception(request, Exhausted("no", "No.", retry_after=4))
    assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (429, problems.CONTENT_TYPE, "4")


def test_a_broken_view_is_a_problem_without_its_cause(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr("billing.api.base.NothingHere.get", broken, raising=False)
    monkeypatch.setattr("billing.api.base.NothingHere.initial", lambda *_a, **_k: None)
    answer = Client(raise_request_exception=False).get("/api/x")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.content.decode()
