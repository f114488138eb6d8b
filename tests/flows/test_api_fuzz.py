"""The API of the running product, fuzzed by its own contract; `make fuzz-api` does the same for longer."""

from typing import Any

import pytest
from product import Product

from tests.fuzz import callers, contract, running, walk

EXAMPLES = 2
SECONDS = 24.0  # then it stops; the walk through every operation comes first, and takes a few whatever is left
PHASES = {
    callers.LIVE: ("coverage", "fuzzing"),
    callers.TEST: ("fuzzing",),
    callers.NOBODY: ("fuzzing",),
}


def test_it_does_what_its_contract_says_whoever_calls(product: Product) -> None:
    everybody = callers.made(lambda code: product.manage("shell", "-c", code).stdout)
    results = running.all_callers(product.url, everybody, examples=EXAMPLES, seconds=SECONDS, only=PHASES)
    print("\n".join(running.lines(results)))  # noqa: T201 - pytest shows it with a failure
    assert [finding for result in results for finding in result.findings] == []
    assert [len(result.reached) == len(result.operations) for result in results] == [False, False, True]
    assert "Traceback" not in product.logs()


def test_it_finds_what_the_contract_does_not_have(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing found means something."""
    read = contract.read

    def twisted(url: str) -> dict[str, Any]:
        found = read(url)
        found["components"]["schemas"]["Words"]["properties"]["limit"] = {"type": "string"}
        del found["paths"]["/api/v1/models"]["get"]["responses"]["200"]
        return found

    monkeypatch.setattr(contract, "read", twisted)
    live = callers.made(lambda code: product.manage("shell", "-c", code).stdout)[-1]
    schema = contract.schema_of(product.url, live, examples=1)
    with contract.closed_port() as port:
        findings = walk.through(schema, live, port).findings
    assert {finding.split(": ")[1] for finding in findings} == {"get_usage", "list_models"}


@pytest.mark.parametrize("url", ["https://example.com", "http://10.0.0.1:8000", "http://127.0.0.1.example.com", "x"])
def test_it_fuzzes_nothing_but_loopback(url: str) -> None:
    with pytest.raises(ValueError, match="not on loopback"):
        contract.schema_of(url, callers.Caller(callers.NOBODY), examples=1)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://example.com/a?b=c", "https://127.0.0.1:9/a?b=c"),
        ("https://user@[2001:db8::1]:8443/a", "https://127.0.0.1:9/a"),
        ("http://example.com", "http://127.0.0.1:9"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("https://[", "https://["),
        ("", ""),
    ],
)
def test_no_webhook_leads_out_of_this_machine(url: str, asked: str) -> None:
    assert contract.at_loopback(url, 9) == asked
