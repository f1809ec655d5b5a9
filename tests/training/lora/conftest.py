"""The tiny Llama that is tuned in these tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.agents.llm.tiny_models import build_tiny_llama


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine make models of this size a hundred times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_llama(tmp_path_factory.mktemp("tiny") / "llama")
