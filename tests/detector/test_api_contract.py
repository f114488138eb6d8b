"""What is answered is what the contract says: every made-up check, against the schema that clients are made from."""

import json
from typing import Any

import jsonschema
import pytest
from django.core.serializers.json import DjangoJSONEncoder

from detector import presenting
from detector.api import answers, fixtures, made_up, serializers
from inkcloak.openapi import contract


def as_sent(data: Any) -> Any:
    """Past JSON and back."""
    return json.loads(json.dumps(data, cls=DjangoJSONEncoder))


def faults(name: str, data: Any) -> list[str]:
    """What the contract's component of that name finds wrong."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": contract()["components"]}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(as_sent(data))]


@pytest.mark.parametrize("fixture", fixtures.FIXTURES, ids=lambda fixture: fixture.name)
def test_a_check_is_what_the_contract_says(fixture: fixtures.Fixture) -> None:
    row = fixtures.row(fixture, fixtures.number_of(fixture, "x"), {"essay": "17"})
    whole, short = presenting.detection(row, fixtures.BALANCE), presenting.summary(row)
    assert faults("Detection", whole) == []
    assert faults("DetectionSummary", short) == []
    assert whole.keys() == set(answers.Detection().fields)
    assert short.keys() == set(answers.DetectionSummary().fields)


def test_the_schema_is_no_rubber_stamp() -> None:
    row = fixtures.row(fixtures.BY_NAME["ai"], fixtures.number_of(fixtures.BY_NAME["ai"], "x"))
    whole = presenting.detection(row, fixtures.BALANCE)
    for change in ({"verdict": "maybe"}, {"probability": "0.9"}, {"segments": [{"start": 0}]}, {"status": None}):
        assert faults("Detection", whole | change)


def test_a_batch_and_its_price_are_what_the_contract_says() -> None:
    fixture = fixtures.BY_NAME["ai"]
    row = fixtures.row(fixture, fixtures.number_of(fixture, "x"))
    assert faults("Batch", made_up._batch([(row, None)]) | {"live": False}) == []
    assert faults("Quote", made_up._quote(fixture)) == []


def test_what_may_be_sent_is_said_with_its_limits() -> None:
    sent = contract()["components"]["schemas"]["DetectionRequest"]
    assert sent["required"] == ["text"]
    assert sent["properties"].keys() == set(serializers.DetectionRequest().fields)
    assert sent["properties"]["text"]["maxLength"] == 100_000
    assert faults("DetectionRequest", {"text": "x", "max_fpr": 0.01, "metadata": {"a": "b"}, "store": None}) == []
    for bad in ({}, {"text": ""}, {"text": "x", "max_fpr": "0.01"}, {"text": "x", "language": "English"}):
        assert faults("DetectionRequest", bad)
    texts = contract()["components"]["schemas"]["BatchRequest"]["properties"]["texts"]
    assert (texts["minItems"], texts["maxItems"]) == (1, serializers.MAX_BATCH_TEXTS)
