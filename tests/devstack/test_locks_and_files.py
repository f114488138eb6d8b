"""The small parts: a lock that dies with its holder, KEY=VALUE files, ports, what a log's reader sees."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from devstack import envfile, ports
from devstack.console import last_lines
from devstack.lock import FileLock
from devstack.stack import LogTail

HOLD = """
import sys, pathlib
from devstack.lock import FileLock
assert FileLock(pathlib.Path(sys.argv[1])).acquire(command="run", port=8000)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """A lock in the hands of another process."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout.readline() == b"held\n"
    yield FileLock(tmp_path / "lock"), holder
    holder.kill()
    holder.communicate()


def test_a_lock_tells_who_holds_it(held):
    lock, holder = held
    assert not lock.acquire()
    assert lock.holder() == {"pid": holder.pid, "command": "run", "port": 8000}


def test_a_lock_dies_with_its_holder(held):
    lock, holder = held
    holder.kill()
    holder.wait()
    assert lock.holder() is None
    assert lock.acquire(command="run")


def test_a_released_lock_is_free(tmp_path):
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.holder() is None
    assert one.acquire()
    assert not two.acquire()
    one.release()
    assert two.acquire()


def test_a_child_does_not_inherit_the_lock(tmp_path):
    lock = FileLock(tmp_path / "lock")
    assert lock.acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        assert lock.acquire()
        child.communicate()


def test_an_env_file_is_read_as_written(tmp_path):
    path = tmp_path / "dev.env"
    envfile.write(path, {"A": "1", "URL": "postgresql://x@/y?host=/a%20b&c=d"})
    assert envfile.read(path) == {"A": "1", "URL": "postgresql://x@/y?host=/a%20b&c=d"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_env_file_by_a_person_may_have_comments_quotes_and_export(tmp_path):
    path = tmp_path / ".env"
    path.write_text("# note = this\n\nPORT = 8001\nexport NAME='two words'\nEMPTY=\nnonsense\n")
    assert envfile.read(path) == {"PORT": "8001", "NAME": "two words", "EMPTY": ""}
    assert envfile.read(tmp_path / "absent") == {}


def test_a_taken_port_has_a_holder_and_a_free_one_has_none():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        assert ports.free_port(preferred=port) != port
        assert ports.holder(port).startswith("p")  # this Python
        assert ports.next_free(port) > port
    assert ports.is_free(port)
    assert ports.holder(port) is None
    assert ports.free_port(preferred=port) == port


def test_a_tail_gives_whole_lines_that_are_new(tmp_path):
    path = tmp_path / "web.log"
    path.write_text("old\n")
    tail = LogTail("web", path)
    assert tail.new_lines() == []
    with path.open("a") as log:
        log.write("one\ntw")
        log.flush()
        assert tail.new_lines() == ["one"]
        log.write("o\n")
    assert tail.new_lines() == ["two"]
    path.write_text("new\n")  # shorter than before: put aside and begun again
    assert tail.new_lines() == ["new"]


def test_last_lines_are_the_newest_without_empty_ones(tmp_path):
    path = tmp_path / "log"
    path.write_text("\n".join(str(number) for number in range(5000)) + "\n\n")
    assert last_lines(path, 2) == ["4998", "4999"]
    assert last_lines(tmp_path / "absent", 2) == []
