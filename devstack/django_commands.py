"""Several manage.py commands in one process: Django's start-up costs a second each time, and a start has ten.

Runs in the virtual environment, unlike the rest of this package, and imports Django only when it does. Each argument is
one command line. Only what commands marked with a leading `+` print goes to standard output; the rest is for the log.
"""

import os
import shlex
import sys
from collections.abc import Sequence


def main(command_lines: Sequence[str]) -> None:
    """Run them in order; the first error ends it."""
    import django
    from django.core.management import call_command

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")
    django.setup()
    for line in command_lines:
        shown = line.startswith("+")
        call_command(*shlex.split(line.removeprefix("+")), stdout=sys.stdout if shown else sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
