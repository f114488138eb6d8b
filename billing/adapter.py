"""How allauth meets our user: an account of one's own from the first sign-up on."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from billing.accounts import account_of, client_address
from billing.models import User


class AccountAdapter(DefaultAccountAdapter):
    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        saved: User = super().save_user(request, user, form, commit)
        if commit:
            account_of(saved)
        return saved

    def get_client_ip(self, request: HttpRequest) -> str:
        """allauth's rate limits count by the address that our own limits count by."""
        return client_address(request)
