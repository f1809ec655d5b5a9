"""One tuning run: tokenizes examples, trains with trl, writes the adapter's folder.

``OUT/unfinished`` holds the last checkpoints; a killed run continues from the last complete one. The folder is removed
at the end, by `finish`.
"""

import logging
import math
import shutil
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from peft import PeftModel
from torch.nn import functional
from tqdm import tqdm
from transformers import AutoTokenizer, PreTrainedModel
from transformers.trainer_callback import PrinterCallback, TrainerCallback, TrainerState
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer
from trl.trainer.utils import FusedCausalLMOutput

from agents.common.files import UserError, write_rows
from agents.llm.trainable import quiet_transformers
from training.examples import TrainingExample
from training.lora.model import WEIGHTS_FILE, computing_type, load_tunable, save_adapter
from training.lora.settings import LoraTraining
from training.lora.tokens import IGNORED, ExampleTokenizer, TokenExample, TokenExamples
from training.run_card import CARD_FILE

UNFINISHED = "unfinished"
LOSSES_FILE = "losses.jsonl"
_LAST_WRITTEN = "trainer_state.json"
"""transformers writes it last into a checkpoint; without it the checkpoint is incomplete."""


class TunedRun(NamedTuple):
    """The rows of `LOSSES_FILE`, of all steps, and the examples."""

    steps: list[dict[str, Any]]
    examples: TokenExamples


def tune(
    settings: LoraTraining,
    examples: Sequence[TrainingExample],
    base: Path,
    out: Path,
    device: str = "cpu",
    max_steps: int | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    shown: bool = True,
) -> TunedRun:
    """Tune one adapter and write it with its losses; call `finish` afterwards.

    Args:
        settings: The adapter and its tuning.
        examples: What it learns.
        base: The base model's folder.
        out: The adapter's folder.
        device: ``cpu`` or ``cuda``.
        max_steps: Other length of the run than the settings' epochs.
        resume: Continue an unfinished run of the same settings and data, if there is one.
        overwrite: Replace an adapter, once the new one is ready, and an unfinished run that is not resumed.
        shown: Add a progress bar on standard error.

    Raises:
        UserError: an adapter or an unfinished run is in the way; see also `ExampleTokenizer.tokens`, `load_tunable`.
        FloatingPointError: the loss is not finite.
    """
    work = out / UNFINISHED
    checkpoint = _last_checkpoint(work)
    if checkpoint and not (resume or overwrite):
        raise UserError(f"{work} holds an unfinished run: --resume continues it, --overwrite discards it")
    if not checkpoint and (out / WEIGHTS_FILE).is_file() and not overwrite:
        raise UserError(f"{out} holds a finished adapter: --overwrite replaces it, --out names another folder")
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
        checkpoint = None
    tokens = ExampleTokenizer(base).tokens(examples, settings.max_tokens)
    for chatty in ("trl", "accelerate", "datasets", "peft"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    with quiet_transformers():
        model = load_tunable(settings, base, device)
        trainer = _trainer(settings, model, base, tokens.kept, work, device, max_steps, shown=shown)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    (out / CARD_FILE).unlink(missing_ok=True)  # belongs to the overwritten adapter
    save_adapter(model, out, settings.base)
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    steps = [{name: entry[name] for name in ("step", "loss", "learning_rate")} for entry in logged]
    write_rows(out / LOSSES_FILE, steps)
    return TunedRun(steps, tokens)


def finish(out: Path) -> None:
    """Remove the checkpoints, after everything is written, including the run card."""
    shutil.rmtree(out / UNFINISHED, ignore_errors=True)


def _last_checkpoint(work: Path) -> Path | None:
    complete = [folder for folder in work.glob("checkpoint-*") if (folder / _LAST_WRITTEN).is_file()]
    return max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)


def _trainer(
    settings: LoraTraining,
    model: PeftModel,
    base: Path,
    examples: Sequence[TokenExample],
    work: Path,
    device: str,
    max_steps: int | None,
    *,
    shown: bool,
) -> SFTTrainer:
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
    tokenizer = AutoTokenizer.from_pretrained(str(base), local_files_only=True)
    trainer = SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(StepWatch(shown=shown))
    if device == "cpu":
        score_answers_only(model.get_base_model())
    for weight in model.parameters():
        if weight.requires_grad:  # trl makes them bfloat16 for a quantised base; small steps would be lost
            weight.data = weight.data.float()
    return trainer


def score_answers_only(model: PreTrainedModel) -> None:
    """Project only the learned tokens onto the vocabulary; trl projects every position, including the prompt.

    Replaces the forward pass that trl calls with ``fused_lm_head=True``. With 152,000 words and answers of a tenth of
    the tokens, the full projection would cost more on a CPU than all layers below it. The log-probabilities are the
    same; entropy and the other figures of trl stay 0.
    """
    before = model.forward

    def forward(
        self: PreTrainedModel,
        *inputs: object,
        fused_lm_head: bool = False,
        labels: torch.Tensor | None = None,
        **keywords: object,
    ) -> object:
        if fused_lm_head and labels is not None:
            keywords.pop("num_items_in_batch", None)
            return _scored(self, labels, inputs, keywords | {"use_cache": False})
        return before(*inputs, **keywords, **({} if labels is None else {"labels": labels}))

    model.forward = types.MethodType(forward, model)


def _scored(
    model: PreTrainedModel, labels: torch.Tensor, inputs: tuple[object, ...], keywords: dict[str, object]
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
        self._bar.total = state.max_steps
        self._bar.set_postfix_str(f"loss {logs['loss']:.3f}", refresh=False)
        self._bar.update(state.global_step - self._bar.n)
