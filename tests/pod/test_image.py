"""The worker image: everything pinned to a hash, and the model checked while it is built in."""

import re
from pathlib import Path

import pytest

from gpujobs.pod import handler, manifest
from gpujobs.pod.bake import bake

POD = Path(handler.__file__).parent
LOCKED = [line for line in (POD / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
DOCKERFILE = (POD / "Dockerfile").read_text()


def test_it_pins_every_package_to_a_file() -> None:
    assert len(LOCKED) > 50
    assert [line for line in LOCKED if not re.fullmatch(r"[a-z0-9.-]+==\S+ --hash=sha256:[0-9a-f]{64}", line)] == []
    names = [line.split("==")[0] for line in LOCKED]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "name", ["runpod", "numpy", "onnxruntime", "tokenizers", "sentencex", "peft", "transformers", "safetensors",
             "huggingface-hub", "disentangled-flash", "scikit-learn", "onnx", "onnxscript", "regex", "py3langid"],
)  # fmt: skip
def test_it_has_what_serving_and_training_import(name: str) -> None:
    assert any(line.startswith(f"{name}==") for line in LOCKED)


def test_it_pins_its_base_images_and_torch() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert bases
    assert all(re.fullmatch(r"python:3\.11\.\d+-slim-\w+", base) for base in bases)
    assert re.search(r"pip install torch==\d+\.\d+\.\d+$", DOCKERFILE, re.MULTILINE)


def test_its_worker_is_told_where_its_model_is_and_logs_no_output() -> None:
    assert 'CMD ["python", "-m", "gpujobs.pod.handler"]' in DOCKERFILE
    for setting in ("INKCLOAK_MODEL=/model", "RUNPOD_LOG_LEVEL=INFO", "HF_HUB_OFFLINE=1"):
        assert setting in DOCKERFILE


def test_it_bakes_a_whole_model_only(tmp_path: Path) -> None:
    assert bake(handler.SHIPPED) == manifest.read(handler.SHIPPED)["model_version"]
    for file in handler.SHIPPED.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "encoder.onnx").unlink()
    with pytest.raises(manifest.ManifestError):
        bake(tmp_path)
