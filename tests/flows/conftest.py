"""`product`: everything that `make run` starts, once for all flow tests, with servers and state of its own."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from product import Product, Visitor

from devstack import ports

LAST_LINES = 60


@pytest.fixture(scope="session")
def product(request: pytest.FixtureRequest) -> Iterator[Product]:
    """Its folder lies outside of pytest's own, which other sessions close to the servers' user."""
    base = Path(tempfile.mkdtemp(prefix="inkcloak-flows-"))
    base.chmod(0o711)
    made = Product(base / "var", ports.free_port())
    before = request.session.testsfailed
    try:
        made.start()
        yield made
    finally:
        made.end()
        if request.session.testsfailed > before:
            print("\n".join(made.logs().splitlines()[-LAST_LINES:]))  # noqa: T201 - pytest shows it with the failure
        shutil.rmtree(base, ignore_errors=True)


@pytest.fixture
def visitor(product: Product) -> Iterator[Visitor]:
    somebody = Visitor(product)
    yield somebody
    somebody.http.close()
