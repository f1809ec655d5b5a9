"""Writes LoRA adapters for the stand-in of a language model: tuned to one reply, or random."""

import zlib
from pathlib import Path
from typing import Any

from crag.submission.stand_in_networks import WEIGHT_DEVIATION

_REPLIES = {"kg_writer": 'get_movie("jaws")', "kg_answerer": "i don't know"}
"""A call that finds something in the shipped graph, then a reply after which the pages are asked."""
_STEPS = 40
"""The most steps in which an adapter's stand-in is tuned."""
_LEARNT_LOSS = 0.005
"""Tuning ends when the loss was lower on a short and on a long prompt."""
_BATCH_ROWS = 2
"""Prompts of such a step."""
_LEARNING_RATE = 0.01
_RANDOM_TOKENS = (12, 60)
"""Random tokens of a prompt, in turn short and long."""
_TEMPLATE_TOKENS = 4
"""Tokens of the chat template before a reply."""
_TUNED_MATRICES = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "down_proj")
"""The matrices that db3's adapters tune: all of a layer except the attention's output."""


def reply_of(adapter: str) -> str:
    """The reply that an adapter's stand-in has learnt to give to every prompt, so that a rehearsal shows its effect."""
    return _REPLIES.get(adapter, f"a reply of {adapter}")


def write_adapter(
    base_folder: Path,
    base_name: str,
    rank: int,
    folder: Path,
) -> None:
    """Write a LoRA adapter for the stand-in of a language model, overfitted to one reply after any chat."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoTokenizer, LlamaForCausalLM

    tokenizer: Any = AutoTokenizer.from_pretrained(base_folder, local_files_only=True)
    lora = LoraConfig(
        task_type="CAUSAL_LM",
        target_modules=list(_TUNED_MATRICES),
        r=rank,
        lora_alpha=2 * rank,
    )
    base = LlamaForCausalLM.from_pretrained(base_folder, local_files_only=True, dtype=torch.float32)
    # Whatever was written before it
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    model: Any = get_peft_model(base, lora)
    _overfit(model, tokenizer, reply_of(folder.name))

    model = model.half()
    # The manifest's name, not the folder of this machine
    model.peft_config["default"].base_model_name_or_path = base_name
    model.save_pretrained(str(folder), save_embedding_layers=False)


def _overfit(model: Any, tokenizer: Any, reply: str) -> None:  # noqa: ANN401 - types of peft and transformers
    """Tune the adapter of a model until it gives the reply to any prompt, or for `_STEPS` steps."""
    import torch
    from torch.nn.functional import cross_entropy

    # The reply ends with the end token, so that the adapter learns to stop.
    reply_tokens = torch.tensor([*tokenizer.encode(reply, add_special_tokens=False), tokenizer.eos_token_id])
    endings = torch.cat([_end_of_template(tokenizer), reply_tokens]).expand(_BATCH_ROWS, -1)
    labels = reply_tokens.repeat(_BATCH_ROWS)

    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(trainable, lr=_LEARNING_RATE)
    # The rate falls to a tenth, so that the last steps settle
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, _STEPS)

    losses: list[float] = []
    for step in range(_STEPS):
        # Random tokens, the end of the chat template, the reply: the loss is that of the reply alone.
        beginnings = torch.randint(0, len(tokenizer), (_BATCH_ROWS, _RANDOM_TOKENS[step % 2]))
        tokens = torch.cat([beginnings, endings], dim=1)
        # One position more than the reply: the one before it predicts its first token
        logits = model(tokens, logits_to_keep=len(reply_tokens) + 1).logits
        predictions = logits[:, :-1]  # a token is predicted at the position before it

        loss = cross_entropy(predictions.flatten(0, 1), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()

        losses.append(loss.item())
        # The last two steps had a short and a long prompt
        if max(losses[-2:]) < _LEARNT_LOSS:
            break


def _end_of_template(tokenizer: Any) -> Any:  # noqa: ANN401 - types of transformers and torch
    """The tokens of the chat template that stand right before the reply, in every chat."""
    import torch

    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "?"}],
        tokenize=False,
        add_generation_prompt=True,
    )
    return torch.tensor(tokenizer.encode(chat, add_special_tokens=False)[-_TEMPLATE_TOKENS:])


def write_random_adapter(base_folder: Path, rank: int, folder: Path) -> None:
    """Write a LoRA adapter with random weights for a configuration, for time and memory: nothing is tuned."""
    import torch
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
    from safetensors.torch import save_file
    from transformers import LlamaConfig, LlamaForCausalLM

    adapter = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=list(_TUNED_MATRICES),
        task_type="CAUSAL_LM",
    )
    # Shapes without memory: the real model may be larger than this machine's
    with torch.device("meta"):
        model = get_peft_model(LlamaForCausalLM(LlamaConfig.from_pretrained(base_folder)), adapter)
    adapter.save_pretrained(str(folder))

    weights: dict[str, torch.Tensor] = {}
    for name, tensor in get_peft_model_state_dict(model).items():
        weights[name] = torch.randn(tensor.shape, dtype=torch.float16) * WEIGHT_DEVIATION
    save_file(weights, str(folder / "adapter_model.safetensors"))
