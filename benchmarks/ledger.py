"""`make bench-ledger`: do budget decisions and the cost pages take longer over 10,000,000 lines than over 100,000?

    ARGS="--rows 10000000 --rounds 15"

Two databases of one PostgreSQL, over the same 90 days: one with 100,000 lines of 200 customers, one with a hundred
times as many of each. The small one is filled with the triggers on, as in service; the large one with triggers and
indexes off, for which its sums are added up from the lines afterwards. In both the sums are then held against the
lines, and again after lines that were posted in the ordinary way. The two take turns; medians.
"""

import argparse
import json
from typing import Any

from benchmarks.stand import Stand, run

FEW_ROWS, MANY_ROWS = 100_000, 10_000_000
ROUNDS = 15
MOST_RATIO = 1.5
# What must not grow with the ledger. The dearest customers are looked for among all of them: shown, not promised.
TARGETS = ("reserve", "spent_day", "spent_month", "spent_account_month", "spend_by_day")


def measure(stand: Stand, options: argparse.Namespace) -> dict[str, Any]:
    """Both filled, then in turns."""
    from benchmarks.ledger_rows import MEASURED, Book

    books = [Book("few", FEW_ROWS, quick=False), Book("many", options.rows, quick=True)]
    for book in books:
        stand.go_on()
        with stand.console.step(f"Writing {book.rows:,} lines"):
            book.fill()
        with stand.console.step("Holding the sums against the lines"):
            book.prove()
    with stand.console.step(f"Asking both {options.rounds} times"):
        for number in range(options.rounds + 1):  # the first is to get warm
            stand.go_on()
            for book in books if number % 2 else reversed(books):
                book.ask(count=number > 0)
    for book in books:
        stand.go_on()
        with stand.console.step("Posting more, and holding the sums against the lines again"):
            book.post_more()
            book.prove()
    few, many = books
    figures: dict[str, Any] = {}
    for name in MEASURED:
        one, other = few.median_ms(name), many.median_ms(name)
        figures[name] = {"few_ms": round(one, 2), "many_ms": round(other, 2), "ratio": round(other / one, 2)}
    figures["sums_that_differed"] = few.differed + many.differed
    figures["fill_seconds"] = {book.name: round(book.fill_seconds) for book in books}
    figures["sums"] = {book.name: book.sums() for book in books}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=MANY_ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with Stand() as stand:
        from benchmarks.claim_rows import make_databases

        make_databases(["few", "many"])
        found = measure(stand, options)
    for name, of in found.items():
        if isinstance(of, dict) and "ratio" in of:
            print(
                f"{name}: {of['few_ms']} ms over {FEW_ROWS:,}, {of['many_ms']} ms over {options.rows:,}: {of['ratio']}"
            )
    print(f"sums that differed from their lines: {found['sums_that_differed']}")
    targets: dict[str, float] = {f"{name}.ratio": MOST_RATIO for name in TARGETS} | {"sums_that_differed": 0}
    print(json.dumps({"bench": "ledger", "figures": found, "targets": targets}))


if __name__ == "__main__":
    run(main)
