"""Tuning on a CPU: the type of its numbers, and how long it takes."""

import time

import torch
from transformers import PreTrainedModel

from crag.training.lora.settings import LoraTraining

_BFLOAT16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
"""Names that torch gives to them: on Intel and AMD, on Intel, on ARM."""
_PRODUCTS_PER_TOKEN = 2
"""A token goes through each matrix forwards and backwards; the matrices themselves are not tuned."""
_OTHER_WORK = 1.6
"""Time of a step by that of its matrix products: attention, adapter, output layer. Measured with a 1.5B model."""
_ROWS = 512
"""Tokens of the measured product, about those of a step."""
_COLUMNS = 4096
"""Of its matrix: enough for a time that repeats."""


def computing_type(settings: LoraTraining, device: str) -> torch.dtype:
    """The type that the base computes in: on a GPU float16, as it is served, because a T4 has no bfloat16."""
    if device != "cpu":
        return torch.float16
    is_fast = settings.cpu_type == "bfloat16" and computes_in_bfloat16()
    return torch.bfloat16 if is_fast else torch.float32


def computes_in_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16. Without them torch computes in it, but slowly."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in _BFLOAT16_INSTRUCTIONS)


def estimate_seconds(model: PreTrainedModel, tokens: int) -> float:
    """A rough estimate of the time to tune with that many tokens, from one measured matrix product.

    It may be wrong by a factor of two: other processes, memory and padding are not counted.
    """
    width = model.config.hidden_size
    inputs = torch.ones(_ROWS, width, dtype=model.dtype)
    matrix = torch.ones(width, _COLUMNS, dtype=model.dtype)

    torch.mm(inputs, matrix)  # the first product includes preparations
    started = time.perf_counter()
    torch.mm(inputs, matrix)
    seconds_per_weight: float = (time.perf_counter() - started) / matrix.numel() / _ROWS

    weights: int = sum(weight.numel() for weight in model.parameters())
    return tokens * weights * seconds_per_weight * _PRODUCTS_PER_TOKEN * _OTHER_WORK
