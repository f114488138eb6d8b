"""A program that calls the API with a key of its own; how JSON comes and goes is said here once."""

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User, WordEntry

V1 = "/api/v1"


class Caller:
    """Holds one key. It never waits for a verdict unless `prefer` says so."""

    def __init__(self, user: User, *, live: bool = True, scopes: tuple[str, ...] = tuple(Scope.values)) -> None:
        self.account = account_of(user)
        issued = keys.issue(account=self.account, name="tests", scopes=scopes, now=timezone.now(), live=live)
        self.token, self.key = issued.token, issued.key
        self.client = Client(raise_request_exception=False)

    def headers(self, prefer: str = "wait=0", **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Prefer": prefer} | more

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.client.get(f"{V1}{path}", headers=self.headers(**headers))

    def delete(self, path: str, **headers: str) -> HttpResponse:
        return self.client.delete(f"{V1}{path}", headers=self.headers(**headers))

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send(path, json.dumps({} if body is None else body), **headers)

    def send(self, path: str, body: str | bytes, kind: str = "application/json", **headers: str) -> HttpResponse:
        """Whatever bytes."""
        return self.client.post(f"{V1}{path}", body, content_type=kind, headers=self.headers(**headers))

    def check(self, text: str, **more: Any) -> dict[str, Any]:
        """The detection that a create answers."""
        answer = self.post("/detections", {"text": text} | more)
        assert answer.status_code in (201, 202), answer.content
        found: dict[str, Any] = answer.json()
        return found

    def ledger(self) -> list[tuple[str, int]]:
        """Kind and words of each line, oldest first."""
        return list(WordEntry.objects.filter(account=self.account).order_by("at", "pk").values_list("kind", "words"))


def problem(answer: HttpResponse) -> tuple[int, str]:
    """Status and code of an error, which is in the one form that errors have."""
    assert answer["Content-Type"] == "application/problem+json", answer.content
    found = answer.json()
    assert found["status"] == answer.status_code
    assert found["type"].endswith(f"/api/docs/errors#{found['code']}")
    assert found["detail"]
    assert found["request_id"] == answer["X-Request-ID"]
    return answer.status_code, found["code"]
