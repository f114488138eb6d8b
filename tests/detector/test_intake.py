"""A text is accepted, answered at once, or refused by name; and what is refused leaves nothing behind."""

import uuid
from datetime import timedelta

import factories
import pytest
import redis
import samples
from django.db import transaction
from factories import NOW

from billing.models import Meter, Reservation, User
from detector import intake
from detector.models import Submission, Verdict
from gpujobs.models import GpuRun, ModelVersion
from inkcloak.errors import Exhausted, Invalid, Unavailable

TOO_LONG = "word " * 20_000 + "!"


def numbers() -> tuple[int, int, int]:
    """Rows, used units, held units."""
    meters = list(Meter.objects.values_list("used", "held"))
    return Submission.objects.count(), sum(used for used, _ in meters), sum(held for _, held in meters)


def test_it_queues_a_text_and_holds_its_words(alice: User, champion: ModelVersion) -> None:
    submission = factories.accepted(factories.owner(alice))
    assert (submission.status, submission.language, submission.model_version) == ("queued", "en", champion)
    assert (submission.characters, submission.accepted_at) == (len(samples.HUMAN), NOW)
    assert submission.deadline_at > NOW + timedelta(seconds=10)
    assert submission.words == submission.reservation.amount > 100
    assert numbers() == (1, 0, submission.words)


@pytest.mark.usefixtures("champion")
def test_it_counts_a_visitors_text_as_one_check() -> None:
    submission = factories.accepted(factories.visitor())
    assert (submission.reservation.amount, submission.account) == (1, None)
    assert Meter.objects.get().unit == "checks"


@pytest.mark.usefixtures("champion")
def test_it_queues_spanish(alice: User) -> None:
    submission = factories.accepted(factories.owner(alice), samples.SPANISH)
    assert (submission.status, submission.language) == ("queued", "es")


@pytest.mark.usefixtures("champion")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("  \n\t \u00a0\u2003 ", "empty"),
        (TOO_LONG, "too_long"),
        ("🙂" * 100_001, "too_long"),
        ("x" * 5_000_000, "too_long"),
    ],
    ids=["nothing", "only spaces", "just over", "just over in emoji", "five megabytes"],
)
def test_it_refuses_and_stores_nothing(alice: User, text: str, code: str) -> None:
    for by in (factories.owner(alice), factories.visitor()):
        with pytest.raises(Invalid) as refused:
            factories.accepted(by, text)
        assert refused.value.code == code
        assert str(refused.value.message)
    assert numbers() == (0, 0, 0)


@pytest.mark.usefixtures("champion")
def test_it_names_the_limit_and_the_length() -> None:
    with pytest.raises(Invalid) as refused:
        factories.accepted(factories.visitor(), TOO_LONG)
    assert "100001" in str(refused.value.message)
    assert "100000" in str(refused.value.message)


@pytest.mark.usefixtures("champion")
def test_it_takes_a_text_at_the_limit() -> None:
    assert factories.accepted(factories.visitor(), samples.long_text(100_000).ljust(100_000)).status == "queued"


@pytest.mark.usefixtures("champion")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (samples.SHORT, "too_short"),
        ("x", "too_short"),
        (samples.ENDLESS_WORD, "too_short"),
        ("\u0000", "no_prose"),
        ("\u200b\u2060", "no_prose"),
        (samples.EMOJI, "no_prose"),
        (samples.CODE, "no_prose"),
        (f"Look:\n\n```\n{samples.CODE}\n```\n", "no_prose"),
        ("| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 50, "no_prose"),
        (samples.GERMAN, "unsupported_language"),
        (samples.ARABIC, "unsupported_language"),
        ("\u202e" + samples.ARABIC + "\u202c", "unsupported_language"),
    ],
    ids=[
        "short",
        "one letter",
        "endless word",
        "NUL",
        "invisible",
        "emoji",
        "code",
        "fenced code",
        "table",
        "German",
        "Arabic",
        "turned around",
    ],
)
def test_it_answers_at_once_and_freely_where_evidence_is_missing(alice: User, text: str, reason: str) -> None:
    submission = factories.accepted(factories.owner(alice), text)
    verdict = submission.verdict
    assert (submission.status, submission.finished_at, submission.reservation) == ("done", NOW, None)
    assert (verdict.label, verdict.reason) == ("insufficient", reason)
    assert (verdict.probability, verdict.ai_fraction, verdict.confidence, verdict.segments) == (None, None, "", [])
    assert numbers() == (1, 0, 0)
    assert not GpuRun.objects.exists()


@pytest.mark.usefixtures("champion")
def test_it_stores_what_postgres_cannot_hold_without_moving_an_offset() -> None:
    text = "\x00\ud800" + samples.HUMAN + "\udfff"
    submission = factories.accepted(factories.visitor(), text)
    submission.refresh_from_db()
    assert submission.status == "queued"
    assert submission.text == "\x01\ufffd" + samples.HUMAN + "\ufffd"
    assert len(submission.text) == len(text)


def test_it_refuses_while_no_model_is_in_service(alice: User) -> None:
    with pytest.raises(Unavailable):
        factories.accepted(factories.owner(alice))
    assert numbers() == (0, 0, 0)


@pytest.mark.usefixtures("champion")
def test_it_refuses_a_visitor_who_has_used_the_day(settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 2
    for _ in range(2):
        factories.accepted(factories.visitor())
    with pytest.raises(Exhausted) as refused:
        factories.accepted(factories.visitor())  # another session, the same address
    assert refused.value.retry_after == 12 * 3600
    assert numbers() == (2, 0, 2)
    assert factories.accepted(factories.visitor("198.51.100.8")).status == "queued"
    assert factories.accepted(factories.visitor(), now=NOW + timedelta(days=1)).status == "queued"


@pytest.mark.usefixtures("champion")
def test_it_answers_what_is_free_when_the_day_is_used(settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 0
    assert factories.accepted(factories.visitor(), samples.SHORT).verdict.reason == "too_short"


@pytest.mark.usefixtures("champion")
def test_it_refuses_an_account_without_enough_words(alice: User, settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 100
    with pytest.raises(Exhausted) as refused:
        factories.accepted(factories.owner(alice))
    assert refused.value.code == "words_used"
    assert numbers() == (0, 0, 0)


# --- The false-positive cap -----------------------------------------------------------------------------


@pytest.mark.usefixtures("champion")
def test_it_keeps_the_cap_that_was_asked_for() -> None:
    assert factories.accepted(factories.visitor(), max_fpr="0.05").max_fpr == "0.05"


@pytest.mark.usefixtures("champion")
@pytest.mark.parametrize("cap", ["0.02", "1", "none", "0.050"])
def test_it_refuses_a_cap_that_was_not_measured(cap: str) -> None:
    with pytest.raises(Invalid) as refused:
        factories.accepted(factories.visitor(), max_fpr=cap)
    assert refused.value.code == "unknown_max_fpr"
    assert "0.005, 0.01, 0.05" in str(refused.value.message)
    assert numbers() == (0, 0, 0)


def test_it_refuses_a_cap_that_was_not_measured_for_the_texts_language(db) -> None:
    """Strict caps need many human texts; of Spanish there may be too few."""
    english = factories.MANIFEST["thresholds"]["en"]
    factories.champion(thresholds={"en": english, "es": {"0.01": english["0.01"]}})
    assert factories.accepted(factories.visitor(), max_fpr="0.005").status == "queued"
    assert factories.accepted(factories.visitor(), samples.SPANISH, max_fpr="0.01").status == "queued"
    with pytest.raises(Invalid) as refused:
        factories.accepted(factories.visitor(), samples.SPANISH, max_fpr="0.005")
    assert "one of 0.01:" in str(refused.value.message)
    assert factories.accepted(factories.visitor(), samples.SHORT, max_fpr="0.005").status == "done"


# --- The same form twice ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("champion")
def test_it_takes_one_form_once(alice: User) -> None:
    nonce = uuid.uuid4()
    for by in (factories.owner(alice), factories.visitor()):
        before = numbers()
        first = factories.accepted(by, nonce=nonce)
        once = numbers()
        assert factories.accepted(by, nonce=nonce) == first
        assert numbers() == once != before


@pytest.mark.usefixtures("champion")
def test_it_takes_another_form_or_another_text_as_another_check(alice: User) -> None:
    by, nonce = factories.owner(alice), uuid.uuid4()
    first = factories.accepted(by, nonce=nonce)
    assert factories.accepted(by, nonce=uuid.uuid4()) != first
    assert factories.accepted(by, samples.AI, nonce=nonce) != first
    assert factories.accepted(by) != factories.accepted(by)
    assert Submission.objects.count() == 5


@pytest.mark.usefixtures("champion")
def test_it_gives_a_stranger_with_the_same_number_a_check_of_his_own(alice: User, charlie: User) -> None:
    nonce = uuid.uuid4()
    owners = [factories.owner(alice), factories.owner(charlie), factories.visitor(), factories.visitor()]
    found = {factories.accepted(by, nonce=nonce).pk for by in owners}
    assert len(found) == 4


@pytest.mark.usefixtures("champion")
def test_it_answers_a_repeated_form_even_when_nothing_is_left(settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 1
    by, nonce = factories.visitor(), uuid.uuid4()
    assert factories.accepted(by, nonce=nonce) == factories.accepted(by, nonce=nonce)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("allowance", [1, 100])
def test_it_makes_one_check_of_ten_posts_at_once(settings, allowance: int) -> None:
    """Also where the allowance is just enough: the losers of the race get the winner's check, not a refusal."""
    settings.VISITOR_CHECKS_PER_DAY = allowance
    factories.champion()
    by, nonce = factories.visitor(), uuid.uuid4()
    found = factories.together(lambda _n: factories.accepted(by, nonce=nonce).pk, 10)
    assert len({*found}) == 1, found
    assert numbers() == (1, 0, 1)
    assert Reservation.objects.count() == 1


# --- Wake-ups --------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_it_wakes_a_worker_after_the_commit(broker: redis.Redis) -> None:
    factories.champion()
    with transaction.atomic():
        factories.accepted(factories.visitor())
        assert broker.llen("score") == 0
    assert broker.llen("score") == 1
    factories.accepted(factories.visitor(), samples.SHORT)
    assert broker.llen("score") == 1, "a text that is answered at once wakes nobody"


# --- Files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_it_reads_a_file_of_a_common_encoding(encoding: str) -> None:
    assert intake.decode("¿Qué? 🙂".encode(encoding)) == "¿Qué? 🙂"


@pytest.mark.parametrize(
    "data", ["año".encode("latin-1"), "“quotes”".encode("cp1252"), b"\xff\xfeodd", b"\x89PNG\r\n\x1a\n"]
)
def test_it_refuses_a_file_of_another_encoding(data: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        intake.decode(data)
    assert refused.value.code == "bad_encoding"


def test_it_refuses_a_file_that_cannot_be_within_the_limit() -> None:
    with pytest.raises(Invalid) as refused:
        intake.decode(b"x" * (intake.MAX_BYTES + 1))
    assert refused.value.code == "too_long"
    assert len(intake.decode(("🙂" * intake.MAX_CHARACTERS).encode("utf-16"))) == intake.MAX_CHARACTERS


def test_a_verdict_without_numbers_is_only_ever_insufficient(alice: User, champion: ModelVersion) -> None:
    submission = factories.accepted(factories.owner(alice), samples.SHORT)
    verdict = Verdict.objects.get(submission=submission)
    assert (verdict.model_version, verdict.max_fpr, verdict.calibration_version) == (champion, "0.01", "1")
    assert verdict.normaliser_version == factories.MANIFEST["normaliser_version"]
