"""Secrets of webhooks: made here, sealed in the database (inkcloak.sealing), opened only to sign.

Signing needs the secret itself, so no hash will do.
"""

import base64
import secrets

from inkcloak import sealing
from inkcloak.sealing import Unreadable

__all__ = ["PREFIX", "Unreadable", "new", "seal", "unseal"]

PREFIX = "whsec_"
SECRET_BYTES = 32  # the standard asks for 24 to 64
PURPOSE = b"inkcloak webhook secrets 1"


def new() -> str:
    """A secret as customers see it, once."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def seal(secret: str) -> str:
    return sealing.seal(secret, purpose=PURPOSE)


def unseal(sealed: str) -> str:
    """Raises Unreadable: the endpoint needs a new secret."""
    return sealing.unseal(sealed, purpose=PURPOSE)
