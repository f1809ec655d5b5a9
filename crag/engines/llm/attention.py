"""The attention of models that transformers runs: on cards without flash attention it must not keep all scores."""

from types import SimpleNamespace
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

REPEATED = "sdpa_repeated"


def attention_for(device: str) -> str:
    """The ``attn_implementation`` for a torch device, or for ``auto``.

    For one prompt without padding transformers lets torch share keys among heads. Before compute capability 8.0 no
    fused kernel does that, and torch computes all scores in float32: 2 GiB a layer, several times, for 4,096 tokens of
    Llama-3-8B. Keys and values repeated for each head take the memory-efficient kernel.
    """
    cards = range(torch.cuda.device_count()) if device == "auto" else [torch.device(device)]
    on_cards = device.startswith(("auto", "cuda")) and torch.cuda.is_available()
    old = on_cards and any(torch.cuda.get_device_capability(card) < (8, 0) for card in cards)
    return REPEATED if old else "sdpa"


def _repeated(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: object, **more: object
) -> tuple[torch.Tensor, None]:
    each = getattr(module, "num_key_value_groups", 1)
    alone: Any = SimpleNamespace(is_causal=getattr(module, "is_causal", True))  # has no groups to share keys among
    attend: Any = sdpa_attention_forward
    found: tuple[torch.Tensor, None] = attend(alone, query, repeat_kv(key, each), repeat_kv(value, each), *rest, **more)
    return found


AttentionInterface.register(REPEATED, _repeated)
AttentionMaskInterface.register(REPEATED, sdpa_mask)
