"""What a log is spared: beat says each tick, every few seconds, that it sends what the schedule says."""

import logging


class NotEveryTick(logging.Filter):
    """Drops beat's line for each due task; its start, errors and everybody else's lines stay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.name == "celery.beat" and str(record.msg).startswith("Scheduler: Sending due task"))
