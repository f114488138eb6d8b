"""A start finds what earlier ones left: data, stale locks, orphans, or a stack that still runs."""

import os
import signal
import subprocess
import sys

from tiny_harness import PATIENCE_SECONDS, eventually


def test_it_finds_its_data_after_everything_was_killed(stacks):
    stack = stacks().start()
    stack.query("CREATE TABLE kept AS SELECT 7 AS value")
    stack.cache().rpush("queue", "a", "b")
    victims = [stack.process.pid, *stack.processes()]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # its parent was killed before it
    stack.process.wait(PATIENCE_SECONDS)

    stack.start()
    assert stack.query("SELECT value FROM kept") == [(7,)]
    assert stack.cache().lrange("queue", 0, -1) == [b"a", b"b"]


def test_it_keeps_addresses_and_secret_over_a_restart(stacks):
    stack = stacks().start()
    before = (stack.var / "dev.env").read_text()
    stack.end()
    stack.start()
    assert (stack.var / "dev.env").read_text() == before
    assert (stack.var / "dev.env").stat().st_mode & 0o777 == 0o600


def test_it_is_not_fooled_by_a_pid_file_that_names_another_process(stacks):
    stack = stacks().start()
    pid_file = stack.var / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    stack.end()
    owner = (stack.var / "postgres").stat()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    os.chown(pid_file, owner.st_uid, owner.st_gid)

    stack.start()
    assert stack.postgres_pid() != os.getpid()
    assert stack.query("SELECT 1") == [(1,)]


def test_it_ends_what_a_killed_run_left(stacks):
    stack = stacks().start()
    stack.end()
    wait_for_ever = [sys.executable, "-c", "import signal; signal.pause()"]
    in_folder = subprocess.Popen(wait_for_ever, cwd=stack.var / "redis")
    marked = subprocess.Popen(wait_for_ever, env={"INKCLOAK_STACK": str(stack.var)})
    eventually(lambda: {in_folder.pid, marked.pid} <= set(stack.processes()))

    stack.start()
    assert in_folder.poll() is not None
    assert marked.poll() is not None


def test_a_second_start_says_so_and_breaks_nothing(stacks):
    stack = stacks().start()
    before = stack.pids()
    second = stack.command("run")
    said, _ = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 1
    assert f"already runs here (process {stack.process.pid}): http://127.0.0.1:{stack.port}" in said.decode()
    assert stack.pids() == before


def test_it_makes_the_database_anew_when_the_first_try_was_cut_short(stacks):
    stack = stacks()
    half_made = stack.var / "postgres.new"
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")
    stack.start()
    assert stack.query("SELECT current_database()") == [("inkcloak",)]
