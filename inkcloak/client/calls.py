"""Calls about one text, and about the account."""

import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import httpx

from inkcloak.client.batches import as_json
from inkcloak.client.errors import CHECK_FAILED, CheckFailed, NotFinished
from inkcloak.client.retrying import Policy
from inkcloak.client.shapes import Detection, ModelVersion, Quote, Usage
from inkcloak.client.steps import Pause, Requests, Send, Steps, held, json_object, shaped

PAUSE_SECONDS = 2.0  # between questions that come back at once
ID = re.compile(r"[0-9A-Fa-f-]{1,36}")


class Options(TypedDict, total=False):
    """What may be said about a text.

    language: ISO 639-1; decides what the text leaves open.
    model: a version of `models()`, which then answers and no other.
    max_fpr: the share of human texts that may be called AI (0.005, 0.01, 0.05).
    store: False to have the text forgotten as soon as there is a verdict.  metadata: your own labels, strings.
    """

    language: str
    model: str
    max_fpr: float
    store: bool
    metadata: Mapping[str, str]


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something. Raises TypeError for a name that is none: misspelt is not left out."""
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise TypeError(f"no such option: {', '.join(unknown)}")
    return {name: value for name, value in options.items() if value is not None}


def new_key() -> str:
    """An Idempotency-Key for one call and all its tries."""
    return uuid.uuid4().hex


class Calls(Requests):
    """base_url: with which Location must begin to be followed."""

    def __init__(self, base_url: str, policy: Policy, clock: Callable[[], float]) -> None:
        super().__init__(policy, clock)
        self.base_url = base_url

    # --- One text ---

    def detect(self, text: str, options: Mapping[str, Any], wait: float, key: str | None) -> Steps[Detection]:
        body = as_json({"text": text, **chosen(options)})
        send = Send("POST", "/detections", body, idempotency_key=key or new_key(), hold=held(wait))
        return (yield from self._finished(send, wait))

    def rerun(self, detection_id: str, wait: float, key: str | None) -> Steps[Detection]:
        path = f"{_path(detection_id)}/rerun"
        send = Send("POST", path, b"{}", idempotency_key=key or new_key(), hold=held(wait))
        return (yield from self._finished(send, wait))

    def quote(self, text: str, options: Mapping[str, Any]) -> Steps[Quote]:
        body = as_json({"text": text, "dry_run": True, **chosen(options)})
        return shaped(Quote.from_json, (yield from self.json(Send("POST", "/detections", body))))

    def get(self, detection_id: str, wait: float) -> Steps[Detection]:
        return (yield from self._watched(_path(detection_id), self.clock() + wait))

    def delete(self, detection_id: str) -> Steps[None]:
        yield from self.ask(Send("DELETE", _path(detection_id)))

    def _finished(self, send: Send, wait: float) -> Steps[Detection]:
        """Raises CheckFailed, NotFinished; without a wait the check comes as it stands."""
        deadline = self.clock() + wait
        answer = yield from self.ask(send)
        found = shaped(Detection.from_json, json_object(answer))
        if not found.is_finished and wait > 0:
            found = yield from self._watched(self._location(answer) or _path(found.id), deadline)
        if found.status == "failed":
            raise CheckFailed(503, CHECK_FAILED, f"detection {found.id} ended without a verdict ({found.failure})")
        if wait > 0 and not found.is_finished:
            raise NotFinished(found)
        return found

    def _watched(self, path: str, deadline: float) -> Steps[Detection]:
        """The check when it is finished, or as it stands at the deadline."""
        while True:
            began = self.clock()
            body = yield from self.json(Send("GET", path, hold=held(deadline - began) or None))
            found = shaped(Detection.from_json, body)
            if found.is_finished or self.clock() >= deadline:
                return found
            if self.clock() - began < 1:  # a service that doesn't wait must not be asked without end
                yield Pause(min(PAUSE_SECONDS, deadline - self.clock()))

    def _location(self, answer: httpx.Response) -> str:
        """Where the check is, if that is ours: the key goes nowhere else."""
        location = answer.headers.get("Location", "")
        return location.removeprefix(self.base_url) if location.startswith(f"{self.base_url}/") else ""

    # --- The account ---

    def page(self, cursor: str | None, batch: str | None, size: int) -> Steps[tuple[tuple[Detection, ...], str | None]]:
        asked = {"limit": str(size), "cursor": cursor, "batch": batch}
        params = {name: value for name, value in asked.items() if value}
        found = yield from self.json(Send("GET", "/detections", params=params))
        return shaped(lambda page: tuple(map(Detection.from_json, page["items"])), found), found.get("next_cursor")

    def usage(self) -> Steps[Usage]:
        return shaped(Usage.from_json, (yield from self.json(Send("GET", "/usage"))))

    def models(self) -> Steps[tuple[ModelVersion, ...]]:
        found = yield from self.json(Send("GET", "/models"))
        return shaped(lambda answer: tuple(map(ModelVersion.from_json, answer["items"])), found)


def _path(detection_id: str) -> str:
    if not ID.fullmatch(str(detection_id)):
        raise ValueError("this is no id of a detection")
    return f"/detections/{detection_id}"
