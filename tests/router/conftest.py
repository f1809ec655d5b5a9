"""The tiny encoder that these tests share."""

from pathlib import Path

import pytest

from tests.router.tiny_bert import build_bert


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_bert(tmp_path_factory.mktemp("bert"))
