"""Secrets of webhooks: made here, sealed in the database, opened only to sign.

Signing needs the secret itself, so no hash will do. It is encrypted (Fernet) under a key derived from SECRET_KEY: a
copy of the database alone forges nothing. What an older SECRET_KEY sealed opens as long as that one is in
SECRET_KEY_FALLBACKS.
"""

import base64
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PREFIX = "whsec_"
SECRET_BYTES = 32  # the standard asks for 24 to 64
PURPOSE = b"inkcloak webhook secrets 1"


class Unreadable(Exception):
    """Sealed under a SECRET_KEY that is gone: the endpoint needs a new secret."""


def new() -> str:
    """A secret as customers see it, once."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def seal(secret: str) -> str:
    return _box().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises Unreadable."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


def _box() -> MultiFernet:
    """Seals with the first key, opens with each."""
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _key(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
