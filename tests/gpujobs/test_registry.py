"""Model versions and the alias that customers get."""

import json
from io import StringIO
from pathlib import Path

import factories
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from billing.models import User
from gpujobs import registry
from gpujobs.models import AliasMove, GpuRun, ModelAlias, ModelVersion
from inkcloak.errors import Unavailable


def folder(models: Path, name: str, version: str) -> Path:
    """A model folder as far as the registry looks into it: its manifest."""
    (models / name).mkdir()
    manifest = factories.MANIFEST | {"model_version": version}
    (models / name / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return models / name


@pytest.fixture
def models(tmp_path: Path, settings) -> Path:
    settings.MODEL_DIR = tmp_path
    return tmp_path


def register_shipped() -> str:
    said = StringIO()
    call_command("register_shipped_model", stdout=said)
    return said.getvalue()


def test_it_registers_a_folder_once(db, models: Path) -> None:
    one = folder(models, "one", "v1")
    assert registry.register(one) == registry.register(one)
    stored = ModelVersion.objects.get()
    assert (stored.version, stored.name) == ("v1", "inkcloak-test")
    assert stored.manifest["thresholds"]["en"]["0.01"]["document"] == 0.9


def test_it_has_no_model_before_one_is_promoted(db) -> None:
    factories.version()
    with pytest.raises(Unavailable) as refused:
        registry.resolve()
    assert refused.value.code == "no_model"


def test_it_promotes_and_keeps_every_move(alice: User) -> None:
    old, new = factories.version(), factories.version(model_version="v2")
    assert registry.promote(old, reason="first")
    assert registry.promote(new, reason="better", by_id=alice.pk)
    assert registry.promote(old, reason="worse after all")
    assert registry.resolve() == old
    moves = AliasMove.objects.order_by("id").values_list("previous", "current", "reason", "moved_by")
    assert list(moves) == [
        (None, old.pk, "first", None),
        (old.pk, new.pk, "better", alice.pk),
        (new.pk, old.pk, "worse after all", None),
    ]


def test_it_does_not_promote_what_is_in_service(champion: ModelVersion) -> None:
    assert not registry.promote(champion, reason="again")
    assert AliasMove.objects.count() == 1


def test_it_keeps_aliases_apart(champion: ModelVersion) -> None:
    challenger = factories.version(model_version="v2")
    registry.promote(challenger, alias="challenger", reason="to compare")
    assert registry.resolve() == champion
    assert registry.resolve("challenger") == challenger


@pytest.mark.django_db(transaction=True)
def test_it_survives_two_first_promotions_at_once() -> None:
    made = factories.version()
    found = factories.together(lambda _n: registry.promote(made, reason="start"), 4)
    assert all(outcome in (True, False) or isinstance(outcome, IntegrityError) for outcome in found)
    assert registry.resolve() == made


def test_it_finds_the_folder_of_a_version(models: Path) -> None:
    folder(models, "one", "v1")
    two = folder(models, "two", "v2")
    assert registry.folder_of("v2") == two
    with pytest.raises(LookupError, match="v3 is not on this machine"):
        registry.folder_of("v3")


def test_it_registers_what_ships_and_changes_nothing_the_second_time(db, models: Path) -> None:
    folder(models, "one", "v1")
    assert "v1" in register_shipped()
    assert register_shipped() == ""
    assert registry.resolve().pk == "v1"
    assert AliasMove.objects.count() == 1


def test_it_leaves_a_champion_whose_files_are_here(db, models: Path) -> None:
    folder(models, "a", "v1")
    register_shipped()
    folder(models, "b", "v2")
    assert register_shipped() == ""
    assert registry.resolve().pk == "v1"
    assert ModelVersion.objects.count() == 2


def test_it_replaces_a_champion_whose_files_are_gone(db, models: Path) -> None:
    folder(models, "a", "v1")
    register_shipped()
    for path in (models / "a" / "manifest.json", models / "a"):
        path.unlink() if path.is_file() else path.rmdir()
    folder(models, "b", "v2")
    assert "v2" in register_shipped()
    assert registry.resolve().pk == "v2"


def test_it_says_so_when_nothing_ships(db, models: Path) -> None:
    with pytest.raises(CommandError, match="holds no model folder"):
        register_shipped()


def test_a_version_that_scored_something_cannot_be_deleted(champion: ModelVersion) -> None:
    GpuRun.objects.create(backend="local", model_version=champion, texts=1, lease_expires_at=factories.NOW)
    ModelAlias.objects.all().delete()
    with pytest.raises(IntegrityError):
        champion.delete()
