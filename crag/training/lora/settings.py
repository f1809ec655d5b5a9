"""Settings of adapter tuning, read from `configs` and `preference_configs` beside this file."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from crag.settings import StrictModel
from crag.training.files import Configuration

PAPER_TARGETS = ("k_proj", "q_proj", "v_proj", "up_proj", "down_proj", "gate_proj")
"""db3, table 1."""

Share = Annotated[float, Field(ge=0, lt=1)]


class AdapterShape(StrictModel):
    """Which linear layers get a low-rank update, and of what size; the defaults are db3's (table 1)."""

    rank: PositiveInt = 8
    alpha: PositiveInt = 16
    """The update is multiplied by alpha / rank."""
    dropout: Share = 0.1
    """Dropout on the input of the update."""
    targets: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = PAPER_TARGETS
    """Names of linear layers; biases are never tuned."""


class LoraTraining(Configuration):
    """One adapter: its base model, its shape, and its tuning."""

    FOLDER = Path(__file__).parent / "configs"

    description: str
    base: str
    """Name in `crag/weights/manifest.toml`, or a folder."""
    architecture: str | None = None
    """Required `model_type` of the base, such as ``llama``; None: any."""
    licence: str
    """The adapter's licence, for the run card."""
    adapter: AdapterShape = AdapterShape()
    learning_rate: PositiveFloat = 2e-4
    schedule: Literal["cosine", "linear", "constant_with_warmup"] = "cosine"
    warm_up_share: Share = 0.1
    """Share of the steps in which the learning rate rises from 0."""
    warm_up_steps: NonNegativeInt = 0
    """The number of these steps, instead of their share; 0: the share counts."""
    max_gradient_norm: PositiveFloat = 0.3
    batch_size: PositiveInt = 1
    accumulation: PositiveInt = 4
    """Batches per step; 1 x 4 and 4 x 1 are the same step."""
    similar_lengths: bool = False
    """Batches of examples of similar length, in random order: less padding to compute."""
    epochs: PositiveInt = 3
    max_tokens: Annotated[int, Field(ge=8)] = 2048
    """Limit for prompt and completion; longer examples are left out and counted, never cut."""
    seed: Annotated[int, Field(ge=0)] = 0
    cpu_type: Literal["float32", "bfloat16"] = "float32"
    """Numbers on a CPU. ``bfloat16`` is four times faster on processors with instructions for it; others use
    float32. The adapter itself is always float32 while it is tuned."""
    quantise: Literal["none", "4bit"] = "none"
    """``4bit``: the base in NF4, as in QLoRA; needs a GPU and the package bitsandbytes."""
    gradient_checkpointing: bool = False
    """Saves memory for about a third more time: for large models."""
    checkpoint_steps: PositiveInt = 10
    """Steps between two checkpoints, the most that a killed run loses."""


class PreferenceTraining(LoraTraining):
    """The same for pairs of answers (`crag train dpo`). `[adapter]` is the shape of a new adapter only."""

    FOLDER = Path(__file__).parent / "preference_configs"

    beta: PositiveFloat = 0.1
    """How strongly the tuned model is held to the one before; higher: less change (Rafailov et al. 2023, section 4)."""

    @model_validator(mode="after")
    def _pairs_can_be_learned_so(self) -> "PreferenceTraining":
        # trl multiplies by its weights directly, so that an adapter on it would never be trained
        if "lm_head" in self.adapter.targets:
            raise ValueError("adapter.targets: lm_head cannot be tuned by preferences")
        if self.similar_lengths:
            raise ValueError("similar_lengths: pairs are read in random order only")
        return self

    @property
    def as_texts(self) -> LoraTraining:
        """The settings with a batch's texts instead of its pairs: both texts of a pair are in memory at once."""
        return self.model_copy(update={"batch_size": 2 * self.batch_size})
