"""The interface for training: weights folders and tokenisation, so that tuning and inference cannot differ."""

from agents.llm.local_engine import REPOSITORY, adapter_folder, model_folder
from agents.llm.tokenizer import ChatTokenizer, PromptError, quiet_transformers

__all__ = [
    "REPOSITORY",
    "ChatTokenizer",
    "PromptError",
    "adapter_folder",
    "model_folder",
    "quiet_transformers",
]
