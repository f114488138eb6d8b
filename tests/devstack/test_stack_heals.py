"""kill -9 of any one service: it comes back by itself, with its data, and the others do not notice."""

import os
import signal

import pytest
from tiny_harness import eventually


@pytest.mark.parametrize("victim", ["page", "redis", "postgres"])
def test_it_starts_a_killed_service_again_and_leaves_the_others(stacks, victim):
    stack = stacks().start()
    stack.query("CREATE TABLE kept (value int)")
    stack.query("INSERT INTO kept VALUES (7)")
    stack.cache().set("kept", "7")
    before = stack.pids()

    os.kill(before[victim], signal.SIGKILL)
    eventually(lambda: before[victim] not in stack.pids().values())

    after = stack.pids()
    assert {name for name in after if after[name] != before[name]} == {victim}
    assert stack.query("SELECT value FROM kept") == [(7,)]
    assert stack.cache().get("kept") == b"7"
    assert f"{victim} was killed by SIGKILL" in stack.output


def test_it_heals_when_all_are_killed_at_once(stacks):
    stack = stacks().start()
    before = stack.pids()
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not set(before.values()) & set(stack.pids().values()))
    assert stack.query("SELECT 1") == [(1,)]
