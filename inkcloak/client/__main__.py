"""python -m inkcloak.client: the command, where its script is not on the path."""

import sys

from inkcloak.client.cli import main

sys.exit(main())
