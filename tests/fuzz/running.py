"""The three callers one after the other, and the report of what they met."""

import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.fuzz import contract, phases, walk
from tests.fuzz.callers import Caller

LOCAL = "127.0.0.1,localhost,::1"


@dataclass
class Result:
    """What one caller met. reached: operations that succeeded at least once.  findings: what is wrong, a text each."""

    caller: Caller
    operations: list[str]
    reached: set[str]
    requests: int
    seconds: float
    stopped: bool
    statuses: dict[str, Counter[int]]
    findings: list[str]


def all_callers(
    base_url: str,
    callers: Sequence[Caller],
    *,
    examples: int,
    seconds: float,
    only: Mapping[str, Collection[str]] | None = None,
) -> list[Result]:
    """seconds: for all of them together; each gets its share of what is left.

    only: these phases, by the caller's name.
    """
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = LOCAL
    end = time.monotonic() + seconds
    results: list[Result] = []
    for number, caller in enumerate(callers):
        share = (end - time.monotonic()) / (len(callers) - number)
        chosen = (only or {}).get(caller.name, contract.PHASES)
        results.append(one_caller(base_url, caller, examples=examples, seconds=share, chosen=chosen))
    return results


def one_caller(
    base_url: str, caller: Caller, *, examples: int, seconds: float, chosen: Collection[str] = contract.PHASES
) -> Result:
    """The walk, the phases on what it made, and the operations that neither reached."""
    begin = time.monotonic()
    schema = contract.schema_of(base_url, caller, examples=examples, phases=chosen)
    with contract.closed_port() as port, contract.only_loopback(port):
        walked = walk.through(schema, caller, port)
        kept = walk.through(schema, caller, port, making_only=True)
        with phases.real_ids(kept.ids):
            met = phases.run(schema, caller, seconds=seconds - (time.monotonic() - begin))
    operations = sorted(map(walk.name_of, walk.operations_of(schema)))
    good = {name for name, counted in met.statuses.items() if any(status < 300 for status in counted)}
    good |= {name for name, status in walked.statuses.items() if status < 300}
    unreached = [name for name in operations if name not in good and not walk.never(caller, name)]
    wrongly = [name for name in good if walk.never(caller, name)]
    findings = [*walked.findings, *kept.findings, *met.findings.values()]
    findings += [f"{caller.name}: {name}: was never reached with success" for name in unreached]
    findings += [f"{caller.name}: {name}: was reached, which contract.NEVER denies" for name in wrongly]
    return Result(caller, operations, good, met.requests, time.monotonic() - begin, met.stopped, met.statuses, findings)


def lines(results: Sequence[Result]) -> Iterator[str]:
    """The report: for each caller what was reached and with which statuses, then all findings."""
    for result in results:
        ended = ", stopped by its time" if result.stopped else ""
        yield (
            f"{result.caller.name}: {result.requests} requests in {result.seconds:.0f} s{ended}; "
            f"{len(result.reached)} of {len(result.operations)} operations reached with success"
        )
        for name in result.operations:
            counted = result.statuses.get(name, Counter())
            mark = "2xx" if name in result.reached else "-"
            yield f"  {mark:3} {name:28} " + " ".join(f"{status}×{counted[status]}" for status in sorted(counted))
    found = [finding for result in results for finding in result.findings]
    yield f"{len(found)} findings"
    yield from found
