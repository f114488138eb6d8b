"""`python -m tests.fuzz`: fuzzes the product at BASE_URL, which must be on loopback and whose database is at hand.

    make fuzz-api ARGS="--examples 50 --seconds 600 --phases coverage fuzzing"

Ends with 1 when anything differs from the contract, or an operation was never reached with success.
"""

import argparse
import os
import subprocess
import sys

from tests.fuzz import callers, contract, running


def shell(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", default=os.environ.get("BASE_URL", "http://127.0.0.1:8000"))
    parser.add_argument("--examples", type=int, default=30, help="of each operation, in each phase (default: 30)")
    parser.add_argument("--seconds", type=float, default=900, help="for all together (default: 900)")
    parser.add_argument("--phases", nargs="+", choices=contract.PHASES, default=contract.PHASES)
    options = parser.parse_args(arguments)
    try:
        contract.refuse_all_but_loopback(options.base_url)
    except ValueError as refusal:
        parser.error(str(refusal))
    results = running.all_callers(
        options.base_url,
        callers.made(shell),
        examples=options.examples,
        seconds=options.seconds,
        only=dict.fromkeys((callers.LIVE, callers.TEST, callers.NOBODY), options.phases),
    )
    print("\n".join(running.lines(results)))  # noqa: T201
    return 1 if any(result.findings for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
