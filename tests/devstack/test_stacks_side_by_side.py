"""Two checkouts share nothing; a taken port and a difficult path are met with words or a way round."""

import os
import pwd
from pathlib import Path

from tiny_harness import PATIENCE_SECONDS

from devstack import ports

UNIX_SOCKET_PATH_BYTES = 108


def test_two_stacks_run_side_by_side(stacks):
    one, two = stacks("one").start(), stacks("two").start()
    one.cache().set("whose", "one")
    two.query("CREATE TABLE mine (value int)")
    assert two.cache().get("whose") is None
    assert one.query("SELECT to_regclass('mine')") == [(None,)]
    assert not set(one.pids().values()) & set(two.pids().values())
    assert one.end() == 0
    assert two.query("SELECT count(*) FROM mine") == [(0,)]


def test_it_names_who_holds_its_port_and_a_free_one(stacks):
    one, two = stacks("one").start(), stacks("two")
    two.port = one.port
    second = two.command("run")
    said, _ = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 1
    assert f"Port {one.port} is taken by python" in said.decode()
    assert f"(process {one.page_pid()})" in said.decode()
    suggested = int(said.decode().split("PORT=")[1].split()[0])
    assert suggested > one.port
    assert ports.is_free(suggested)


def test_it_runs_in_a_deep_folder_with_a_difficult_name(stacks):
    stack = stacks("/".join(["a checkout, of mine"] + ["deep" * 10] * 3)).start()
    assert len(str(stack.var / "postgres")) > UNIX_SOCKET_PATH_BYTES
    assert stack.query("SELECT 1") == [(1,)]
    socket_folder = Path(stack.address("DATABASE_URL").split("host=")[1])
    assert socket_folder.is_dir()
    stack.end()
    assert not socket_folder.exists()


def test_its_database_is_closed_to_other_users(stacks):
    stack = stacks().start()
    owner = (stack.var / "postgres").stat()
    assert owner.st_mode & 0o077 == 0
    assert owner.st_uid == (os.getuid() or pwd.getpwnam("nobody").pw_uid)
    assert (stack.var / "redis" / "redis.conf").stat().st_mode & 0o077 == 0
