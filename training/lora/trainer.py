"""trl's trainer for a tunable model: it learns the completions of the examples."""

import math
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset
from torch.nn import functional
from tqdm import tqdm
from transformers.trainer_callback import PrinterCallback, TrainerCallback, TrainerState
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer
from trl.trainer.utils import FusedCausalLMOutput

from agents.llm.trainable import ChatTokenizer
from training.lora.model import computing_type
from training.lora.settings import LoraTraining
from training.lora.tokens import IGNORED, TokenExample

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor
    from transformers import PreTrainedModel


def build_trainer(
    settings: LoraTraining,
    model: "PeftModel",
    base: Path,
    examples: Sequence[TokenExample],
    work: Path,
    device: str,
    max_steps: int | None,
    *,
    shown: bool,
) -> SFTTrainer:
    """A trainer of the model on these examples; checkpoints go to `work`.

    Args:
        settings: The tuning.
        model: The tunable model.
        base: The base model's folder, for its tokenizer.
        examples: The examples.
        work: Folder for checkpoints.
        device: ``cpu`` or ``cuda``.
        max_steps: Other length of the run and its schedule than the settings' epochs.
        shown: Add a progress bar on standard error.
    """
    number_type = computing_type(device)
    arguments = SFTConfig(
        output_dir=str(work),
        num_train_epochs=settings.epochs,
        max_steps=max_steps or -1,
        per_device_train_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warm_up_share,
        max_grad_norm=settings.max_gradient_norm,
        weight_decay=0.0,
        optim="adamw_torch",
        seed=settings.seed,
        gradient_checkpointing=settings.gradient_checkpointing,
        bf16=number_type == torch.bfloat16,
        fp16=number_type == torch.float16,
        use_cpu=device == "cpu",
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_steps=settings.checkpoint_steps,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
    )
    rows = [
        {"input_ids": one.prompt + one.completion, "labels": [IGNORED] * len(one.prompt) + one.completion}
        for one in examples
    ]
    tokenizer = ChatTokenizer(base).huggingface
    trainer = SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(StepWatch(shown=shown))
    if device == "cpu":
        score_answers_only(model.get_base_model())
    for weight in model.parameters():
        if weight.requires_grad:  # trl makes them bfloat16 for a quantised base; small steps would be lost
            weight.data = weight.data.float()
    return trainer


def score_answers_only(model: "PreTrainedModel") -> None:
    """Project only the learned tokens onto the vocabulary; trl projects every position, including the prompt.

    Replaces the forward pass that trl calls with ``fused_lm_head=True``. With 152,000 words and answers of a tenth of
    the tokens, the full projection would cost more on a CPU than all layers below it. The log-probabilities are the
    same; entropy and the other figures of trl stay 0.
    """
    before = model.forward

    def forward(
        self: "PreTrainedModel",
        *inputs: object,
        fused_lm_head: bool = False,
        labels: "Tensor | None" = None,
        **keywords: object,
    ) -> object:
        if fused_lm_head and labels is not None:
            keywords.pop("num_items_in_batch", None)
            return _scored(self, labels, inputs, keywords | {"use_cache": False})
        return before(*inputs, **keywords, **({} if labels is None else {"labels": labels}))

    model.forward = types.MethodType(forward, model)


def _scored(
    model: "PreTrainedModel", labels: "Tensor", inputs: tuple[object, ...], keywords: dict[str, object]
) -> FusedCausalLMOutput:
    # A token is predicted at the position before it.
    hidden = model.base_model(*inputs, **keywords).last_hidden_state[:, :-1]
    wanted = labels[:, 1:]
    mask = wanted != IGNORED
    logits = model.get_output_embeddings()(hidden[mask]).float()
    found = -functional.cross_entropy(logits, wanted[mask], reduction="none")
    nothing = found.new_zeros(mask.shape)
    return FusedCausalLMOutput(
        log_probs=nothing.masked_scatter(mask, found),
        entropy=nothing,
        mean_logits=nothing,
        is_top1=nothing.bool(),
        label_mask=mask,
    )


class StepWatch(TrainerCallback):  # type: ignore[misc]
    """Shows progress, and stops a run that diverged."""

    def __init__(self, *, shown: bool) -> None:
        self._bar: tqdm[Any] = tqdm(desc="tuning", unit="step", disable=not shown)

    def on_train_begin(self, args: object, state: TrainerState, control: object, **_: object) -> None:
        """Start the bar."""
        self._bar.reset(state.max_steps)

    def on_log(
        self, args: object, state: TrainerState, control: object, logs: dict[str, float] | None = None, **_: object
    ) -> None:
        """Show a step; raises `FloatingPointError` if its loss is not finite."""
        if not logs or "loss" not in logs:
            return
        if not math.isfinite(logs["loss"]):
            raise FloatingPointError(
                f"training diverged: the loss is {logs['loss']} in step {state.global_step}: lower the learning rate"
            )
        self._bar.set_postfix_str(f"loss {logs['loss']:.3f}", refresh=False)
        self._bar.update(state.global_step - self._bar.n)

    def on_train_end(self, args: object, state: object, control: object, **_: object) -> None:
        """Close the bar."""
        self._bar.close()
