"""The tiny Llama that is tuned in these tests."""

from tests.agents.llm.conftest import one_thread, tiny_llama

__all__ = ["one_thread", "tiny_llama"]
