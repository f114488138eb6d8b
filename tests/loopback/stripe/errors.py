"""Errors as Stripe answers them: {"error": {type, code, message, param}}. Raised as Refusal, answered in one place."""

from typing import Any


class Refusal(Exception):
    """status: HTTP. kind: invalid_request_error, card_error, idempotency_error, api_error. extra: more fields."""

    def __init__(
        self, status: int, message: str, *, code: str = "", param: str = "", kind: str = "invalid_request_error",
        **extra: Any,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status = status
        self.extra = extra
        self.error: dict[str, Any] = {"type": kind, "message": message}
        if code:
            self.error["code"] = code
            self.error["doc_url"] = f"https://stripe.com/docs/error-codes/{code.replace('_', '-')}"
        if param:
            self.error["param"] = param

    def body(self) -> dict[str, Any]:
        """As JSON."""
        return {"error": {**self.error, **self.extra}}


def missing(kind: str, given: str, param: str = "id") -> Refusal:
    """404 for an object that doesn't exist (or not any more)."""
    named = kind.rsplit(".", 1)[-1].replace("_", " ")
    return Refusal(404, f"No such {named}: '{given}'", code="resource_missing", param=param)


def invalid(message: str, param: str = "", code: str = "") -> Refusal:
    """400."""
    return Refusal(400, message, param=param, code=code)


def required(param: str) -> Refusal:
    """400 for a parameter that is not there."""
    return Refusal(400, f"Missing required param: {param}.", code="parameter_missing", param=param)
