"""Each way for a check to end is one line of the account's ledger, and only a verdict costs words."""

from collections.abc import Callable

from django.test import Client
from factories import NOW, accepted, checked, owner, visitor
from samples import HUMAN

from billing import keys
from billing.models import Meter, User, WordEntry
from detector import collect, retention
from detector.models import Submission

DETECTIONS = "/api/v1/detections"
MadeKey = Callable[..., keys.Issued]


def lines(submission: Submission) -> list[tuple[str, int]]:
    return list(WordEntry.objects.filter(check_id=submission.pk).values_list("kind", "words"))


def test_a_verdict_is_charged_with_the_words_that_were_reserved(alice: User, champion: object) -> None:
    submission = checked(owner(alice))
    assert lines(submission) == [("charged", submission.words)]
    assert Meter.objects.get().used == submission.words > 0


def test_while_a_check_is_under_way_it_has_no_line(alice: User, champion: object) -> None:
    assert lines(accepted(owner(alice))) == []


def test_a_repeat_is_a_zero_line(alice: User, champion: object) -> None:
    checked(owner(alice), now=NOW)
    assert lines(accepted(owner(alice))) == [("cached", 0)]


def test_too_little_evidence_is_a_zero_line(alice: User, champion: object) -> None:
    assert lines(accepted(owner(alice), "Too short to tell.")) == [("abstained", 0)]


def test_a_failed_check_is_a_zero_line_once(alice: User, champion: object) -> None:
    submission = accepted(owner(alice))
    collect.give_up(submission, "deadline", now=NOW)
    collect.give_up(submission, "deadline", now=NOW)
    assert lines(submission) == [("failed", 0)]
    assert (Meter.objects.get().held, Meter.objects.get().used) == (0, 0)


def test_a_check_deleted_in_flight_is_a_zero_line_and_a_finished_one_keeps_its_own(
    alice: User, champion: object
) -> None:
    done = checked(owner(alice))
    flying = accepted(owner(alice), reuse=False)
    words = done.words
    for submission in (flying, done):
        retention.delete(Submission.objects.get(pk=submission.pk))
    assert lines(flying) == [("deleted", 0)]
    assert lines(done) == [("charged", words)]


def test_visitors_have_no_lines(champion: object) -> None:
    checked(visitor())
    assert not WordEntry.objects.exists()


def test_the_ledger_adds_up_to_what_the_meter_says(alice: User, champion: object) -> None:
    checked(owner(alice))
    checked(owner(alice), HUMAN + " One more sentence makes it another text.")
    accepted(owner(alice))
    assert sum(WordEntry.objects.values_list("words", flat=True)) == Meter.objects.get().used


def post(token: str, **headers: str):
    usual = {"Authorization": f"Bearer {token}", "Prefer": "wait=0"}
    return Client().post(DETECTIONS, {"text": HUMAN}, content_type="application/json", headers=usual | headers)


def test_a_replayed_request_is_a_zero_line_of_its_own(
    transactional_db: None, alice: User, champion: object, key_of: MadeKey
) -> None:
    token = key_of(alice).token
    first, again = (post(token, **{"Idempotency-Key": "k"}) for _n in range(2))
    assert first.json()["id"] == again.json()["id"]
    assert again["Idempotency-Replayed"] == "true"
    assert lines(Submission.objects.get()) == [("replayed", 0)]


def test_a_test_key_leaves_a_line_and_touches_no_meter(alice: User, champion: object, key_of: MadeKey) -> None:
    assert post(key_of(alice, live=False).token).status_code == 201
    assert [(entry.kind, entry.words) for entry in WordEntry.objects.all()] == [("test", 0)]
    assert not Meter.objects.exists()
    assert not Submission.objects.exists()
