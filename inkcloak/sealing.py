"""Secrets that must be read again are encrypted in the database: a copy of it alone opens nothing.

Fernet under keys derived from SECRET_KEY, one for each purpose. What an older SECRET_KEY sealed opens as long as that
one is in SECRET_KEY_FALLBACKS.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class Unreadable(Exception):
    """Sealed under a SECRET_KEY that is gone."""


def seal(secret: str, *, purpose: bytes) -> str:
    return _box(purpose).encrypt(secret.encode()).decode()


def unseal(sealed: str, *, purpose: bytes) -> str:
    """Raises Unreadable."""
    try:
        return _box(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


def _box(purpose: bytes) -> MultiFernet:
    """Seals with the first key, opens with each."""
    known = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([_key(secret, purpose) for secret in known])


def _key(secret: str, purpose: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
