"""A repeat is answered by the owner's own earlier check: the same verdict, no run, no charge, and nobody else's."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.forms import model_to_dict
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing.accounts import Owner, internal_account
from billing.models import Meter, Reservation, User
from detector import dispatch, retention
from detector.models import Submission, Verdict
from gpujobs import registry
from gpujobs.models import GpuRun, ModelVersion

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _days(settings: Settings) -> None:
    settings.REUSE_DAYS = 30


@pytest.fixture
def hers(alice: User, champion: ModelVersion) -> Owner:
    return factories.owner(alice)


@pytest.fixture
def first(hers: Owner) -> Submission:
    """A check that was scored just now."""
    return factories.checked(hers, samples.MIXED, now=timezone.now())


def again(by: Owner, text: str = samples.MIXED, **fields: Any) -> Submission:
    """The same text, as the page sends it."""
    return factories.accepted(by, text, **{"now": timezone.now()} | fields)


def taken() -> list[tuple[int, int]]:
    """Used and held units of every meter."""
    return list(Meter.objects.order_by("pk").values_list("used", "held"))


def content(verdict: Verdict) -> dict[str, Any]:
    """Everything that a verdict says."""
    return {key: value for key, value in model_to_dict(verdict).items() if key != "submission"}


# --- What is a repeat ---------------------------------------------------------------------------------------


def test_it_answers_a_repeat_to_the_digit_and_for_nothing(hers: Owner, first: Submission) -> None:
    charged, runs = taken(), GpuRun.objects.count()
    repeat = again(hers)
    assert (repeat.status, repeat.reused_from, repeat.is_repeat) == ("done", first, True)
    assert repeat.finished_at == repeat.accepted_at > first.accepted_at
    assert content(Verdict.objects.get(pk=repeat.pk)) == content(first.verdict)
    assert first.verdict.segments
    assert (repeat.reservation, repeat.run, repeat.dispatched_at) == (None, None, None)
    assert (taken(), GpuRun.objects.count(), Reservation.objects.count()) == (charged, runs, 1)
    assert not Submission.objects.filter(status="queued").exists()


def test_it_answers_a_repeat_when_nothing_is_left(hers: Owner, first: Submission, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = first.words
    assert again(hers).is_repeat


@pytest.mark.usefixtures("champion")
def test_it_uses_up_none_of_a_visitors_checks(settings: Settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 1
    visitor = factories.visitor()
    first = factories.checked(visitor, now=timezone.now())
    assert again(visitor, samples.HUMAN).reused_from == first
    assert taken() == [(1, 0)]


def test_it_knows_the_default_limit_by_either_name(hers: Owner, first: Submission) -> None:
    assert (first.max_fpr, first.verdict.max_fpr) == ("", "0.01")
    assert again(hers, max_fpr="0.01").reused_from == first


def test_it_names_the_check_that_was_scored_also_for_a_repeat_of_a_repeat(hers: Owner, first: Submission) -> None:
    assert [again(hers).reused_from for _ in range(3)] == [first] * 3


def test_it_answers_a_recheck_of_the_same_limit(hers: Owner, first: Submission) -> None:
    repeat = again(hers, recheck_of=first)
    assert (repeat.recheck_of, repeat.reused_from) == (first, first)


def test_it_takes_one_form_once(hers: Owner, first: Submission) -> None:
    nonce = uuid.uuid4()
    assert again(hers, nonce=nonce) == again(hers, nonce=nonce)


# --- What is none -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("first")
def test_nobody_elses_check_is_the_reason_for_a_fast_answer(bob: User) -> None:
    for stranger in (factories.owner(bob), factories.visitor()):
        submission = again(stranger)
        assert (submission.status, submission.reused_from) == ("queued", None)
        assert submission.reservation.amount > 0


@pytest.mark.usefixtures("champion")
def test_one_visitor_does_not_answer_another_at_the_same_address(hers: Owner) -> None:
    factories.checked(factories.visitor(), now=timezone.now())
    for other in (factories.visitor(), hers):
        assert again(other, samples.HUMAN).status == "queued"


@pytest.mark.parametrize(
    "change",
    [
        {"max_fpr": "0.05"},
        {"text": samples.MIXED + " "},
        {"reuse": False},
    ],
    ids=["another limit", "another text", "a fresh score is wanted"],
)
def test_it_scores_anew(hers: Owner, first: Submission, change: dict[str, Any]) -> None:
    submission = again(hers, **change)
    assert (submission.status, submission.reused_from) == ("queued", None)
    assert submission.reservation.amount == submission.words


@pytest.mark.parametrize("change", [{"normaliser_version": "0"}, {"calibration_version": "0"}])
def test_it_scores_anew_what_older_rules_judged(hers: Owner, first: Submission, change: dict[str, str]) -> None:
    Verdict.objects.update(**change)
    assert again(hers).status == "queued"


def test_it_scores_anew_by_a_new_model(hers: Owner, first: Submission) -> None:
    newer = factories.champion(model_version="test-version-2")
    assert (again(hers).status, again(hers).model_version) == ("queued", newer)
    registry.promote(first.model_version, reason="the new one was worse")
    assert again(hers).reused_from == first


def test_the_cpus_own_model_answers_while_it_is_in_service_and_was_no_makeshift(hers: Owner) -> None:
    small = factories.version(model_version="small")
    registry.promote(small, alias=registry.CHAMPION_CPU, reason="this machine has no GPU")
    first = factories.checked(hers, samples.MIXED, now=timezone.now())
    repeat = again(hers)
    assert (repeat.reused_from, repeat.model_version, repeat.verdict.model_version) == (first, small, small)
    Verdict.objects.update(degraded=True)
    assert again(hers).status == "queued"
    Verdict.objects.update(degraded=False)
    registry.promote(factories.version(model_version="newer"), alias=registry.CHAMPION_CPU, reason="it is better")
    assert again(hers).status == "queued"


def test_it_scores_anew_what_is_past_its_days_and_repeats_do_not_put_that_off(hers: Owner, first: Submission) -> None:
    scored = first.verdict.created_at
    repeat = again(hers, now=scored + timedelta(days=29))
    assert repeat.verdict.created_at == scored
    assert again(hers, now=scored + timedelta(days=30, seconds=-1)).is_repeat
    assert again(hers, now=scored + timedelta(days=30)).status == "queued"


def test_it_never_answers_a_repeat_where_that_is_switched_off(
    hers: Owner, first: Submission, settings: Settings
) -> None:
    settings.REUSE_DAYS = 0
    assert again(hers).status == "queued"


def test_a_deleted_check_answers_no_more(hers: Owner, first: Submission) -> None:
    retention.delete(first)
    assert again(hers).status == "queued"


def test_a_forgotten_check_answers_no_more(hers: Owner, first: Submission, settings: Settings) -> None:
    settings.ACCOUNT_RETENTION_DAYS = 7
    retention.forget_expired(now=first.accepted_at + timedelta(days=8))
    assert again(hers, now=first.accepted_at + timedelta(days=8)).status == "queued"


@pytest.mark.parametrize("status", ["queued", "scoring", "failed"])
def test_an_unfinished_check_answers_nothing(hers: Owner, status: str) -> None:
    waiting = again(hers)
    Submission.objects.filter(pk=waiting.pk).update(status=status)
    assert again(hers).status == "queued"


def test_a_text_without_enough_evidence_is_told_so_each_time(hers: Owner) -> None:
    for _ in range(2):
        submission = again(hers, samples.SHORT)
        assert (submission.verdict.reason, submission.reused_from, submission.is_repeat) == ("too_short", None, False)


# --- Beside others ------------------------------------------------------------------------------------------


def test_a_repeat_outlives_the_check_that_it_came_from(hers: Owner, first: Submission) -> None:
    repeat, said = again(hers), content(first.verdict)
    retention.delete(first)
    repeat = Submission.objects.get(pk=repeat.pk)
    assert (repeat.reused_from, repeat.is_repeat, content(repeat.verdict)) == (None, True, said)


@pytest.mark.django_db(transaction=True)
def test_whoever_deletes_the_earlier_check_waits_for_its_repeat() -> None:
    factories.champion()
    visitor = factories.visitor()
    first = factories.checked(visitor, now=timezone.now())

    def delete() -> None:
        retention.delete(first)
        connection.close()

    deleting = threading.Thread(target=delete)
    with transaction.atomic():
        repeat = again(visitor, samples.HUMAN)
        deleting.start()
        factories.eventually(somebody_waits_for_a_lock)
    deleting.join(factories.PATIENCE_SECONDS)
    repeat.refresh_from_db()
    assert (repeat.reused_from, Submission.objects.get()) == (None, repeat)


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_it_makes_one_repeat_of_ten_posts_of_one_form() -> None:
    factories.champion()
    visitor, nonce = factories.visitor(), uuid.uuid4()
    factories.checked(visitor, now=timezone.now())
    found = factories.together(lambda _n: again(visitor, samples.HUMAN, nonce=nonce).pk, 10)
    assert len({*found}) == 1, found
    assert (Submission.objects.count(), Verdict.objects.count()) == (2, 2)


@pytest.mark.parametrize("owned", ["account", "visitor"])
def test_it_is_looked_up_in_an_index(hers: Owner, owned: str) -> None:
    by = hers if owned == "account" else factories.visitor()
    asked = factories.accepted(by, reuse=False)
    same = Submission.objects.filter(status="done", account=asked.account, visitor=asked.visitor, digest=asked.digest)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert f"submission_known_{owned}" in same.explain()


# --- On the page --------------------------------------------------------------------------------------------


@pytest.fixture
def browser(client_of: Callable[[User], Client], alice: User) -> Client:
    return client_of(alice)


def words_of(browser: Client, submission: Submission, language: str = "en") -> str:
    return pages.words(browser.get(f"/checks/{submission.pk}/", headers={"accept-language": language}))


def test_its_page_says_so_with_the_date_and_that_it_cost_nothing(
    browser: Client, hers: Owner, first: Submission
) -> None:
    repeat = again(hers)
    page = browser.get(f"/checks/{repeat.pk}/")
    assert "This is the answer of your earlier check of this text, " in pages.words(page)
    assert "give the same verdict. It cost no words. Open that check" in pages.words(page)
    assert pages.elements(page, "a", href=f"/checks/{first.pk}/")
    times = [e.attributes["datetime"] for e in pages.elements(page, "time")]
    assert {first.verdict.created_at.isoformat(), repeat.accepted_at.isoformat()} <= set(times)
    assert pages.broken_rules(page) == []


def test_its_page_says_so_in_spanish(browser: Client, hers: Owner, first: Submission) -> None:
    words = words_of(browser, again(hers), "es")
    assert "Esta es la respuesta de tu comprobación anterior de este texto, del " in words
    assert "No ha costado palabras. Abrir esa comprobación" in words


def test_its_page_says_so_without_a_link_when_the_earlier_check_is_deleted(
    browser: Client, hers: Owner, first: Submission
) -> None:
    repeat = again(hers)
    retention.delete(first)
    words = words_of(browser, repeat)
    assert "It cost no words." in words
    assert "Open that check" not in words


def test_a_page_of_a_check_that_was_scored_says_no_such_thing(browser: Client, first: Submission) -> None:
    assert "your earlier check" not in words_of(browser, first)


@pytest.mark.usefixtures("champion")
def test_a_visitor_posts_the_same_text_twice_and_is_told_that_no_check_was_used() -> None:
    somebody = Client()
    somebody.post("/check", {"text": samples.HUMAN, "nonce": uuid.uuid4()})
    dispatch.next_batch(now=timezone.now(), backend=factories.ScriptedBackend())
    answer = somebody.post("/check", {"text": samples.HUMAN, "nonce": uuid.uuid4()}, follow=True)
    assert "It used none of your free checks." in pages.words(answer)
    assert (Submission.objects.count(), taken()) == (2, [(1, 0)])


def test_check_again_is_a_repeat_while_the_model_is_the_same(browser: Client, first: Submission) -> None:
    form = pages.form_fields(browser.get(f"/checks/{first.pk}/"), f"/checks/{first.pk}/recheck")
    words = pages.words(browser.post(f"/checks/{first.pk}/recheck", form, follow=True))
    assert "It cost no words." in words


@pytest.mark.django_db(transaction=True)
def test_the_command_always_wants_a_fresh_score(tmp_path: Path) -> None:
    factories.champion()
    factories.checked(Owner(account=internal_account()), now=timezone.now())
    path = tmp_path / "text.txt"
    path.write_text(samples.HUMAN)
    with pytest.raises(CommandError, match="no verdict within"):  # no worker runs: it was queued
        call_command("check_text", str(path), "--wait", "0.2")
