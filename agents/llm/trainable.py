"""The door for training: where weights lie and how text becomes tokens, so that tuning and inference cannot differ."""

from agents.llm.tokenizer import ChatTokenizer, PromptError, quiet_transformers
from agents.llm.weights import REPOSITORY, adapter_folder, model_folder

__all__ = [
    "REPOSITORY",
    "ChatTokenizer",
    "PromptError",
    "adapter_folder",
    "model_folder",
    "quiet_transformers",
]
