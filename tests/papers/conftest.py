"""The shipped knowledge graph, served once for all presets that ask one."""

from collections.abc import Iterator

import pytest

from mock_api import serve


@pytest.fixture(scope="package")
def graph() -> Iterator[str]:
    with serve() as address:
        yield address
