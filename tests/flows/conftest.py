"""`product`: everything that `make run` starts, once for all flow tests, with servers and state of its own."""

from collections.abc import Iterator

import pytest
from product import Product, Visitor

from devstack import ports


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    base = tmp_path_factory.mktemp("product")
    for folder in (base, base.parent, base.parent.parent):
        folder.chmod(folder.stat().st_mode | 0o011)  # another user's server passes through to its own folder
    made = Product(base / "var", ports.free_port())
    try:
        made.start()
        yield made
    finally:
        made.end()


@pytest.fixture
def visitor(product: Product) -> Iterator[Visitor]:
    somebody = Visitor(product)
    yield somebody
    somebody.http.close()
