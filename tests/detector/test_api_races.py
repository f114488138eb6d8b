"""Many requests at one moment: one check for one Idempotency-Key, and never a word more than there is."""

from collections import Counter
from typing import Any

import factories
import pytest
import samples
from api_calls import Caller
from django.http import HttpResponse
from django.test import Client

from billing.models import Meter, User
from detector.models import Submission

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller(alice: User, settings: Any) -> Caller:
    settings.API_REQUESTS_PER_MINUTE = 10_000
    factories.champion()
    return Caller(alice)


def post(caller: Caller, text: str, **headers: str) -> HttpResponse:
    """From a client of its own: threads don't share one."""
    body = {"text": text}
    return Client().post("/api/v1/detections", body, "application/json", headers=caller.headers(**headers))


def test_twenty_posts_of_one_key_are_one_check(caller: Caller) -> None:
    answers = factories.together(lambda _n: post(caller, samples.AI, **{"Idempotency-Key": "essay-17"}), 20)
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses.keys() <= {202, 409}
    made = {answer.json()["id"] for answer in answers if answer.status_code == 202}
    assert made == {str(Submission.objects.get().pk)}
    assert all(answer["Retry-After"] for answer in answers if answer.status_code == 409)
    assert Meter.objects.get().held == Submission.objects.get().words


def test_fifty_posts_and_words_for_ten(caller: Caller, settings: Any) -> None:
    text = f"{samples.HUMAN} Number one."
    words = caller.post("/detections", {"text": text, "dry_run": True}).json()["words"]
    settings.FREE_WORDS_PER_MONTH = 10 * words
    answers = factories.together(lambda n: post(caller, f"{samples.HUMAN} Number {'a' * (n + 1)}."), 50)
    assert Counter(answer.status_code for answer in answers) == {202: 10, 429: 40}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 429} == {"words_used"}
    meter = Meter.objects.get()
    assert (meter.used, meter.held) == (0, 10 * words)
    assert Submission.objects.count() == 10
