"""`make bench-claim`: does taking the next batch cost more from 1,000,000 queued rows than from 10,000?

    ARGS="--rows 1000000 --rounds 8"

`detector.dispatch.claim` itself, on a PostgreSQL of its own with a database for each length of the queue. Rows of all
lanes are mixed; once with one model version, once with many, so that a batch finds few that fit among its neighbours.
The two queues take turns; what was claimed arrives anew behind. Medians; the plan is that of the very statement.
"""

import argparse
import json
import statistics
from typing import Any

from benchmarks.stand import Stand, run

FEW_ROWS, MANY_ROWS = 10_000, 1_000_000
ROUNDS, CLAIMS = 8, 8  # claims a round, of each queue
VERSIONS = {"one_version": 1, "many_versions": 50}
MOST_RATIO = 1.5


def measure(stand: Stand, versions: int, options: argparse.Namespace) -> dict[str, Any]:
    """Both queues filled with that many model versions, then in turns."""
    from benchmarks.claim_rows import Queue

    queues = [Queue("few", FEW_ROWS), Queue("many", options.rows)]
    for queue in queues:
        stand.go_on()
        with stand.console.step(f"Queueing {queue.rows:,} texts for {versions} model version{'s'[: versions > 1]}"):
            queue.fill(versions)
    for number in range(options.rounds):
        for queue in queues if number % 2 else reversed(queues):
            queue.claim(CLAIMS)
            stand.go_on()
    few, many = (statistics.median(queue.times) * 1000 for queue in queues)
    return {
        "few_ms": round(few, 2),
        "many_ms": round(many, 2),
        "ratio": round(many / few, 2),
        "texts_a_batch": round(statistics.mean(queues[1].texts)),
        "plan": queues[1].plan(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=MANY_ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with Stand() as stand:
        from benchmarks.claim_rows import make_databases

        make_databases(["few", "many"])
        found = {name: measure(stand, versions, options) for name, versions in VERSIONS.items()}
    for name, of in found.items():
        print(f"{name}: {of['few_ms']} ms from {FEW_ROWS:,} rows, {of['many_ms']} ms from {options.rows:,}")
        print(f"  ratio {of['ratio']}, {of['texts_a_batch']} texts a batch, plan: {of['plan']}")
    targets = {f"{name}.ratio": MOST_RATIO for name in found} | {f"{name}.plan": "submission_lanes" for name in found}
    print(json.dumps({"bench": "claim", "figures": found, "targets": targets}))


if __name__ == "__main__":
    run(main)
