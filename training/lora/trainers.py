"""The trainers of trl for a tunable model, and the callback that shows and records a run."""

import math
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset
from torch.nn import functional
from tqdm import tqdm
from transformers.trainer import Trainer
from transformers.trainer_callback import PrinterCallback, TrainerCallback, TrainerState
from transformers.training_args import TrainingArguments
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer
from trl.trainer.utils import FusedCausalLMOutput

from agents.common.files import write_json
from agents.llm.trainable import ChatTokenizer
from training.lora.model import COMPLETE, computing_type
from training.lora.settings import LoraTraining
from training.lora.tokens import IGNORED, TokenExample

if TYPE_CHECKING:
    from peft import PeftModel
    from torch import Tensor
    from transformers import PreTrainedModel


class _TokenPairTrainer(DPOTrainer):  # type: ignore[misc]
    """Takes tokenized preferences."""

    def _prepare_dataset(self, dataset: Dataset, *_: object) -> Dataset:
        return dataset


def build_trainer(
    settings: LoraTraining, model: "PeftModel", base: Path, examples: Sequence[TokenExample], options: dict[str, Any]
) -> Trainer:
    """A trainer that reads the examples in the given order, once.

    With preferences, the reference is the current adapter: trl copies it before the first step. `base` is the base
    model's folder, for its tokenizer; `options` are those of `arguments`.
    """
    rows: list[dict[str, Any]]
    if settings.preferences is not None:
        kind: type[Trainer] = _TokenPairTrainer
        config = DPOConfig(**options, beta=settings.preferences.beta, loss_type=["sigmoid"], max_length=None)
        rows = [
            {"prompt_ids": one.prompt, "chosen_ids": one.completion, "rejected_ids": one.rejected} for one in examples
        ]
    else:
        kind = SFTTrainer
        config = SFTConfig(**options, max_length=None, dataset_kwargs={"skip_prepare_dataset": True})
        rows = [
            {"input_ids": one.prompt + one.completion, "labels": [IGNORED] * len(one.prompt) + one.completion}
            for one in examples
        ]
    tokenizer = ChatTokenizer(base).huggingface
    trainer = kind(model=model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    if model.device.type == "cpu":
        score_answers_only(model.get_base_model())
    for weight in model.parameters():
        if weight.requires_grad:  # trl makes them bfloat16 for a quantised base; small steps would be lost
            weight.data = weight.data.float()
    return trainer


def arguments(settings: LoraTraining, work: Path, device: str, max_steps: int | None) -> dict[str, Any]:
    """The settings as transformers' TrainingArguments; one epoch, because the data holds all epochs in order."""
    number_type = computing_type(settings, device)
    return {
        "output_dir": str(work),
        "num_train_epochs": 1,
        "max_steps": max_steps or -1,
        "train_sampling_strategy": "sequential",
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": "constant_with_warmup" if settings.schedule == "constant" else settings.schedule,
        "warmup_steps": settings.warm_up_share,
        "max_grad_norm": settings.max_gradient_norm,
        "weight_decay": 0.0,
        "optim": "adamw_torch",
        "seed": settings.seed,
        "gradient_checkpointing": settings.gradient_checkpointing,
        "bf16": number_type == torch.bfloat16,
        "fp16": number_type == torch.float16,
        "use_cpu": device == "cpu",
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_steps": settings.checkpoint_steps,
        "save_total_limit": 2,
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }


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


class RunRecorder(TrainerCallback):  # type: ignore[misc]
    """Shows progress, keeps the losses, counts seconds over all resumes, stops a run that diverged.

    `tokens` are the tokens read after each step, `seconds` the time before the run was resumed.
    """

    def __init__(self, tokens: Sequence[int], seconds: float = 0.0, *, shown: bool = True) -> None:
        self._tokens, self._before, self._shown = (0, *tokens), seconds, shown
        self._bar: tqdm[Any] = tqdm(disable=True)
        self._started = time.monotonic()
        self._first_step = 0

    @property
    def seconds(self) -> float:
        """Seconds of this run and of the runs before it, up to their last checkpoint."""
        return self._before + time.monotonic() - self._started

    def steps(self, state: TrainerState) -> list[dict[str, Any]]:
        """`step`, `loss`, `learning_rate` and `tokens` read so far, for all steps, including those before a resume."""
        return [
            {name: entry[name] for name in ("step", "loss", "learning_rate")} | {"tokens": self._tokens[entry["step"]]}
            for entry in state.log_history
            if "loss" in entry
        ]

    def on_train_begin(self, args: object, state: TrainerState, control: object, **_: object) -> None:
        """Start the clock and the progress bar."""
        self._started, self._first_step = time.monotonic(), state.global_step
        self._bar = tqdm(
            total=state.max_steps, initial=state.global_step, desc="tuning", unit="step", disable=not self._shown
        )

    def on_log(
        self, args: object, state: TrainerState, control: object, logs: dict[str, float] | None = None, **_: object
    ) -> None:
        """Show a step; raises `FloatingPointError` if its loss is not finite."""
        if not logs or "loss" not in logs:
            return
        step, loss = state.global_step, logs["loss"]
        if not math.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss} in step {step}: lower the learning rate")
        read = self._tokens[step] - self._tokens[self._first_step]
        speed = read / max(1e-9, time.monotonic() - self._started)
        self._bar.set_postfix_str(f"loss {loss:.3f}, {speed:.0f} tokens/s", refresh=False)
        self._bar.update(step - self._bar.n)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: object, **_: object) -> None:
        """Mark the checkpoint as complete."""
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        write_json(folder / COMPLETE, {"seconds": self.seconds})

    def on_train_end(self, args: object, state: object, control: object, **_: object) -> None:
        """Close the bar."""
        self._bar.close()
