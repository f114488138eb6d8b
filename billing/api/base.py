"""ApiView: what every view of the API has in common. The key, the limit of requests, and both limits in the headers."""

from typing import Any, cast

from django.http import Http404, HttpRequest
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.views import APIView

from billing import accounts, throttling
from billing.authentication import ApiKeyAuthentication
from billing.models import Account, ApiKey
from billing.permissions import HasKey
from inkcloak.cursors import CursorPages
from inkcloak.errors import DomainError
from inkcloak.strict_json import MAX_BODY_BYTES


class ApiView(APIView):
    """Views name their scope: `permission_classes = [HasScope.of("checks:read")]`.

    max_body_bytes: of a JSON body; more is refused with 413 before it is read.
    """

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasKey]
    pagination_class = CursorPages  # of views whose answer is a list: the contract reads it here
    max_body_bytes: int = MAX_BODY_BYTES

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """A body that comes in chunks announces no length, and the framework would take it for none."""
        if request.headers.get("Transfer-Encoding") and not request.META.get("CONTENT_LENGTH"):
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def perform_authentication(self, request: Request) -> None:
        """Counts the request too: by account, or by address where there is no good key.

        Raises Exhausted (rate_limited) when there were too many.
        """
        try:
            super().perform_authentication(request)
        except (APIException, DomainError):
            throttling.admit(request, None)
            raise
        throttling.admit(request, key_of(request))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        for name, value in throttling.headers(self.request).items():
            answer[name] = value
        answer.headers.setdefault("Cache-Control", "private, no-store")
        return answer


class NothingHere(ApiView):
    """Every address below /api/ that is none: the same error as a foreign id's, with the limits in its headers."""

    permission_classes = []
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404


def key_of(request: Request) -> ApiKey | None:
    """The key that this request came with."""
    return request.auth if isinstance(request.auth, ApiKey) else None


def asking(request: Request) -> ApiKey:
    """The same behind a permission that asks for a key, where there always is one."""
    return cast(ApiKey, request.auth)


def account_of(request: Request) -> Account:
    """Whose data this is about. Only behind a permission that asks for a key."""
    return asking(request).account


def owner_of(request: Request) -> accounts.Owner:
    """Who owns what this request makes. Only behind a permission that asks for a key."""
    key = asking(request)
    return accounts.Owner(
        account=key.account, user=key.created_by, address_key=accounts.keyed_address(request._request)
    )
