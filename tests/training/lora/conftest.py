"""The tiny Llama that is tuned in these tests."""

from tests.engines.llm.conftest import tiny_llama
from tests.torch_threads import one_thread

__all__ = ["one_thread", "tiny_llama"]
