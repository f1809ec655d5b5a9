"""The attention of models that transformers runs: on GPUs without flash attention it must not keep all scores."""

from types import SimpleNamespace
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

REPEATED = "sdpa_repeated"
"""The name under which transformers finds `_attend_with_repeated_heads`."""

_FIRST_WITH_FLASH_ATTENTION = (8, 0)
"""Compute capability of the first GPUs with flash attention (Ampere)."""


def attention_for(device: str) -> str:
    """The ``attn_implementation`` for a torch device, or for ``auto``.

    For one prompt without padding transformers lets torch share keys among heads. Before compute capability 8.0 no
    fused kernel does that, and torch computes all scores in float32: 2 GiB a layer, several times, for 4,096 tokens of
    Llama-3-8B. Keys and values repeated for each head take the memory-efficient kernel.
    """
    if not device.startswith(("auto", "cuda")) or not torch.cuda.is_available():
        return "sdpa"

    gpus = range(torch.cuda.device_count()) if device == "auto" else [torch.device(device)]
    for gpu in gpus:
        if torch.cuda.get_device_capability(gpu) < _FIRST_WITH_FLASH_ATTENTION:
            return REPEATED
    return "sdpa"


def _attend_with_repeated_heads(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *arguments: object,
    **options: object,
) -> tuple[torch.Tensor, None]:
    """The attention `sdpa` of transformers with keys and values (batch x heads x tokens x size) repeated for the heads
    that share them.

    `sdpa_attention_forward` asks the module how many heads share a key; the stand-in for it says nothing about that.
    """
    sharing_heads = getattr(module, "num_key_value_groups", 1)
    ungrouped: Any = SimpleNamespace(is_causal=getattr(module, "is_causal", True))
    attend: Any = sdpa_attention_forward
    output: tuple[torch.Tensor, None] = attend(
        ungrouped,
        query,
        repeat_kv(key, sharing_heads),
        repeat_kv(value, sharing_heads),
        *arguments,
        **options,
    )
    return output


AttentionInterface.register(REPEATED, _attend_with_repeated_heads)
AttentionMaskInterface.register(REPEATED, sdpa_mask)
