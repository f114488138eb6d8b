"""Checkpoints of a training run: what a resumed run needs to end where an uninterrupted one would.

One file, replaced atomically: adapters and head, their running average, optimiser, step and torch's random
state. The sampler needs no state, since a batch is a function of seed and step. May be imported by: train.py.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

FILE_NAME = "checkpoint.pt"


def save(folder: Path, recipe_digest: str, data_sha256: str, state: Mapping[str, Any]) -> None:
    """Writes the checkpoint beside the old one and then over it, so that a kill leaves one of the two
    whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / f"{FILE_NAME}.{os.getpid()}"
    content = {"recipe": recipe_digest, "data": data_sha256, "random": torch.get_rng_state(), **state}
    with scratch.open("wb") as file:
        torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(folder / FILE_NAME)


def load(folder: Path, recipe_digest: str, data_sha256: str) -> dict[str, Any]:
    """The checkpoint in `folder`; torch's random state is set from it.

    Raises FileNotFoundError when there is none, ValueError when it belongs to another recipe or other data.
    """
    content: dict[str, Any] = torch.load(folder / FILE_NAME, weights_only=True, map_location="cpu")
    if content["recipe"] != recipe_digest:
        raise ValueError("the checkpoint belongs to another recipe: start afresh or give another --out")
    if content["data"] != data_sha256:
        raise ValueError("the checkpoint was trained on other data: start afresh or give another --out")
    torch.set_rng_state(content["random"])
    return content
