"""Models small enough to build inside a test: a random Llama with a tokenizer of its own, and LoRA adapters for it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from crag.weights.adapter_files import matrix_shapes
from crag.weights.conversion.int8 import write_int8

LETTERS = "the quick brown fox jumps over the lazy dog. Pack my box with five dozen liquor jugs! 0123456789 is it?"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message['role'] }}: {{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant: {% endif %}"
)
POSITIONS = 512


def build_tiny_llama(folder: Path, *, seed: int = 0) -> Path:
    """A Llama with two layers and random weights, byte-level BPE, a chat template; 0.5 MB, built in a second.

    The weights are larger than an untrained model's, so that the next token depends on the whole prompt.
    """
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=384,
        special_tokens=["<|begin|>", "<|end|>", "<|turn|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([LETTERS], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<|begin|>",
        eos_token="<|end|>",
        additional_special_tokens=["<|turn|>"],
        chat_template=CHAT_TEMPLATE,
    )
    tokenizer.save_pretrained(str(folder))
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=POSITIONS,
        initializer_range=0.2,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    write_int8(folder)
    return folder


def build_adapter(
    folder: Path,
    model: Path,
    *,
    seed: int,
    size: float = 0.3,
    rank: int = 8,
    modules: Sequence[str] = ("self_attn.q_proj", "self_attn.v_proj"),
    config: Mapping[str, object] | None = None,
) -> Path:
    """A LoRA adapter with random weights on these modules of all layers; `size` is their standard deviation.

    `config` changes `adapter_config.json`.
    """
    shapes = matrix_shapes(json.loads((model / "config.json").read_text(encoding="utf-8")))
    assert shapes is not None
    chance = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, (outputs, inputs) in shapes.items():
        if name.endswith(tuple(modules)):
            prefix = f"base_model.model.{name}"
            tensors[f"{prefix}.lora_A.weight"] = torch.randn(rank, inputs, generator=chance) * size
            tensors[f"{prefix}.lora_B.weight"] = torch.randn(outputs, rank, generator=chance) * size

    folder.mkdir(parents=True)
    save_file(tensors, str(folder / "adapter_model.safetensors"))
    description = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(model),
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": [module.rpartition(".")[2] for module in modules],
    }
    (folder / "adapter_config.json").write_text(json.dumps(description | dict(config or {})), encoding="utf-8")
    return folder
