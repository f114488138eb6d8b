"""The contract says what the API does, and its pages show all of it, with examples that work."""

import html
import json
import re
import shlex
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from inkcloak import docs, docs_examples, docs_schemas, openapi

OPERATIONS = [operation for group in docs.groups(openapi.contract()) for operation in group.operations]
CODE = re.compile(r"<pre data-(?:run|shows).*?</pre>", re.DOTALL)
EXAMPLE = re.compile(r'<pre data-example="curl" tabindex="0">(.*?)</pre>', re.DOTALL)


def test_the_contract_is_openapi_3_1_and_names_us(client: Client, settings) -> None:
    answer = client.get("/api/schema/")
    contract = json.loads(answer.content)
    assert contract["openapi"] == "3.1.0"
    assert contract["servers"] == [{"url": settings.PUBLIC_URL}]
    assert contract["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert answer["Content-Type"] == "application/vnd.oai.openapi+json"


def test_the_contract_is_well_formed_and_made_without_a_warning(capsys: pytest.CaptureFixture) -> None:
    openapi.contract.cache_clear()
    validate_schema(openapi.contract())
    assert "arning" not in capsys.readouterr().err


def test_the_contract_is_valid_to_a_library_that_did_not_make_it() -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(openapi.contract()).iter_errors()] == []


def test_postman_can_import_the_file(client: Client, settings) -> None:
    """What it makes a collection of: folders from tags, requests from operations, bodies from examples, one key."""
    answer = client.get("/api/schema.json")
    assert answer["Content-Disposition"] == 'attachment; filename="inkcloak-openapi.json"'
    assert answer["Content-Type"] == "application/json"
    assert answer.content == client.get("/api/schema/?format=json").content
    contract = json.loads(answer.content)
    assert contract["servers"] == [{"url": settings.PUBLIC_URL}]
    tags = [tag["name"] for tag in contract["tags"]]
    operations = [operation for _path, _method, operation in docs_schemas.operations(contract, openapi.METHODS)]
    for operation in operations:
        (tag,) = operation["tags"]
        assert tag in tags
        assert operation["security"] == [{"key": []}]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        assert body is None or body.keys() & {"example", "examples"}, operation["operationId"]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert (
        '<a href="/api/schema.json" download>'
        in client.get("/api/docs/", headers={"Accept-Language": "en"}).content.decode()
    )


def test_an_example_body_is_one_that_its_schema_takes() -> None:
    contract = openapi.contract()
    for _path, _method, operation in docs_schemas.operations(contract, openapi.METHODS):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            schema = {**body["schema"], "components": contract["components"]}
            Draft202012Validator(schema).validate(docs_examples.body(operation))


def test_the_contract_is_not_sent_twice(client: Client) -> None:
    tag = client.get("/api/schema/")["ETag"]
    assert client.get("/api/schema/", headers={"If-None-Match": tag}).status_code == 304


def test_the_contract_is_the_same_in_every_language(client: Client) -> None:
    english, spanish = (client.get("/api/schema/", headers={"Accept-Language": one}) for one in ("en", "es"))
    assert english.content == spanish.content


def test_every_reference_leads_somewhere() -> None:
    contract = openapi.contract()
    for found in re.findall(r'"#/components/(\w+)/([^"]+)"', json.dumps(contract)):
        assert found[1] in contract["components"][found[0]]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_names_its_errors_and_its_limits(operation: docs.Operation) -> None:
    statuses = {answer.status for answer in operation.answers}
    assert {"400", "401", "403", "429", "503"} <= statuses
    assert operation.summary != operation.id
    if any(parameter.place == "path" for parameter in operation.parameters):
        assert "404" in statuses
    if operation.body:
        assert {"413", "415"} <= statuses


def test_lists_take_a_cursor() -> None:
    entries = next(operation for operation in OPERATIONS if operation.id == "list_usage_entries")
    assert {"limit", "cursor", "kind", "detection"} == {parameter.name for parameter in entries.parameters}
    fields = {field.name: field.kind for field in entries.answers[0].fields}
    assert fields["items"] == "list of object"
    assert fields["items.words" if "items.words" in fields else "items[].words"] == "integer"
    assert fields["next_cursor"] == "string | null"


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_shows_every_operation(client: Client, db: None, language: str) -> None:
    answer = client.get("/api/docs/", headers={"Accept-Language": language})
    page = answer.content.decode()
    assert f'<html lang="{language}"' in page
    for operation in OPERATIONS:
        assert f'id="{operation.id}"' in page
        assert html.escape(operation.path) in page
    assert "<script" not in page.replace('<script src="/static/', "")


def test_the_quickstart_has_the_same_code_in_every_language(client: Client, db: None) -> None:
    english, spanish = (
        client.get("/api/docs/quickstart/", headers={"Accept-Language": one}).content.decode() for one in ("en", "es")
    )
    assert CODE.findall(english) == CODE.findall(spanish) != []
    assert '<html lang="es"' in spanish


@pytest.mark.parametrize("code", ["not_found", "rate_limited", "words_used", "idempotency_mismatch"])
def test_the_type_of_a_problem_leads_to_its_line(client: Client, db: None, code: str) -> None:
    assert f'<tr id="{code}">' in client.get("/api/docs/errors").content.decode()


def test_a_wrong_address_below_the_pages_is_a_page(client: Client, db: None) -> None:
    answer = client.get("/api/docs/nothing")
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


def call(client: Client, command: str, server: str):
    """What curl would send."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words.pop(0) == "curl"
    method = "GET"
    if words[0] == "-X":
        method, words = words[1], words[2:]
    address, body = words.pop(0), None
    headers = {}
    while words:
        option, value = words.pop(0), words.pop(0)
        if option == "-H":
            name, _colon, said = value.partition(": ")
            headers[name] = said
        elif option == "-d":
            body = value
        else:
            assert option == "-o"
    assert address.startswith(server)
    kind = headers.pop("Content-Type", "application/octet-stream")
    return client.generic(method, address.removeprefix(server), body or "", content_type=kind, headers=headers)


def test_the_examples_work_for_a_test_key(alice: User, champion: object, client: Client, settings) -> None:
    """Each as it stands on the page, with a test key and ids of nothing."""
    settings.API_REQUESTS_PER_MINUTE = 1000
    issued = keys.issue(account=account_of(alice), name="x", scopes=Scope.values, now=timezone.now(), live=False)
    examples = [html.unescape(found) for found in EXAMPLE.findall(client.get("/api/docs/").content.decode())]
    assert len(examples) == len(OPERATIONS)
    for operation, example in zip(OPERATIONS, examples, strict=True):
        if " -F " in example:
            continue  # the parser of files has tests of its own
        filled = re.sub(r"\$\w+_ID", "00000000-0000-4000-8000-000000000000", example)
        answer = call(client, filled.replace("$INKCLOAK_API_KEY", issued.token), settings.PUBLIC_URL)
        expected = (
            {404, 403} if "{" in operation.path or operation.id == "get_benchmarks" else {200, 201, 202, 204, 403}
        )
        assert answer.status_code in expected, (operation.id, answer.status_code, answer.content)
        assert str(answer.status_code) in {one.status for one in operation.answers}


def test_the_examples_in_python_are_python() -> None:
    for operation in OPERATIONS:
        compile(operation.python, operation.id, "exec")


def test_a_reader_of_rows_needs_no_key(client: Client, db: None, django_assert_num_queries: Callable) -> None:
    client.get("/api/docs/")
    with django_assert_num_queries(0):
        client.get("/api/schema/")
