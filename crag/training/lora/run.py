"""One tuning run: tokenizes examples, trains with trl, writes the adapter's folder.

``OUT/unfinished`` holds the last checkpoints; a killed run continues from the last complete one. The caller removes
the folder when everything is written.
"""

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from torch.nn import functional
from transformers import AutoTokenizer
from transformers.trainer_callback import PrinterCallback, ProgressCallback, TrainerState
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from crag.core.files import UserError, write_rows
from crag.engines.llm.tokenizer import quiet_transformers
from crag.training.files import CARD_FILE, TrainingExample
from crag.training.lora import LoraTraining
from crag.training.lora.model import (
    IGNORED,
    WEIGHTS_FILE,
    TokenExamples,
    computing_type,
    load_tunable,
    save_adapter,
    tokenize,
)

UNFINISHED = "unfinished"
LOSSES_FILE = "losses.jsonl"
_LAST_WRITTEN = "trainer_state.json"
"""transformers writes it last into a checkpoint; without it the checkpoint is incomplete."""


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
) -> tuple[list[dict[str, Any]], TokenExamples]:
    """Tune one adapter and write it with its losses; return the rows of `LOSSES_FILE` and the examples.

    `max_steps` stops before the settings' epochs are over. `resume` continues an unfinished run of the same settings
    and data, if there is one; `overwrite` replaces an adapter, once the new one is ready, and an unfinished run that is
    not resumed. `shown` adds a progress bar on standard error.

    Raises UserError: an adapter or an unfinished run is in the way; FloatingPointError: the loss is not finite.
    """
    work = out / UNFINISHED
    complete = [folder for folder in work.glob("checkpoint-*") if (folder / _LAST_WRITTEN).is_file()]
    checkpoint = max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)
    if checkpoint and not (resume or overwrite):
        raise UserError(f"{work} holds an unfinished run: --resume continues it, --overwrite discards it")
    if not checkpoint and (out / WEIGHTS_FILE).is_file() and not overwrite:
        raise UserError(f"{out} holds a finished adapter: --overwrite replaces it, --out names another folder")
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
        checkpoint = None
    tokens = tokenize(base, examples, settings.max_tokens)
    rows = [
        {"input_ids": each.prompt + each.completion, "labels": [IGNORED] * len(each.prompt) + each.completion}
        for each in tokens.kept
    ]
    number_type = computing_type(device)
    for chatty in ("trl", "accelerate", "datasets", "peft"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    with quiet_transformers():
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
            bf16=False,
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
        model = load_tunable(settings, base, device)
        trainer = AnswerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=AutoTokenizer.from_pretrained(str(base), local_files_only=True),
        )
        trainer.remove_callback(PrinterCallback)
        if shown:
            trainer.add_callback(LossBar)
        for weight in model.parameters():
            if weight.requires_grad:  # trl makes them bfloat16 for a quantised base; small steps would be lost
                weight.data = weight.data.float()
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    (out / CARD_FILE).unlink(missing_ok=True)  # belongs to the overwritten adapter
    save_adapter(model, out, settings.base)
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    steps = [{name: entry[name] for name in ("step", "loss", "learning_rate")} for entry in logged]
    write_rows(out / LOSSES_FILE, steps)
    return steps, tokens


class AnswerTrainer(SFTTrainer):  # type: ignore[misc]
    """Projects only positions with learned tokens onto the vocabulary; trl projects every position.

    With 152,000 words and answers of a tenth of the tokens, the full projection would cost more on a CPU than all
    layers below it.
    """

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The mean over the step's learned tokens; raises `FloatingPointError` if it is not finite."""
        labels = inputs.pop("labels")[:, 1:]  # a token is predicted at the position before it
        learned = (labels != IGNORED).any(dim=0).nonzero().flatten()
        logits = model(**inputs, use_cache=False, logits_to_keep=learned).logits.float()
        summed = functional.cross_entropy(logits.flatten(0, 1), labels[:, learned].flatten(), reduction="sum")
        loss = summed / num_items_in_batch
        if not loss.isfinite():
            step = self.state.global_step + 1
            raise FloatingPointError(
                f"training diverged: the loss is {loss.item()} in step {step}: lower the learning rate"
            )
        return loss


class LossBar(ProgressCallback):  # type: ignore[misc]
    """A progress bar with the loss of the last step."""

    def on_log(
        self, args: object, state: TrainerState, control: object, logs: dict[str, float] | None = None, **_: object
    ) -> None:
        """Show the loss; the base class would print all figures of each step."""
        if self.training_bar is not None and logs and "loss" in logs:
            self.training_bar.set_postfix_str(f"loss {logs['loss']:.3f}", refresh=False)
