"""The whole product with a state folder of its own: supervisor, servers, web, workers and beat, as `make run` has them.

Run as: python product_stack.py VAR [--gpu-demo]   (PORT and settings from the environment; packages of this Python)
With --gpu-demo: as `make run-gpu-demo` has them.
"""

import signal
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from devstack import commands, gpu_demo, ports, programs  # noqa: E402
from devstack.checkout import Checkout  # noqa: E402
from devstack.errors import DevstackError  # noqa: E402
from devstack.privileges import end_with_parent  # noqa: E402


def main() -> int:
    """Until it is told to end, or the tests that started it are gone."""
    end_with_parent(signal.SIGTERM)
    checkout = Checkout(root=REPOSITORY, venv=Path(sys.prefix), var=Path(sys.argv[1]))
    host = "127.0.0.1"
    stack = programs.product(checkout, host)
    if "--gpu-demo" in sys.argv:
        stack = gpu_demo.stack(checkout, host, ports.free_port())
    try:
        return commands.run(checkout, stack, prepare=False)
    except DevstackError as problem:
        sys.stdout.write(f"{problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
