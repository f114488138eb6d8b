"""Fifty programs at once, words for ten: ten are accepted, none is lost, none is charged twice."""

from django.test import Client
from factories import together
from pytest_django import Settings
from samples import HUMAN

from billing.models import Meter, Reservation, User
from detector.models import Submission

DETECTIONS = "/api/v1/detections"
THREADS, PLACES = 50, 10


def test_exactly_as_many_are_accepted_as_there_are_words_for(
    transactional_db: None, alice: User, champion: object, key_of, settings: Settings
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 1000
    token = key_of(alice).token

    def post(_number: int) -> tuple[int, dict]:
        headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=0"}
        answer = Client().post(DETECTIONS, {"text": HUMAN}, content_type="application/json", headers=headers)
        return answer.status_code, answer.json()

    price = Client().post(
        DETECTIONS,
        {"text": HUMAN, "dry_run": True},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    ).json()["words_to_charge"]  # fmt: skip
    settings.FREE_WORDS_PER_MONTH = PLACES * price + price - 1

    answers = together(post, THREADS)
    assert sorted(status for status, _body in answers) == [202] * PLACES + [429] * (THREADS - PLACES)
    assert {body["code"] for status, body in answers if status == 429} == {"words_used"}
    accepted = {body["id"] for status, body in answers if status == 202}
    assert accepted == {str(pk) for pk in Submission.objects.values_list("pk", flat=True)}
    meter = Meter.objects.get()
    assert (meter.held, meter.used) == (PLACES * price, 0)
    assert Reservation.objects.count() == PLACES
