"""One run of preference tuning: pairs of answers, trl's DPOTrainer, the adapter's folder.

DPO: Rafailov et al. 2023, https://arxiv.org/abs/2305.18290. Checkpoints are those of `crag.training.lora.run`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from peft import PeftModel
from transformers import AutoTokenizer
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DataCollatorForPreference, DPOTrainer

from crag.core.files import DatasetError
from crag.engines.llm.tokenizer import quiet_transformers
from crag.training.lora.model import continue_adapter, load_tunable, tokenize
from crag.training.lora.run import (
    TuningRun,
    find_checkpoint,
    prepare_trainer,
    quiet_libraries,
    raise_if_diverged,
    train,
    trainer_arguments,
    warn_of_slow_cpu,
    write_results,
)
from crag.training.lora.settings import PreferenceTraining
from crag.training.preferences import PreferencePair

_UNLIMITED = 2**31
"""More tokens than any text: a pair is kept or left out as a whole, here."""


class TokenPair(NamedTuple):
    """Token ids of a prompt and of both answers, which end with the model's end token."""

    prompt: list[int]
    chosen: list[int]
    rejected: list[int]

    @property
    def length(self) -> int:
        """Tokens of the longer of the two texts."""
        return len(self.prompt) + max(len(self.chosen), len(self.rejected))

    @property
    def tokens_read(self) -> int:
        """Tokens that a step reads: both texts, forwards and backwards, and forwards again for the reference."""
        both_texts = 2 * len(self.prompt) + len(self.chosen) + len(self.rejected)
        return both_texts * 3 // 2


class TokenPairs(NamedTuple):
    """The kept pairs, and the numbers of kept and of too long ones by kind."""

    kept: list[TokenPair]
    sources: Counter[str]
    too_long: Counter[str]


def tokenize_pairs(folder: Path, pairs: Sequence[PreferencePair], max_tokens: int) -> TokenPairs:
    """Tokenize as `crag train lora` does; a pair is left out if one of its texts has more than `max_tokens`.

    Raises DatasetError: a prompt does not fit the model of this folder, or every pair is too long.
    """
    rejected_examples = [replace(pair, completion=pair.rejected) for pair in pairs]
    chosen_examples = tokenize(folder, pairs, _UNLIMITED).kept
    rejected = tokenize(folder, rejected_examples, _UNLIMITED).kept

    tokenized = TokenPairs([], Counter(), Counter())
    for pair, better, worse in zip(pairs, chosen_examples, rejected, strict=True):
        tokens = TokenPair(better.prompt, better.completion, worse.completion)
        if tokens.length > max_tokens:
            tokenized.too_long[pair.source] += 1
        else:
            tokenized.sources[pair.source] += 1
            tokenized.kept.append(tokens)

    if not tokenized.kept:
        raise DatasetError(f"nothing to learn from: none of {len(pairs)} pairs has at most {max_tokens} tokens")
    return tokenized


def tune_preferences(
    settings: PreferenceTraining,
    pairs: TokenPairs,
    run: TuningRun,
    start: Path | None = None,
) -> list[dict[str, Any]]:
    """Tune one adapter and write it with its losses; return the rows of `LOSSES_FILE`.

    `start` is the folder of an adapter to go on from; it is also the reference that DPO holds the model to. None: a new
    adapter, held to the base model.

    Raises UserError: an adapter or an unfinished run is in the way; FloatingPointError: the loss is not finite.
    """
    checkpoint = find_checkpoint(run)
    quiet_libraries()
    with quiet_transformers():
        if start is None:
            model = load_tunable(settings, run.base, run.device)
        else:
            model = continue_adapter(settings, run.base, start, run.device)
        if run.device == "cpu":
            warn_of_slow_cpu(settings, run, model, [pair.tokens_read for pair in pairs.kept])
        trainer = _build_trainer(settings, run, model, pairs)
        train(trainer, model, checkpoint)

    return write_results(trainer, model, run, settings.base)


def _build_trainer(
    settings: PreferenceTraining,
    run: TuningRun,
    model: PeftModel,
    pairs: TokenPairs,
) -> "PairTrainer":
    # trl's names
    rows = [
        {"prompt_ids": pair.prompt, "chosen_ids": pair.chosen, "rejected_ids": pair.rejected} for pair in pairs.kept
    ]
    options = trainer_arguments(settings, run)
    trainer = PairTrainer(
        model=model,
        args=DPOConfig(**options, beta=settings.beta, loss_type=["sigmoid"]),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoTokenizer.from_pretrained(str(run.base), local_files_only=True),
        # Any token pads, because the attention mask hides it; some bases have no token for it.
        data_collator=DataCollatorForPreference(pad_token_id=0),
    )
    prepare_trainer(trainer, run)
    return trainer


class PairTrainer(DPOTrainer):  # type: ignore[misc]
    """trl's trainer for pairs that are tokenized already, as the engines tokenize prompts."""

    def _prepare_dataset(self, dataset: Dataset, *_: object) -> Dataset:
        return dataset

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The loss of DPO; raises `FloatingPointError` if it is not finite."""
        loss: torch.Tensor = super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        raise_if_diverged(loss, self.state.global_step + 1)
        return loss
