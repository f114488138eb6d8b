"""The examples of every operation: bodies, and commands in curl and Python.

They take the key and ids from the environment and `essay.txt` from the folder, and are otherwise run as they stand:
tests/flows/test_doc_examples.py does so against the running product.
"""

import json
import re
import shlex
from typing import Any

from django.conf import settings

from inkcloak.docs_schemas import Schema, content_of, is_list, resolve

# Long enough for a verdict.
SAMPLE_TEXT = (
    "The bakery on our corner closes at two, and by one there is rarely any bread left. My neighbour has a theory that "
    "they bake less on purpose, so that people come early and talk to each other in the queue. I asked the baker once. "
    "She laughed, wiped the flour from her glasses, and said that the oven is small and that she likes her afternoons."
)
SHORT_TEXT = "Too few words to judge."
SAMPLES = {"text": SAMPLE_TEXT, "name": "laptop", "url": "https://example.com/inkcloak"}
FILE = "essay.txt"
# Where the required fields alone would show nothing.
BODIES: dict[str, Any] = {
    "create_batch": {"texts": [{"text": SAMPLE_TEXT, "metadata": {"pupil": "7"}}, {"text": SHORT_TEXT}]},
    "change_webhook": {"events": ["detection.completed", "batch.completed"]},
    "rotate_webhook_secret": {"overlap_hours": 24},
}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
JSON = "application/json"
SUFFIXES = {"application/pdf": "pdf", "application/zip": "zip"}


def fill(contract: Schema, operation: Schema) -> None:
    """Gives the JSON body of an operation an example, unless its view has one: for Postman and other readers."""
    content = operation.get("requestBody", {}).get("content", {}).get(JSON)
    if content is not None and not content.keys() & {"example", "examples"}:
        content["example"] = BODIES.get(operation["operationId"]) or _example(contract, content["schema"])


def body(operation: Schema) -> Any:
    """The example of a JSON body; None without one."""
    content = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
    given: Schema = next(iter(content.get("examples", {}).values()), {})
    return given.get("value", content.get("example"))


def variables(contract: Schema) -> list[str]:
    """What examples take from the environment beside the key: DETECTION_ID, …"""
    return sorted({name.upper() for path in contract["paths"] for name in PLACEHOLDER.findall(path)})


def curl(path: str, method: str, operation: Schema) -> str:
    address = f'"{settings.PUBLIC_URL}{PLACEHOLDER.sub(lambda found: "$" + found[1].upper(), path)}"'
    lines = [f"curl {address}" if method == "get" else f"curl -X {method.upper()} {address}"]
    if needs_key(operation):
        lines.append('-H "Authorization: Bearer $INKCLOAK_API_KEY"')
    sent = body(operation)
    if sent is not None:
        lines += [f'-H "Content-Type: {JSON}"', f"-d {shlex.quote(json.dumps(sent, ensure_ascii=False))}"]
    elif "requestBody" in operation:
        lines.append(f'-F "files=@{FILE}"')
    if file := _file_answered(operation):
        lines.append(f"-o {file}")
    return " \\\n  ".join(lines)


def python(path: str, method: str, operation: Schema) -> str:
    named = PLACEHOLDER.sub(lambda found: "{os.environ['" + found[1].upper() + "']}", path)
    address = f'"{settings.PUBLIC_URL}{named}"'
    arguments = [f"f{address}" if named != path else address]
    if needs_key(operation):
        arguments.append('headers={"Authorization": f"Bearer {os.environ[\'INKCLOAK_API_KEY\']}"}')
    sent = body(operation)
    if sent is not None:
        arguments.append(f"json={sent!r}")
    elif "requestBody" in operation:
        arguments.append(f'files={{"files": open("{FILE}", "rb")}}')
    call = "".join(f"\n    {argument}," for argument in arguments)
    file = _file_answered(operation)
    imports = "import os\nfrom pathlib import Path" if file else "import os"
    end = f'Path("{file}").write_bytes(answer.content)' if file else f"print({_shown(operation)})"
    return f"{imports}\n\nimport httpx\n\nanswer = httpx.{method}({call}\n)\nanswer.raise_for_status()\n{end}"


def needs_key(operation: Schema) -> bool:
    return {} not in operation.get("security", [{}])


def _answered(operation: Schema) -> str:
    """The media type of what it answers when all is well; "" for none."""
    good = [answer for status, answer in operation["responses"].items() if status < "300"]
    return next((media for media, _schema in map(content_of, good) if media), "")


def _file_answered(operation: Schema) -> str:
    suffix = SUFFIXES.get(_answered(operation))
    return f"answer.{suffix}" if suffix else ""


def _shown(operation: Schema) -> str:
    media = _answered(operation)
    if not media:
        return "answer.status_code"
    return "answer.json()" if media == JSON else "answer.text"


def _example(contract: Schema, schema: Schema, name: str = "") -> Any:
    """The smallest value that makes sense: examples of fields, else their samples; of an object what is required."""
    whole = resolve(contract, schema)
    if "example" in whole:
        return whole["example"]
    if "enum" in whole:
        return whole["enum"][0]
    if is_list(whole):
        return [_example(contract, whole["items"], name)]
    kind = whole.get("type")
    if kind == "object":
        properties = whole.get("properties", {})
        return {key: _example(contract, properties[key], key) for key in whole.get("required", ())}
    return {"integer": 1, "number": 0.01, "boolean": False}.get(str(kind), SAMPLES.get(name, "example"))
