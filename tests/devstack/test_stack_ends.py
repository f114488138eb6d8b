"""However the supervisor ends, it leaves no process."""

import os
import pty
import signal

import pytest
from tiny_harness import PATIENCE_SECONDS, eventually


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_leaves_no_process_when_asked_to_end(stacks, number):
    stack = stacks().start()
    assert stack.processes()
    assert stack.end(number) == 0
    assert stack.processes() == []
    assert stack.output.splitlines()[-1] == "Stopped."


def test_it_takes_its_children_along_when_it_is_killed(stacks):
    stack = stacks().start()
    stack.end(signal.SIGKILL)
    eventually(lambda: not stack.processes())
    assert stack.page_pid() is None


def _with_terminal(stack, wrapper=()):
    """Start the stack in a terminal of its own; the side on which a person would type."""
    person, terminal = pty.openpty()

    def take_terminal():
        os.setsid()
        os.close(os.open(os.ttyname(terminal), os.O_RDWR))  # the first one opened becomes the controlling one

    stack.begin(wrapper, stdin=terminal, start_new_session=False, preexec_fn=take_terminal)
    os.close(terminal)
    eventually(lambda: f"ready {stack.port}" in stack.output)
    return person


def test_it_ends_on_ctrl_c(stacks):
    stack = stacks()
    person = _with_terminal(stack)
    os.write(person, b"\x03")
    assert stack.process.wait(PATIENCE_SECONDS) == 0
    assert stack.processes() == []
    os.close(person)


def test_it_ends_when_its_terminal_is_closed(stacks):
    stack = stacks()
    os.close(_with_terminal(stack))
    assert stack.process.wait(PATIENCE_SECONDS) == 0
    assert stack.processes() == []


def test_it_ends_when_its_terminal_is_closed_and_nobody_tells_it(stacks):
    stack = stacks()
    os.close(_with_terminal(stack, ["sh", "-c", 'trap : HUP; "$@"; exit', "sh"]))
    assert stack.process.wait(PATIENCE_SECONDS) == 0
    assert stack.processes() == []


def test_it_is_ended_from_another_terminal(stacks):
    stack = stacks().start()
    said, _ = stack.command("stop").communicate(timeout=PATIENCE_SECONDS)
    assert said == b"Stopped.\n"
    assert stack.process.wait(PATIENCE_SECONDS) == 0
    assert stack.processes() == []


def test_it_says_so_when_there_is_nothing_to_end(stacks):
    said, _ = stacks().command("stop").communicate(timeout=PATIENCE_SECONDS)
    assert said == b"Nothing runs in this checkout.\n"


def test_it_ends_while_it_is_still_starting(stacks):
    stack = stacks()
    stack.begin()
    eventually(lambda: (stack.var / "postgres.new").exists() or (stack.var / "postgres").exists())
    assert stack.end() == 0
    assert stack.processes() == []
    stack.start()
    assert stack.query("SELECT 1") == [(1,)]
