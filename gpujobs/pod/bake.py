"""Builds a model folder into an image: `python -m gpujobs.pod.bake FOLDER` checks it and fetches the base it names.

May be imported by: nothing; the Dockerfile runs it, while a model hub can still be reached.
"""

import sys
from pathlib import Path

from gpujobs.pod import manifest


def bake(folder: Path) -> str:
    """Verifies the folder's files and, for a torch model, its base's. Returns the model version.

    Raises manifest.ManifestError, OSError where the base cannot be fetched.
    """
    facts = manifest.read(folder)
    if facts["engine"].get("kind") == "torch":
        from gpujobs.pod import torch_engine

        torch_engine.base_folder(facts["engine"])
    return str(facts["model_version"])


if __name__ == "__main__":
    print(bake(Path(sys.argv[1])))
