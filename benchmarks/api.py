"""`make bench-api`: what the API adds to a bare view of REST framework, and whether lists stay as fast as they grow.

    ARGS="--rows 1000000 --rounds 5 --requests 400"

One web process, the product's with two views beside its own (api_keyed.py), a bare one beside it (api_bare.py) on the
same server, PostgreSQL and Redis, all thrown away at the end. Rounds alternate; medians.

    usage, create     requests a second, as a share of the bare view's: with nobody scoring, and beside a worker that
                      scores what is created
    key               the same view with and without a key, over HTTP; and the check alone, on a warm connection
    list              the first page and one in the middle, of 1,000 and of 1,000,000 stored detections; and what the
                      website's list of them asks for, which counts them too
    batch             1,000 texts in one request until they are accepted, and what that takes of memory
"""

import argparse
import json
from typing import Any

from benchmarks.stand import Stand, run

FEW_ROWS, MANY_ROWS = 1_000, 1_000_000
ROUNDS, REQUESTS = 5, 400  # requests of each kind a round; a quarter as many creates
USAGE_STEPS, CREATE_STEPS = 3, 14
TARGETS = {
    # A bare view asks nobody anything; each round trip of ours may cost as much as a whole bare request. Usage makes
    # three (key, meter, count in Redis), a create eleven statements, a count and a message, and it reads the text.
    "usage_share": round(1 / (1 + USAGE_STEPS), 2),
    "create_share": round(1 / (1 + CREATE_STEPS), 2),
    "key_ms_p50": 1.0,
    "key_http_ms_p50": 1.0,
    "list.first.ratio": 1.5,
    "list.middle.ratio": 1.5,
    "batch_texts_per_s": 100,
    "batch_peak_growth_mb": 200,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=MANY_ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    options = parser.parse_args()
    from benchmarks.api_stand import SETTINGS

    with Stand(SETTINGS) as stand:
        figures = measure(stand, options)
    for name, value in figures.items():
        print(f"  {name:32} {json.dumps(value)}")
    print(json.dumps({"bench": "api", "figures": figures, "targets": TARGETS}))


def measure(stand: Stand, options: argparse.Namespace) -> dict[str, Any]:
    """All of it, one after the other."""
    from benchmarks import api_measures as measures
    from benchmarks.api_stand import Product

    product = Product(stand, FEW_ROWS, options.rows)
    figures: dict[str, Any] = {}
    with stand.console.step("Pages of a list"):
        figures["list"] = measures.lists(product, options.requests // 2)
    with stand.console.step("Checks of a key"):
        figures |= measures.keys(product, options.requests)
    with stand.console.step("Requests a second"):
        figures |= measures.shares(product, options.rounds, options.requests)
    with stand.console.step("Batches"):
        figures |= measures.batches(product, min(options.rounds, 3))
    product.start_worker()
    with stand.console.step("The same beside a worker that scores"):
        figures |= measures.beside_worker(product, min(options.rounds, 3), options.requests)
    return figures


if __name__ == "__main__":
    run(main)
