"""A key among the fields of a form is refused like one in an address or in JSON: bodies are stored and logged."""

from datetime import datetime

import pytest
import samples
from api_calls import V1, Caller, problem
from django.core.files.uploadedfile import SimpleUploadedFile

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from detector.models import Batch, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


def post(caller: Caller, **fields: object) -> tuple[int, str]:
    files = {"files": SimpleUploadedFile("a.txt", b"A text.")}
    return problem(caller.client.post(f"{V1}/detections/files", files | fields, headers=caller.headers()))


@pytest.mark.parametrize("name", ["api_key", "API_KEY", "apikey", "key", "token", "access_token", "Authorization"])
def test_a_field_meant_for_one_is_refused(caller: Caller, name: str) -> None:
    assert post(caller, **{name: "x"}) == (400, "key_in_body")
    assert post(caller, **{name: SimpleUploadedFile("key.txt", b"x")}) == (400, "key_in_body")


@pytest.mark.parametrize("name", ["language", "metadata", "anything"])
@pytest.mark.parametrize("around", ["{}", "Bearer {}", '{{"mine": "{}"}}'])
def test_a_field_that_holds_one_is_refused_whatever_its_name(caller: Caller, name: str, around: str) -> None:
    assert post(caller, **{name: around.format(caller.token)}) == (400, "key_in_body")
    assert not Batch.objects.exists()


def test_a_file_may_speak_of_keys(caller: Caller, alice: User) -> None:
    now = datetime.fromisoformat("2026-06-15T12:00:00+00:00")
    leaked = keys.issue(account=account_of(alice), name="leaked", scopes=(Scope.CHECKS_READ,), now=now).token
    files = {"files": SimpleUploadedFile("a.txt", f"Our key was {leaked}, and it leaked.".encode())}
    answer = caller.client.post(f"{V1}/detections/files", files, headers=caller.headers())
    assert answer.status_code == 202


@pytest.mark.parametrize("metadata", [{"mine": "{}"}, {"{}": "mine"}, {"note": "Bearer {}!"}])
def test_labels_hold_no_key_in_json_either(caller: Caller, metadata: dict[str, str]) -> None:
    named = {name.format(caller.token): value.format(caller.token) for name, value in metadata.items()}
    refused = 400, "invalid" if "{}" in metadata else "key_in_body"  # as a name it is too long in any case
    assert problem(caller.post("/detections", {"text": samples.HUMAN, "metadata": named})) == refused
    batch = caller.post("/detections/batch", {"texts": [{"text": samples.HUMAN, "metadata": named}]}).json()
    assert batch["items"][0]["problem"]["code"] == refused[1]
    assert not Submission.objects.exists()
