"""Who imports whom, read from the source itself; and the sentences of the house about it, as a function.

Static: every import statement counts, also those inside functions and under TYPE_CHECKING.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

APPS = ("billing", "detector", "gpujobs", "inkcloak")
HOUSE = (*APPS, "devstack")
POD = "gpujobs.pod"
DJANGO_WORLD = ("django", "celery", "kombu", "redis", "psycopg", "rest_framework", "allauth", "asgiref")
TRAINING_LIBRARIES = ("torch", "transformers", "peft", "sklearn", "onnx", "onnxscript", "safetensors")
SCORING_LIBRARIES = ("onnxruntime", "tokenizers", "numpy")
# What Django code may know of the pod: what both sides speak, the figures, and the rules that both apply.
POD_FOR_DJANGO = (f"{POD}.contract", f"{POD}.evaluate", f"{POD}.shared")
THE_ONE_EXCEPTION = ("gpujobs.backends.local", f"{POD}.score")
# What runs in a worker or serverless endpoint: none of these may need a training library.
SERVING = (
    "contract",
    "score",
    "engine",
    "windows",
    "calibration",
    "manifest",
    "ngrams",
    "evaluate",
    "batcher",
    "handler",
)


@dataclass(frozen=True)
class Import:
    """`module` imports `target` at `line`; lazy: inside a function or for type checkers only."""

    module: str
    target: str
    line: int
    lazy: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def within(name: str, packages: str | tuple[str, ...]) -> bool:
    """Whether the dotted name is one of the packages or lies below one."""
    names = (packages,) if isinstance(packages, str) else packages
    return any(name == package or name.startswith(f"{package}.") for package in names)


def imports_below(root: Path, packages: tuple[str, ...] = HOUSE) -> list[Import]:
    """Every import of every module of these packages."""
    files = sorted(path for package in packages for path in (root / package).rglob("*.py"))
    return [found for path in files for found in _imports_of(path, _dotted(path.relative_to(root)))]


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports_of(path: Path, module: str) -> Iterator[Import]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node, lazy in _walk(ast.parse(path.read_text(encoding="utf-8")), lazy=False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, lazy)
        else:
            base = _base(node, package)
            for alias in node.names:
                # `from a import b` may name a module or a thing inside of one: both are below a.b.
                yield Import(module, f"{base}.{alias.name}", node.lineno, lazy)


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _walk(node: ast.AST, *, lazy: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, lazy
        else:
            yield from _walk(child, lazy=lazy or _is_lazy(child))


def _is_lazy(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return ast.unparse(node.test).endswith("TYPE_CHECKING")
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


# --- The sentences ------------------------------------------------------------------------------------------


def inkcloak_imports_no_app(found: Import) -> bool:
    return not (within(found.module, "inkcloak") and within(found.target, ("billing", "gpujobs", "detector")))


def billing_and_gpujobs_never_meet(found: Import) -> bool:
    one_way = within(found.module, "billing") and within(found.target, "gpujobs")
    other_way = within(found.module, "gpujobs") and within(found.target, "billing")
    return not (one_way or other_way)


def nobody_imports_the_detector(found: Import) -> bool:
    return within(found.module, "detector") or not within(found.target, "detector")


def the_pod_imports_nothing_outside_itself(found: Import) -> bool:
    if not within(found.module, POD):
        return True
    return within(found.target, POD) or not within(found.target, (*HOUSE, *DJANGO_WORLD))


def shared_rules_rest_on_nothing_but_the_contract(found: Import) -> bool:
    if not within(found.module, f"{POD}.shared"):
        return True
    allowed: tuple[str, ...] = (f"{POD}.shared", f"{POD}.contract")
    if found.module == f"{POD}.shared.metrics":  # figures of many texts; no page ever calculates one
        allowed += ("numpy",)
    return not within(found.target, (*HOUSE, *TRAINING_LIBRARIES, *SCORING_LIBRARIES)) or within(found.target, allowed)


def the_contract_is_standard_library_only(found: Import) -> bool:
    return found.module != f"{POD}.contract" or found.target.split(".")[0] in sys.stdlib_module_names


def django_knows_little_of_the_pod(found: Import) -> bool:
    if within(found.module, POD) or not within(found.target, POD):
        return True
    if within(found.target, POD_FOR_DJANGO):
        return True
    module, target = THE_ONE_EXCEPTION
    return found.module == module and within(found.target, target) and found.lazy


def only_the_pod_calculates(found: Import) -> bool:
    """No app imports a library that trains or scores; only pod code does."""
    return within(found.module, POD) or not within(found.target, (*TRAINING_LIBRARIES, *SCORING_LIBRARIES))


def devstack_works_before_anything_is_installed(found: Import) -> bool:
    if not within(found.module, "devstack"):
        return not within(found.target, "devstack")
    if found.module == "devstack.django_commands" and found.lazy:  # run by the virtual environment's Python
        return within(found.target, "django")
    return found.target.split(".")[0] in {*sys.stdlib_module_names, "devstack"}


SENTENCES: tuple[Callable[[Import], bool], ...] = (
    inkcloak_imports_no_app,
    billing_and_gpujobs_never_meet,
    nobody_imports_the_detector,
    the_pod_imports_nothing_outside_itself,
    shared_rules_rest_on_nothing_but_the_contract,
    the_contract_is_standard_library_only,
    django_knows_little_of_the_pod,
    only_the_pod_calculates,
    devstack_works_before_anything_is_installed,
)


def broken(sentence: Callable[[Import], bool], imports: list[Import]) -> list[str]:
    """The imports that break a sentence."""
    return [str(found) for found in imports if not sentence(found)]


def needs(imports: list[Import], start: str, libraries: tuple[str, ...]) -> list[str]:
    """The imports by which loading `start`, and all that it loads of the house, would load one of these libraries."""
    waiting, seen, guilty = [start], {start}, []
    while waiting:
        module = waiting.pop()
        for found in imports:
            if found.module != module or found.lazy:
                continue
            if within(found.target, libraries):
                guilty.append(str(found))
            following = {found.target, found.target.rpartition(".")[0]} - seen
            waiting += [name for name in following if within(name, HOUSE)]
            seen |= following
    return guilty
