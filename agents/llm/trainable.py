"""The interface for training: weights folders, tokenisation and hidden states, so that tuning and inference agree."""

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from agents.llm.base import GenerationRequest
from agents.llm.local_engine import REPOSITORY, adapter_folder, model_folder
from agents.llm.probe import PROBES
from agents.llm.tokenizer import ChatTokenizer, PromptError, quiet_transformers
from agents.settings import OpenvinoEngine

__all__ = [
    "PROBES",
    "REPOSITORY",
    "ChatTokenizer",
    "PromptError",
    "adapter_folder",
    "model_folder",
    "prompt_states",
    "quiet_transformers",
]


def prompt_states(
    settings: OpenvinoEngine, layer: int, requests: Sequence[GenerationRequest]
) -> Iterator[NDArray[Any]]:
    """The residual stream at the end of each prompt, after this layer (from 1): what a probe sees; (hidden size,)."""
    import torch
    from tqdm import tqdm

    from agents.llm.openvino_engine import OpenvinoModel

    tokenizer, model = ChatTokenizer(model_folder(settings.model)), OpenvinoModel(settings, layer)
    with model.adapter(None):
        for request in tqdm(requests, desc="hidden states", unit="prompt"):
            tokens = torch.tensor([tokenizer.prompt_tokens(request)])
            mask = torch.ones_like(tokens)
            model.step(tokens, mask, mask.cumsum(1) - 1, None)
            yield model.hidden_state()[0].numpy()
