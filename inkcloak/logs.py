"""What a log line says besides its words: which request it belongs to. And what a log is spared: beat's every tick, and
addresses that are secrets.
"""

import logging
import re
from contextvars import ContextVar

# Set by inkcloak.request_ids; asgiref carries it into the threads of synchronous views.
current_request: ContextVar[str] = ContextVar("current_request", default="")


class NotEveryTick(logging.Filter):
    """Drops beat's line for each due task; its start, errors and everybody else's lines stay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.name == "celery.beat" and str(record.msg).startswith("Scheduler: Sending due task"))


class SecretAddresses(logging.Filter):
    """Of addresses that open something to whoever has them, the server's line for each request keeps the beginning."""

    SECRET = re.compile(r"^(/s/|/hooks/runpod/)[^/?]+")

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(self._shown(one) for one in record.args)
        return True

    def _shown(self, argument: object) -> object:
        return self.SECRET.sub(r"\1…", argument) if isinstance(argument, str) else argument


class RequestId(logging.Filter):
    """Adds `request_id`, with a space behind it; empty outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        name = current_request.get()
        record.request_id = f"{name} " if name else ""
        return True
