"""The trainers of trl around a model that can be tuned: one that learns from examples, one that learns from pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset
from transformers.trainer import Trainer
from transformers.trainer_callback import PrinterCallback
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from agents.llm.trainable import ChatTokenizer
from training.lora.answer_head import IGNORED, score_answers_only
from training.lora.model import computing_type
from training.lora.settings import LoraTraining, Preferences
from training.lora.tokens import TokenExample

if TYPE_CHECKING:
    from peft import PeftModel


class _PairTrainer(DPOTrainer):  # type: ignore[misc]
    """Takes pairs that are tokens already."""

    def _prepare_dataset(self, dataset: Dataset, *_: object) -> Dataset:
        return dataset


def build_trainer(
    settings: LoraTraining, model: "PeftModel", base: Path, examples: Sequence[TokenExample], options: dict[str, Any]
) -> Trainer:
    """A trainer that reads the examples in the given order, once.

    With preferences, the reference is the adapter as it is now: trl copies it before the first step.

    Args:
        settings: What to tune; its stage decides which trainer it is.
        model: The model, as `training.lora.model.load_tunable` gives it.
        base: The base model's folder, for its tokenizer.
        examples: In the order of training; for the preference stage each has a rejected completion.
        options: See `arguments`.
    """
    tokenizer = ChatTokenizer(base).huggingface
    trainer: Trainer
    if settings.preferences is not None:
        trainer = _PairTrainer(
            model=model,
            args=_pair_config(settings.preferences, options),
            train_dataset=Dataset.from_list([_pair(example) for example in examples]),
            processing_class=tokenizer,
        )
    else:
        trainer = SFTTrainer(
            model=model,
            args=SFTConfig(**options, max_length=None, dataset_kwargs={"skip_prepare_dataset": True}),
            train_dataset=Dataset.from_list([_labelled(example) for example in examples]),
            processing_class=tokenizer,
        )
    trainer.remove_callback(PrinterCallback)
    if model.device.type == "cpu":
        score_answers_only(model.get_base_model())
    for weight in model.parameters():
        if weight.requires_grad:  # trl makes them bfloat16 for a quantised base; small steps would be lost
            weight.data = weight.data.float()
    return trainer


def arguments(settings: LoraTraining, work: Path, device: str, max_steps: int | None) -> dict[str, Any]:
    """The settings as transformers' TrainingArguments have them.

    The epochs are in the order of the data, so that there is one for the trainer.
    """
    number_type = computing_type(device)
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


def _pair_config(preferences: Preferences, options: dict[str, Any]) -> DPOConfig:
    return DPOConfig(**options, beta=preferences.beta, loss_type=["sigmoid"], max_length=None)


def _labelled(example: TokenExample) -> dict[str, list[int]]:
    return {
        "input_ids": example.prompt + example.completion,
        "labels": [IGNORED] * len(example.prompt) + example.completion,
    }


def _pair(example: TokenExample) -> dict[str, list[int] | None]:
    return {"prompt_ids": example.prompt, "chosen_ids": example.completion, "rejected_ids": example.rejected}
