"""The contract's `webhooks` section describes what is really sent."""

import json
from typing import Any

import factories
import jsonschema
import pytest
import webhook_rows
from django.utils import timezone
from factories import NOW

from billing.accounts import account_of
from billing.models import User
from detector import batches, collect, webhook_endpoints, webhooks
from detector.models import WebhookEvent
from detector.models.webhook import TEST_EVENT, EventType
from inkcloak import openapi

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


def schema_of(type_: str) -> dict[str, Any]:
    """Of the body, with all that it refers to."""
    contract = openapi.contract()
    body = contract["webhooks"][type_]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return {**body, "components": contract["components"]}


def make_one_of_each(alice: User, settings: Any) -> None:
    made = webhook_rows.endpoint(alice).endpoint
    owner, now = factories.owner(alice), timezone.now()
    settings.FREE_WORDS_PER_MONTH = 150
    factories.checked(owner, now=now)  # 137 words
    factories.accepted(owner, "Too short.", now=now)
    settings.FREE_WORDS_PER_MONTH = 10_000
    collect.give_up(factories.accepted(owner, now=now, reuse=False), "deadline", now=now)
    batches.close(batches.create(account_of(alice), texts=1, now=NOW), refused=1, now=NOW)
    webhook_endpoints.send_test(made, now=NOW)


def test_each_event_is_what_the_contract_says(alice: User, settings) -> None:
    make_one_of_each(alice, settings)
    payloads = [json.loads(json.dumps(payload)) for payload in WebhookEvent.objects.values_list("payload", flat=True)]
    assert {payload["type"] for payload in payloads} == {*EventType.values, TEST_EVENT}
    for payload in payloads:
        checker = jsonschema.Draft202012Validator(schema_of(payload["type"]))
        assert [error.message for error in checker.iter_errors(payload)] == []
        assert payload["data"].keys() == data_schema(payload["type"])["properties"].keys()


def data_schema(type_: str) -> dict[str, Any]:
    schema = schema_of(type_)
    while "properties" not in schema or "data" in schema["properties"]:
        inner = schema["properties"]["data"] if "properties" in schema else schema
        name = (inner.get("$ref") or inner["allOf"][0]["$ref"]).rpartition("/")[2]
        schema = openapi.contract()["components"]["schemas"][name]
    return schema


@pytest.mark.parametrize("type_", [*EventType.values, TEST_EVENT])
def test_each_names_the_headers_of_the_standard(type_: str) -> None:
    said = openapi.contract()["webhooks"][type_]["post"]["parameters"]
    assert [parameter["name"] for parameter in said] == ["webhook-id", "webhook-timestamp", "webhook-signature"]


def test_the_marks_are_those_that_warn() -> None:
    (percent,) = [data_schema("quota.warning")["properties"]["percent"]["enum"]]
    assert tuple(percent) == webhooks.WARNING_PERCENTS
