"""Who is asking, by `Authorization: Bearer ink_live_…`. Nowhere else: addresses end up in logs and histories."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from billing import keys
from billing.models import ApiKey, User
from inkcloak.errors import Invalid
from inkcloak.strict_json import KEY_FIELDS

SCHEME = "Bearer"
# Parameters under which a key would be sent in an address.
KEY_PARAMETERS = frozenset({"api_key", "apikey", "key", "access_token", "token", "authorization"})


class ApiKeyAuthentication(BaseAuthentication):
    """`request.auth` is the ApiKey, with its account; `request.user` who made it, as far as that is known."""

    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, ApiKey] | None:
        """None without a header. Raises AuthenticationFailed with the key's fault, Invalid for one in the address."""
        _refuse_key_in_address(request)
        scheme, _space, token = request.headers.get("Authorization", "").strip().partition(" ")
        if not scheme:
            return None
        if scheme.lower() != SCHEME.lower():
            message = _("Send the API key as: Authorization: Bearer ink_live_…")
            raise AuthenticationFailed(message, "wrong_scheme")
        try:
            key = keys.verify(token.strip(), timezone.now())
        except keys.BadKey as error:
            raise AuthenticationFailed(str(error.message), error.code) from None
        return key.created_by or AnonymousUser(), key

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="api"'


def refuse_key_in_form(fields: Mapping[str, Iterable[Any]]) -> None:
    """Raises Invalid for a key among a form's fields, by a name meant for one or by its looks. Files are not read."""
    for name, values in fields.items():
        if name.lower() in KEY_PARAMETERS | KEY_FIELDS or any(_holds_a_key(value) for value in values):
            raise Invalid("key_in_body", _("Send the API key in the Authorization header only, never in the body."))


def _holds_a_key(value: Any) -> bool:
    return isinstance(value, str) and keys.FORMAT.search(value) is not None


def _refuse_key_in_address(request: Request) -> None:
    for name, values in request.query_params.lists():
        if name.lower() in KEY_PARAMETERS or any(keys.LOOKS_LIKE_A_KEY.match(value) for value in values):
            message = _("Send the API key in the Authorization header only: an address is logged. Rotate that key.")
            raise Invalid("key_in_address", message)
