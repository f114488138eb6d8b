"""docker-compose.yml and the image as data: services with their variables filled in, and /app without a build."""

import fnmatch
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "Dockerfile"
SITE = "inkcloak.example"
SECRETS_MOUNT = "/run/secrets"
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}")


def compose(given: Mapping[str, str] = MappingProxyType({"SITE": SITE})) -> dict[str, Any]:
    """The file as Compose reads it with this `.env`; KeyError for a needed variable that is not there."""

    def filled(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        return given.get(name) or rest if kind == "-" else given[name]

    return yaml.safe_load(VARIABLE.sub(filled, yaml.safe_dump(yaml.safe_load(COMPOSE_FILE.read_text()), width=10_000)))


def services() -> dict[str, dict[str, Any]]:
    """By name."""
    return compose()["services"]


def variables() -> set[str]:
    """What the file takes from `.env` for itself."""
    text = re.sub(r"(?m)^\s*#.*$", "", COMPOSE_FILE.read_text())
    return {found[1] for found in VARIABLE.finditer(text)}


def stage(name: str) -> list[str]:
    """The instructions of one stage of the Dockerfile, continued lines joined, comments gone."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE.read_text()).replace("\\\n", " ")
    stages = re.split(r"(?m)^(?=FROM )", text)
    (found,) = [part for part in stages if re.match(rf"FROM \S+ AS {name}\n", part)]
    return [re.sub(r"\s+", " ", line).strip() for line in found.splitlines() if line.strip()]


def sent_to_build() -> Iterator[Path]:
    """Every file of the checkout that .dockerignore lets through, relative to it."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    tops = {rule[1:].split("/")[0] for rule in rules if rule.startswith("!")}
    for top in sorted(tops):
        paths = [ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*")
        for path in paths:
            if path.is_file() and _goes(path.relative_to(ROOT), rules):
                yield path.relative_to(ROOT)


def _goes(path: Path, rules: list[str]) -> bool:
    goes = True
    for rule in rules:
        if _matches(path, rule.removeprefix("!")):
            goes = rule.startswith("!")
    return goes


def _matches(path: Path, pattern: str) -> bool:
    """Docker's rule, as far as the file uses it: a pattern matches a path or one of its folders."""
    for part in (path, *path.parents[:-1]):
        if fnmatch.fnmatchcase(part.name if pattern.startswith("**/") else str(part), pattern.removeprefix("**/")):
            return True
    return False


def lay_out_image(app: Path) -> None:
    """What the stage `app` copies, from what the build is sent, to the folder `app` in the place of /app."""
    sent = set(sent_to_build())
    for line in stage("app"):
        words = line.split()
        if words[0] != "COPY" or words[1].startswith("--from"):
            continue
        *sources, target = words[1:]
        for source in map(Path, sources):
            found = [path for path in sent if path == source or source in path.parents]
            assert found, f"COPY {source}: the build is not sent it"
            for path in found:
                name = path.relative_to(source.parent if path == source else source)
                place = app / target / name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, place)


def built_by() -> str:
    """The command that makes static files, as the Dockerfile has it, with its variables."""
    (found,) = [line for line in stage("app") if "collectstatic" in line]
    return found.removeprefix("RUN ").split(" && ")[0]


def make_secrets(folder: Path) -> Path:
    """A new installation's, in `folder`."""
    script = ["sh", str(ROOT / "deploy" / "make-secrets"), str(folder)]
    subprocess.run(script, check=True, capture_output=True, timeout=30)
    return folder


def environment(service: str, secrets: Path) -> dict[str, str]:
    """Of one service, its secrets read from a folder of ours; nothing of this machine's own settings."""
    named: Mapping[str, str] = services()[service].get("environment", {})
    ours = {name: str(value).replace(SECRETS_MOUNT, str(secrets)) for name, value in named.items()}
    return {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "HOME": "/tmp"} | ours


def memory_mb(service: Mapping[str, Any]) -> int:
    """What its container may have."""
    return int(service["deploy"]["resources"]["limits"]["memory"].removesuffix("M"))
