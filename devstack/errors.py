"""What ends a command with a sentence for a person instead of a traceback."""


class DevstackError(Exception):
    """A problem that the person at the terminal can act on; the text says how."""


class Stopped(Exception):
    """Ctrl-C, SIGTERM or a closed terminal arrived while something was being waited for."""
