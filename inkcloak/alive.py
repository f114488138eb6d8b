"""`python -m inkcloak.alive web PORT | worker NAME | beat FILE`: what a container's health check asks; 0 = alive.

Each answers for one process and costs little: Django is not started. They see a process that hangs, which its exit
status does not. Docker only shows what they say; a process that ends is started again by its restart policy.
"""

import http.client
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from celery import Celery
from kombu.exceptions import KombuError

from inkcloak import env

ANSWER_SECONDS = 3.0
# Beat writes its clock to disk every 180 s.
CLOCK_SECONDS = 600.0


def main(arguments: Sequence[str]) -> int:
    """0 when the process named by two arguments is alive, else 1, with the reason on standard error."""
    if len(arguments) != 2 or arguments[0] not in ASK:
        return _say(f"usage: python -m inkcloak.alive {'|'.join(ASK)} NAME")
    kind, name = arguments
    return _say(ASK[kind](name))


def _say(trouble: str) -> int:
    sys.stderr.write(f"{trouble}\n" if trouble else "")
    return 1 if trouble else 0


def web(port: str) -> str:
    """What is wrong with the web process on this port; empty: nothing. It is asked by a name that it answers to."""
    link = http.client.HTTPConnection("127.0.0.1", int(port), timeout=ANSWER_SECONDS)
    try:
        link.request("GET", "/healthz", headers={"Host": env.words("ALLOWED_HOSTS", ["localhost"])[0]})
        status = link.getresponse().status
    except OSError as error:
        return f"no answer: {error}"
    finally:
        link.close()
    return "" if status == http.HTTPStatus.OK else f"answers {status}"


def worker(name: str) -> str:
    """What is wrong with the worker `name` of this host: it must take a message from the broker and answer it."""
    node = f"{name}@{socket.gethostname()}"
    app = Celery(broker=env.text("REDIS_URL"))
    app.conf.broker_transport_options = {
        "socket_connect_timeout": ANSWER_SECONDS,
        "max_retries": 1,
        "interval_start": 0,
    }
    try:
        answered = app.control.inspect(destination=[node], timeout=ANSWER_SECONDS).ping()
    except (OSError, KombuError) as error:
        return f"no broker: {type(error).__name__}"  # its words could quote the broker's address, with the password
    finally:
        app.close()
    return "" if answered else f"{node} does not answer"


def beat(clock: str) -> str:
    """What is wrong with beat, which keeps its clock in files of this name: they are old, or not there."""
    files = Path(clock).parent.glob(f"{Path(clock).name}*")
    written = max((path.stat().st_mtime for path in files), default=0.0)
    return "" if time.time() - written < CLOCK_SECONDS else "its clock stands still"


ASK: Mapping[str, Callable[[str], str]] = {"web": web, "worker": worker, "beat": beat}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
