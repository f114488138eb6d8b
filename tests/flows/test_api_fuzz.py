"""The API of the running product, fuzzed by its own contract; `make fuzz-api` does the same for longer."""

import pytest
from product import Product

from tests.fuzz import callers, contract, running

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
