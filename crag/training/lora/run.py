"""One tuning run: tokenizes examples, trains with trl, writes the adapter's folder.

``OUT/unfinished`` holds the last checkpoints; a killed run continues from the last complete one. The caller removes
the folder when everything is written.
"""

import logging
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from peft import PeftModel
from peft.helpers import disable_input_dtype_casting
from torch.nn import functional
from torch.utils.data import Sampler
from transformers import AutoTokenizer, Trainer
from transformers.trainer_callback import PrinterCallback, ProgressCallback, TrainerState
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling, SFTTrainer

from crag.core.files import UserError, write_rows
from crag.engines.llm.tokenizer import quiet_transformers
from crag.training.files import CARD_FILE, TrainingExample
from crag.training.lora.batches import SimilarLengths, in_parts
from crag.training.lora.cpu import computes_in_bfloat16, computing_type, estimate_seconds
from crag.training.lora.model import (
    IGNORED,
    TokenExamples,
    load_tunable,
    save_adapter,
    tokenize,
)
from crag.training.lora.settings import LoraTraining
from crag.weights.adapter_files import ADAPTER_WEIGHTS

UNFINISHED = "unfinished"
LOSSES_FILE = "losses.jsonl"
_LAST_WRITTEN = "trainer_state.json"
"""transformers writes it last into a checkpoint; without it the checkpoint is incomplete."""


@dataclass(frozen=True, slots=True)
class TuningRun:
    """Where and how far to tune.

    `base` is the folder of the base model, `out` that of the adapter. `max_steps` stops before the settings' epochs are
    over. `resume` continues an unfinished run of the same settings and data, if there is one; `overwrite` replaces an
    adapter, once the new one is ready, and an unfinished run that is not resumed. `show_progress` adds a progress bar
    on standard error.
    """

    base: Path
    out: Path
    device: str = "cpu"
    max_steps: int | None = None
    resume: bool = False
    overwrite: bool = False
    show_progress: bool = True

    @property
    def work(self) -> Path:
        """The folder of the checkpoints."""
        return self.out / UNFINISHED


class TunedAdapter(NamedTuple):
    """What tuning tells of the adapter that it has written: the rows of `LOSSES_FILE`, and the examples in tokens."""

    steps: list[dict[str, Any]]
    tokens: TokenExamples


def tune(
    settings: LoraTraining,
    examples: Sequence[TrainingExample],
    run: TuningRun,
) -> TunedAdapter:
    """Tune one adapter and write it with its losses.

    Raises UserError: an adapter or an unfinished run is in the way; FloatingPointError: the loss is not finite.

    Example:
        tune(LoraTraining.load("db3"), read_examples(path), TuningRun(base, out, device="cuda"))
    """
    checkpoint = find_checkpoint(run)
    tokens = tokenize(run.base, examples, settings.max_tokens)

    quiet_libraries()
    with quiet_transformers():
        model = load_tunable(settings, run.base, run.device)
        if run.device == "cpu":
            warn_of_slow_cpu(settings, run, model, [example.length for example in tokens.kept])
        trainer = _build_trainer(settings, run, model, tokens)
        train(trainer, model, checkpoint)

    return TunedAdapter(write_results(trainer, model, run, settings.base), tokens)


def quiet_libraries() -> None:
    """Silence what trl and the libraries below it report of every step."""
    for chatty in ("trl", "accelerate", "datasets", "peft"):
        logging.getLogger(chatty).setLevel(logging.ERROR)


def train(trainer: Trainer, model: PeftModel, checkpoint: Path | None) -> None:
    """Train to the end, from the checkpoint if there is one."""
    # Mixed precision computes in 16 bits anyway. PEFT would first copy the input of each layer into float32: the same
    # losses, in a tenth more time on a CPU
    with disable_input_dtype_casting(model):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def write_results(trainer: Trainer, model: PeftModel, run: TuningRun, base: str) -> list[dict[str, Any]]:
    """Write the tuned adapter and its losses; return the rows of `LOSSES_FILE`. `base` is the base's manifest name."""
    (run.out / CARD_FILE).unlink(missing_ok=True)  # belongs to the overwritten adapter
    save_adapter(model, run.out, base)
    steps = [_step_fields(entry) for entry in trainer.state.log_history if "loss" in entry]  # the last is a summary
    write_rows(run.out / LOSSES_FILE, steps)
    return steps


def warn_of_slow_cpu(
    settings: LoraTraining,
    run: TuningRun,
    model: PeftModel,
    lengths: Sequence[int],
) -> None:
    """Say how long it takes if the settings want bfloat16 and the processor does not compute in it.

    `lengths` are the tokens of each example.
    """
    if settings.cpu_type == "float32" or computes_in_bfloat16():
        return

    steps_of_all = settings.epochs * math.ceil(len(lengths) / (settings.batch_size * settings.accumulation))
    share = min(1.0, (run.max_steps or steps_of_all) / steps_of_all)
    token_count = share * settings.epochs * sum(lengths)

    minutes = estimate_seconds(model.get_base_model(), int(token_count)) / 60
    sys.stderr.write(
        f"this processor has no instructions for bfloat16: tuning in float32 takes about {minutes:.0f} minutes\n"
    )


def _step_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "step": entry["step"],
        "loss": entry["loss"],
        "learning_rate": entry["learning_rate"],
    }


def find_checkpoint(run: TuningRun) -> Path | None:
    """The last complete checkpoint if the run resumes; else remove the checkpoints, if the run may.

    Raises UserError: an adapter or an unfinished run is in the way.
    """
    files = run.work.glob(f"checkpoint-*/{_LAST_WRITTEN}")
    complete = [file.parent for file in files if file.is_file()]

    # By number: as text "checkpoint-90" would come after "checkpoint-120"
    checkpoint = max(complete, key=_step_of_checkpoint, default=None)

    has_adapter = (run.out / ADAPTER_WEIGHTS).is_file()
    # Neither hours of work nor a finished adapter is thrown away without being told to
    if checkpoint and not (run.resume or run.overwrite):
        raise UserError(f"{run.work} holds an unfinished run: --resume continues it, --overwrite discards it")
    if not checkpoint and has_adapter and not run.overwrite:
        raise UserError(f"{run.out} holds a finished adapter: --overwrite replaces it, --out names another folder")

    if run.resume:
        return checkpoint
    shutil.rmtree(run.work, ignore_errors=True)
    return None


def _step_of_checkpoint(folder: Path) -> int:
    """120 of the folder ``checkpoint-120``."""
    _, _, step = folder.name.rpartition("-")
    return int(step)


def _build_trainer(
    settings: LoraTraining,
    run: TuningRun,
    model: PeftModel,
    tokens: TokenExamples,
) -> "AnswerTrainer":
    """The trainer of trl for the completions of the examples; prompts are read, but not learned."""
    rows: list[dict[str, list[int]]] = []
    for example in tokens.kept:
        # Only the completion is learned
        labels = [IGNORED] * len(example.prompt) + example.completion
        rows.append({"input_ids": example.prompt + example.completion, "labels": labels})

    trainer = AnswerTrainer(
        model=model,
        args=SFTConfig(
            **trainer_arguments(settings, run),
            # The examples are tokenized already
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(str(run.base), local_files_only=True),
        # Any token pads, because the attention mask hides it; some bases have no token for it.
        data_collator=DataCollatorForLanguageModeling(pad_token_id=0),
    )
    if settings.similar_lengths:
        trainer.sampler = SimilarLengths(
            [example.length for example in tokens.kept], settings.batch_size, settings.seed
        )
    prepare_trainer(trainer, run)
    return trainer


def prepare_trainer(trainer: Trainer, run: TuningRun) -> None:
    """What every trainer of trl needs after it was built: a quiet terminal, and float32 for what is tuned."""
    # It prints all figures of every step
    trainer.remove_callback(PrinterCallback)
    if run.show_progress:
        trainer.add_callback(LossBar)

    # For a quantised base trl makes the adapter's weights bfloat16, in which small steps would be lost.
    for weight in trainer.model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def trainer_arguments(settings: LoraTraining, run: TuningRun) -> dict[str, Any]:
    """The settings as keywords of transformers' TrainingArguments, for examples that are tokenized already."""
    steps = {
        "num_train_epochs": settings.epochs,
        # -1: the number of epochs decides
        "max_steps": run.max_steps or -1,
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        # transformers takes a number below 1 as a share
        "warmup_steps": settings.warm_up_steps or settings.warm_up_share,
        "max_grad_norm": settings.max_gradient_norm,
        "weight_decay": 0.0,
        "optim": "adamw_torch",
        "seed": settings.seed,
        # Too long examples are left out before, never cut.
        "max_length": None,
    }

    number_type = computing_type(settings, run.device)
    computing = {
        "use_cpu": run.device == "cpu",
        "gradient_checkpointing": settings.gradient_checkpointing,
        "dataloader_pin_memory": False,
        # Mixed precision: the adapter stays float32
        "bf16": number_type == torch.bfloat16,
        # Here it also scales the loss, so that small gradients do not become 0
        "fp16": number_type == torch.float16,
    }

    logs_and_checkpoints = {
        "output_dir": str(run.work),
        "logging_steps": 1,
        # The filter would hide a loss that is not finite
        "logging_nan_inf_filter": False,
        "save_steps": settings.checkpoint_steps,
        # Two: a kill while the last is written leaves the one before
        "save_total_limit": 2,
        "report_to": "none",
        "disable_tqdm": True,
    }
    return {**steps, **computing, **logs_and_checkpoints}


def raise_if_diverged(loss: torch.Tensor, step: int) -> None:
    """Raise `FloatingPointError` if the loss is not finite."""
    if not loss.isfinite():
        raise FloatingPointError(
            f"training diverged: the loss is {loss.item()} in step {step}: lower the learning rate"
        )


class AnswerTrainer(SFTTrainer):  # type: ignore[misc]
    """Projects only positions with learned tokens onto the vocabulary; trl projects every position.

    With 152,000 words and answers of a tenth of the tokens, the full projection would cost more on a CPU than all
    layers below it.
    """

    sampler: Sampler[int] | None = None
    """The order of the examples; None: random."""
    tokens_at_once = 1024
    """A batch with more, counted with padding, is computed in parts. All activations and logits of a part are in memory
    together; smaller parts would use a processor less well."""

    def _get_train_sampler(self, train_dataset: Dataset | None = None) -> Sampler[int] | None:
        sampler: Sampler[int] | None = self.sampler or super()._get_train_sampler(train_dataset)
        return sampler

    def training_step(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        num_items_in_batch: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Add the gradients of a batch; return its loss, which is the sum of its parts' losses."""
        loss = torch.zeros((), device=model.device)
        for part in in_parts(inputs, self.tokens_at_once):
            loss += super().training_step(model, dict(part), num_items_in_batch)
        return loss

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The mean over the step's learned tokens; raises `FloatingPointError` if it is not finite."""
        labels = inputs.pop("labels")[:, 1:]  # a token is predicted at the position before it
        # Positions at which any example of the batch learns a token.
        learned = (labels != IGNORED).any(dim=0).nonzero().flatten()
        # The other examples of the batch may ignore such a position; cross-entropy skips it below
        output = model(**inputs, use_cache=False, logits_to_keep=learned)
        logits = output.logits.float()

        # A sum over the tokens of the whole step: each token counts the same in any batch
        learned_labels = labels[:, learned].flatten()
        summed = functional.cross_entropy(logits.flatten(0, 1), learned_labels, reduction="sum")
        loss = summed / num_items_in_batch
        raise_if_diverged(loss, self.state.global_step + 1)
        return loss


class LossBar(ProgressCallback):  # type: ignore[misc]
    """A progress bar with the loss of the last step."""

    def on_log(
        self,
        args: object,
        state: TrainerState,
        control: object,
        logs: dict[str, float] | None = None,
        **_: object,
    ) -> None:
        """Show the loss; the base class would print all figures of each step."""
        if self.training_bar is not None and logs and "loss" in logs:
            self.training_bar.set_postfix_str(f"loss {logs['loss']:.3f}", refresh=False)
