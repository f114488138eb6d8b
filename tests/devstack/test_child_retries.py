"""How long a supervised process waits for its next try; time is an argument."""

import sys

import pytest

from devstack.child import LAST_RETRY_SECONDS, SETTLED_SECONDS, Child, Program, describe_exit, keep_log_short


@pytest.fixture
def child(tmp_path):
    """A program that fails at once."""
    argv = (sys.executable, "-c", "raise SystemExit(3)")
    return Child(Program(name="failing", argv=argv, log=tmp_path / "log", cwd=tmp_path))


def _die(child: Child, started: float, lived: float) -> float:
    """One life; the seconds until the next try."""
    assert child.start_if_due(started)
    child.process.wait()
    assert child.reap(started + lived) == 3
    return child.retry_at - started - lived


def test_it_waits_twice_as_long_after_each_quick_death(child):
    waits, now = [], 0.0
    for _ in range(10):
        waits.append(_die(child, now, lived=1.0))
        now = child.retry_at
    assert waits[:4] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert waits[-1] == pytest.approx(LAST_RETRY_SECONDS)


def test_it_does_not_start_before_its_time(child):
    _die(child, 0.0, lived=1.0)
    assert not child.start_if_due(child.retry_at - 0.01)


def test_it_forgets_old_deaths_after_a_long_life(child):
    for _ in range(5):
        _die(child, child.retry_at, lived=1.0)
    assert _die(child, child.retry_at, lived=SETTLED_SECONDS) == pytest.approx(0.1)


def test_it_waits_until_the_way_is_clear(tmp_path):
    answers = iter([False, True])
    program = Program(
        name="later", argv=("true",), log=tmp_path / "log", cwd=tmp_path, way_is_clear=lambda: next(answers)
    )
    child = Child(program)
    assert not child.start_if_due(0.0)
    assert child.start_if_due(0.0)
    child.process.wait()


def test_it_is_ready_when_this_life_has_said_so(tmp_path):
    log = tmp_path / "log"
    log.write_text("worker ready.\n")  # an earlier life's
    argv = (sys.executable, "-c", "print('worker ready.', flush=True); input()")
    child = Child(Program(name="talker", argv=argv, log=log, cwd=tmp_path, ready_words="worker ready.\n"))
    assert not child.is_ready()
    child.start_if_due(0.0)
    child.process.wait()  # standard input is empty, so it ends after its line
    assert child.is_ready()


@pytest.mark.parametrize(
    ("status", "words"),
    [(3, "ended with status 3"), (-9, "was killed by SIGKILL"), (-63, "was killed by signal 63")],
)
def test_it_says_how_a_process_ended(status, words):
    assert describe_exit(status) == words


def test_it_puts_a_long_log_aside(tmp_path):
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * 5_000_001)
    keep_log_short(log)
    assert not log.exists()
    assert (tmp_path / "web.old").stat().st_size == 5_000_001
