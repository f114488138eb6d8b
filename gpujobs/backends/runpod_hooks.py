"""The address at which RunPod wakes us when a job has ended, and which run it is about.

RunPod signs nothing, so the address is the secret: it carries our signature over the run's id. Whoever knows one may
have that run asked after a little sooner, and nothing else: what a job brought is always fetched from RunPod.
May be imported by: backends/runpod.py, and the view that answers at `PATH`.
"""

import uuid
from datetime import timedelta

from django.core.signing import BadSignature, TimestampSigner

PATH = "/hooks/runpod/"  # below the site's public address; then the token
MAX_AGE = timedelta(days=1)  # longer than any batch is waited for
SALT = "gpujobs.backends.runpod_hooks"


def address(base_url: str, run_id: str) -> str:
    """Where RunPod posts to when a job of this run has ended.

    base_url: the site's public address, as in RUNPOD_WEBHOOK_URL.
    """
    return f"{base_url.rstrip('/')}{PATH}{_signer().sign(run_id)}"


def run_of(token: str) -> uuid.UUID | None:
    """The run that an address is about; None where it is not ours, or too old."""
    try:
        return uuid.UUID(_signer().unsign(token, max_age=MAX_AGE))
    except (BadSignature, ValueError):
        return None


def _signer() -> TimestampSigner:
    """Made anew each time, as it reads the keys of the settings; its separator needs no escape in a path."""
    return TimestampSigner(sep=".", salt=SALT)
