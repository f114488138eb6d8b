"""The command line behind the Makefile: `python3.11 -m devstack --help`."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from devstack import commands, install, rehearsal, testing
from devstack.checkout import Checkout
from devstack.errors import DevstackError, Stopped
from devstack.privileges import end_with_parent

INTERRUPTED = 130
FORWARDING = ("manage", "test", "rehearse", "python")  # commands that hand their arguments on


def main() -> int:
    """Parse, run one command, turn a DevstackError into its sentence."""
    arguments = parse(sys.argv[1:])
    checkout = Checkout.at(Path(__file__).resolve().parent.parent)
    if arguments.with_parent:
        end_with_parent(signal.SIGTERM)  # a killed `make` must not leave its stack behind
    try:
        install.check_python()
        return _dispatch(arguments, checkout)
    except DevstackError as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except subprocess.SubprocessError as problem:
        print(f"\nA process could not be started: {problem}", file=sys.stderr)
        return 1
    except Stopped:
        return INTERRUPTED


def _dispatch(arguments: argparse.Namespace, checkout: Checkout) -> int:
    match arguments.command:
        case "run":
            return commands.run(checkout)
        case "manage":
            return commands.manage(checkout, arguments.rest)
        case "test":
            return testing.test(checkout, arguments.rest)
        case "rehearse":
            return rehearsal.tool(checkout, arguments.rest)
        case "python":
            return testing.python(checkout, arguments.rest)
    plain = {
        "run-demo": commands.run_demo,
        "run-gpu-demo": commands.run_gpu_demo,
        "stop": commands.stop,
        "reset": commands.reset,
        "logs": commands.logs,
        "lint": testing.lint,
        "format": testing.reformat,
    }
    return plain[arguments.command](checkout)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Our own options stand before the command; all that follows it is the command's, in `rest`."""
    parser = _parser()
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    parsed = parser.parse_args(words[: at + 1])
    parsed.rest = list(words[at + 1 :])
    if parsed.rest and parsed.command not in FORWARDING:
        parser.error(f"{parsed.command} takes no arguments: {' '.join(parsed.rest)}")
    return parsed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="devstack", description=__doc__)
    parser.add_argument("--with-parent", action="store_true", help="end when the calling process ends")
    commands_ = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "install what is missing and run everything until Ctrl-C"),
        ("run-demo", "the same, with plans that can be bought at the loopback Stripe"),
        ("run-gpu-demo", "the same, with the loopback RunPod in the place of the real one"),
        ("stop", "end what runs in this checkout"),
        ("reset", "delete its data (CONFIRM=1)"),
        ("logs", "follow the logs"),
        ("lint", "ruff, mypy, missing migrations"),
        ("format", "let ruff put the code in order"),
        ("manage", "manage.py against the stack, or with servers of its own"),
        ("test", "pytest with throw-away servers"),
        ("rehearse", "python -m MODULE beside the whole product on throw-away servers"),
        ("python", "the virtual environment's Python with all packages"),
    ):
        commands_.add_parser(name, help=text)
    return parser


if __name__ == "__main__":
    sys.exit(main())
