"""The tiny Llama that is tuned in these tests."""

from tests.engines.llm.conftest import one_thread, tiny_llama

__all__ = ["one_thread", "tiny_llama"]
