"""The sentences of the house about imports, held; and the proof that breaking one is seen."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import layers
import pytest
from layers import Import

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = layers.imports_below(ROOT)
HEAVY = ("torch", "transformers", "peft", "onnxruntime", "tokenizers", "numpy")


@pytest.mark.parametrize("sentence", layers.SENTENCES, ids=lambda sentence: sentence.__name__)
def test_the_house_holds(sentence: Callable[[Import], bool]) -> None:
    assert layers.broken(sentence, IMPORTS) == []


def test_it_looks_at_the_whole_house() -> None:
    modules = {found.module for found in IMPORTS}
    assert len(modules) > 60
    assert {"detector.intake", "billing.quota", "gpujobs.runs", "gpujobs.pod.score", "inkcloak.settings"} <= modules
    lazily = {(found.module, found.target) for found in IMPORTS if found.lazy}
    assert ("gpujobs.backends.local", "gpujobs.pod.score.Scorer") in lazily


@pytest.mark.parametrize("name", layers.SERVING)
def test_what_serves_needs_no_training_library(name: str) -> None:
    assert layers.needs(IMPORTS, f"gpujobs.pod.{name}", layers.TRAINING_LIBRARIES) == []


def test_training_libraries_stay_in_the_training_modules() -> None:
    """Each module that needs one is there because it trains, fits or exports."""
    users = {found.module for found in IMPORTS if layers.within(found.target, layers.TRAINING_LIBRARIES)}
    training = (
        "bases",
        "borders",
        "calibration",
        "checkpoint",
        "export",
        "linear",
        "loop",
        "model",
        "quantise",
        "torch_engine",
        "train",
        "vocabulary",
    )
    assert users <= {f"gpujobs.pod.{name}" for name in training}


def test_the_four_apps_have_no_circle() -> None:
    """detector -> billing, gpujobs -> inkcloak: as an order in which each imports only what comes before it."""
    order = ("inkcloak", "gpujobs.pod", "gpujobs", "billing", "detector")

    def rank(name: str) -> int | None:
        return next((order.index(layer) for layer in (order[1], *order) if layers.within(name, layer)), None)

    ranked = [(found, rank(found.module), rank(found.target)) for found in IMPORTS]
    upward = [str(found) for found, of, to in ranked if of is not None and to is not None and to > of]
    assert [line for line in upward if "gpujobs.pod" not in line.split(" imports ")[0]] == []


def test_django_finds_apps_by_name_only() -> None:
    """INSTALLED_APPS, include() and the beat table name apps as strings: no import stands behind them."""
    source = (ROOT / "inkcloak" / "urls.py").read_text()
    names = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert "detector.urls" in names


# --- Breaking a sentence is seen --------------------------------------------------------------------------

MADE_UP = {
    "inkcloak/settings.py": "import os\n",
    "billing/quota.py": "from inkcloak import errors\n",
    "gpujobs/pod/contract.py": "import json\n",
    "gpujobs/pod/score.py": "import numpy\nfrom gpujobs.pod import contract\n",
    "gpujobs/backends/local.py": "def scorer():\n    from gpujobs.pod.score import Scorer\n",
    "detector/intake.py": "from billing import quota\nfrom gpujobs.pod.shared import prose\n",
    "devstack/stack.py": "import os\nfrom devstack import child\n",
}
FORBIDDEN = [
    ("inkcloak/api.py", "def view():\n    import detector.intake\n", "inkcloak_imports_no_app"),
    ("inkcloak/api.py", "from billing import models\n", "inkcloak_imports_no_app"),
    ("billing/usage.py", "import gpujobs.runs\n", "billing_and_gpujobs_never_meet"),
    ("billing/usage.py", "from gpujobs import runs\n", "billing_and_gpujobs_never_meet"),
    ("gpujobs/runs.py", "try:\n    from billing.quota import reserve\nexcept ImportError:\n    pass\n",
     "billing_and_gpujobs_never_meet"),
    ("gpujobs/runs.py", "if True:\n    from detector import tasks\n", "nobody_imports_the_detector"),
    ("billing/x/y.py", "from ..models import A\nfrom ...detector import intake\n", "nobody_imports_the_detector"),
    ("gpujobs/pod/score.py", "from django.conf import settings\n", "the_pod_imports_nothing_outside_itself"),
    ("gpujobs/pod/score.py", "from gpujobs import registry\n", "the_pod_imports_nothing_outside_itself"),
    ("gpujobs/pod/score.py", "from .. import registry\n", "the_pod_imports_nothing_outside_itself"),
    ("gpujobs/pod/shared/prose.py", "import numpy as np\n", "shared_rules_rest_on_nothing_but_the_contract"),
    ("gpujobs/pod/shared/prose.py", "from gpujobs.pod import score\n", "shared_rules_rest_on_nothing_but_the_contract"),
    ("gpujobs/pod/contract.py", "import pydantic\n", "the_contract_is_standard_library_only"),
    ("gpujobs/backends/local.py", "from gpujobs.pod.score import Scorer\n", "django_knows_little_of_the_pod"),
    ("detector/intake.py", "def f():\n    from gpujobs.pod.score import Scorer\n", "django_knows_little_of_the_pod"),
    ("detector/intake.py", "from gpujobs.pod import windows\n", "django_knows_little_of_the_pod"),
    ("detector/intake.py", "async def f():\n    import torch.nn\n", "only_the_pod_calculates"),
    ("inkcloak/api.py", "import numpy\n", "only_the_pod_calculates"),
    ("devstack/stack.py", "import redis\n", "devstack_works_before_anything_is_installed"),
    ("detector/intake.py", "from devstack import ports\n", "devstack_works_before_anything_is_installed"),
]  # fmt: skip


def build(root: Path, files: dict[str, str]) -> list[Import]:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return layers.imports_below(root)


def broken_by_name(imports: list[Import]) -> dict[str, list[str]]:
    found = {sentence.__name__: layers.broken(sentence, imports) for sentence in layers.SENTENCES}
    return {name: lines for name, lines in found.items() if lines}


def test_a_house_in_order_breaks_nothing(tmp_path: Path) -> None:
    assert broken_by_name(build(tmp_path, MADE_UP)) == {}


@pytest.mark.parametrize(("file", "source", "sentence"), FORBIDDEN)
def test_a_forbidden_import_is_seen(tmp_path: Path, file: str, source: str, sentence: str) -> None:
    assert sentence in broken_by_name(build(tmp_path, MADE_UP | {file: source}))


def test_a_training_library_behind_two_modules_is_seen(tmp_path: Path) -> None:
    chain = {"gpujobs/pod/windows.py": "from gpujobs.pod import model\n", "gpujobs/pod/model.py": "import torch.nn\n"}
    files = MADE_UP | chain | {"gpujobs/pod/score.py": "from gpujobs.pod.windows import cut\n"}
    found = layers.needs(build(tmp_path, files), "gpujobs.pod.score", ("torch",))
    assert found == ["gpujobs.pod.model:1 imports torch.nn"]


# --- What the web process really loads --------------------------------------------------------------------

LOAD_THE_WEB = """
import importlib, json, pkgutil, sys
import inkcloak.asgi
from django.urls import get_resolver
get_resolver().url_patterns
import detector.views, detector.tasks
for package in (detector.views,):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
print(json.dumps(sorted(name for name in sys.argv[1:] if name in sys.modules)))
"""


def test_the_web_process_loads_no_model_runtime() -> None:
    command = [sys.executable, "-c", LOAD_THE_WEB, *HEAVY]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "inkcloak.settings", "WARM_UP": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
