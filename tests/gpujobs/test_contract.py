"""The JSON between site and pod: what goes over comes back, and anything else is refused by name."""

import json
from dataclasses import replace

import factories
import pytest

from gpujobs.pod import contract
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse

REQUEST = factories.request("One text 🙂.", "Another\ntext.")
RESPONSE = factories.response(REQUEST, [factories.scores(text, 0.25) for text in REQUEST.texts])


def over_the_wire(message: ScoreRequest | ScoreResponse) -> dict:
    return json.loads(json.dumps(message.to_json()))


def test_it_brings_a_request_over_unchanged() -> None:
    assert ScoreRequest.from_json(over_the_wire(REQUEST)) == REQUEST


def test_it_brings_an_answer_over_unchanged() -> None:
    assert ScoreResponse.from_json(over_the_wire(RESPONSE)) == RESPONSE


def test_it_takes_an_answer_of_a_worker_that_does_not_tell_padding() -> None:
    data = over_the_wire(replace(RESPONSE, texts=(replace(RESPONSE.texts[0], padding=7),)))
    assert ScoreResponse.from_json(data).texts[0].padding == 7
    del data["texts"][0]["padding"]
    assert ScoreResponse.from_json(data).texts[0].padding is None


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_it_refuses_another_version(version: object) -> None:
    with pytest.raises(ContractError, match="expected 1"):
        ScoreRequest.from_json(over_the_wire(REQUEST) | {"contract_version": version})
    with pytest.raises(ContractError, match="expected 1"):
        ScoreResponse.from_json(over_the_wire(RESPONSE) | {"contract_version": version})


@pytest.mark.parametrize("field", ["run_id", "attempt", "model_version", "texts"])
def test_it_refuses_a_message_without_a_field(field: str) -> None:
    for message, kind in ((REQUEST, ScoreRequest), (RESPONSE, ScoreResponse)):
        data = over_the_wire(message)
        del data[field]
        with pytest.raises(ContractError, match="malformed"):
            kind.from_json(data)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), None, "0.5", True])
def test_it_refuses_a_score_that_is_no_number(number: object) -> None:
    data = over_the_wire(RESPONSE)
    data["texts"][0]["windows"][0]["probability"] = number
    with pytest.raises(ContractError, match="finite"):
        ScoreResponse.from_json(data)


def test_it_writes_no_nan() -> None:
    text = replace(RESPONSE.texts[0], score=float("nan"))
    with pytest.raises(ContractError, match="not finite"):
        replace(RESPONSE, texts=(text,)).to_json()


def test_it_refuses_a_text_that_is_none() -> None:
    data = over_the_wire(REQUEST)
    data["texts"][0]["text"] = ["planted-secret"]
    with pytest.raises(ContractError) as refused:
        ScoreRequest.from_json(data)
    assert "planted-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run_id": "run-2"}, "another run"),
        ({"attempt": 2}, "another run"),
        ({"model_version": "other"}, "another model version"),
        ({"texts": RESPONSE.texts[:1]}, "other texts"),
        ({"texts": RESPONSE.texts[::-1]}, "other texts"),
    ],
)
def test_it_takes_no_answer_to_another_question(change: dict, said: str) -> None:
    contract.match(REQUEST, RESPONSE)
    with pytest.raises(ContractError, match=said):
        contract.match(REQUEST, replace(RESPONSE, **change))
