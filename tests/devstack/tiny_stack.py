"""A stack of the real supervisor, servers and locks around a page of ten lines, to be tested in seconds.

Run as: python tiny_stack.py ROOT run|stop   (PORT from the environment; servers from this Python's packages)
"""

import http.server
import os
import sys
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from devstack import commands  # noqa: E402
from devstack.checkout import Checkout  # noqa: E402
from devstack.child import Program  # noqa: E402
from devstack.errors import DevstackError  # noqa: E402
from devstack.leftovers import mark  # noqa: E402
from devstack.stack import Stack  # noqa: E402


class Page(http.server.BaseHTTPRequestHandler):
    """Answers every GET with its process id."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(os.getpid()).encode())


def serve() -> None:
    """The page, until it is killed."""
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Page).serve_forever()


def stack(checkout: Checkout) -> Stack:
    """Both servers and one page."""

    def programs(environment: Mapping[str, str]) -> list[Program]:
        return [
            Program(
                name="page",
                argv=(sys.executable, __file__, "-", "serve"),
                log=checkout.logs / "page.log",
                cwd=checkout.root,
                env=dict(environment) | mark(checkout.var),
            )
        ]

    return Stack(steps=(), programs=programs, health_path="/", ready_line="ready {port}", python=Path(sys.executable))


def main() -> int:
    """One command of the tiny stack."""
    root, command = sys.argv[1:]
    if command == "serve":
        serve()
    checkout = Checkout(root=Path(root), venv=Path(sys.prefix), var=Path(root) / "var")
    try:
        if command == "stop":
            return commands.stop(checkout)
        return commands.run(checkout, stack(checkout), prepare=False)
    except DevstackError as problem:
        sys.stdout.write(f"{problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
