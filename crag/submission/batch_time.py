"""Estimates the seconds of a batch on the evaluator's GPUs, for a workload that was counted.

Reading a prompt is limited by arithmetic, writing by the bandwidth of the memory. The figures of the cards are a data
sheet's, the shares of them cautious assumptions. Nothing was measured on a T4.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from crag.core.files import UserError
from crag.settings import Settings, TransformersEngine, VllmEngine
from crag.submission.gpu_plan import GpuPlan
from crag.weights.manifest import Shape

GRAPH_SECONDS = 4.0
"""Assumed: calls of a batch to the graph's server."""
PCIE_BYTES_PER_SECOND = 6e9
"""Assumed for T4 in a g4dn machine: PCIe 3.0, no NVLink."""
HALF_TFLOPS = 65.0
"""Peak of a T4 in half precision (NVIDIA's data sheet)."""
BANDWIDTH_GB = 320.0
"""GB per second from the memory of a T4 (NVIDIA's data sheet)."""
COMPUTE_SHARE = 0.35
"""Assumed share of that peak: a 70 W card lowers its clock under load."""
AWQ_COMPUTE_SHARE = 0.5
"""Assumed share of the former share: 4-bit weights are unpacked for each use."""
BANDWIDTH_SHARE = 0.70
"""Assumed share of the bandwidth."""
STEP_SECONDS = 0.1
"""Assumed: in less time the host cannot start the kernels of a step. 0.07 beside an H200, with 8B and an adapter."""
GRAPH_STEPS = ("calls", "graph_answer")
"""Steps of a trace that task 1 does not have."""


@dataclass(slots=True)
class StepWorkload:
    """What the language model reads and writes in one step, for some questions.

    `tokens` counts the tokens of all prompts. `unshared` counts those that no earlier prompt of the same call begins
    with, so that a prefix cache does not know them. `longest` is the number of tokens of the longest text. The other
    fields are measured, if a model ran: the tokens that it wrote, and its seconds of reading and of writing.
    """

    prompts: int = 0
    tokens: int = 0
    unshared: int = 0
    longest: int = 0
    written: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0

    def add(self, counts: "StepWorkload") -> None:
        """Add the counts of one call to those of the step."""
        self.prompts += counts.prompts
        self.tokens += counts.tokens
        self.unshared += counts.unshared
        self.longest = max(self.longest, counts.longest)
        self.written += counts.written
        self.read_seconds += counts.read_seconds
        self.write_seconds += counts.write_seconds


@dataclass(slots=True)
class Workload:
    """The models' work for some questions, in tokens that a model reads (without padding)."""

    questions: int = 0
    pages_read: int = 0
    encoder_texts: int = 0
    encoder_tokens: int = 0
    reranker_pairs: int = 0
    reranker_tokens: int = 0
    steps: dict[str, StepWorkload] = field(default_factory=dict)
    """By the step of a trace; "route" holds what no trace has: the router's, and names for public data."""
    extraction_seconds: float = 0.0
    """Of extraction and chunking, which stay on the evaluator's CPU."""


@dataclass(frozen=True, slots=True)
class ModelOnCards:
    """A model and the cards that it runs on: how many seconds it needs to read and to write tokens.

    Attributes:
        shape: The model's numbers of layers, heads and parameters.
        cards: How many work side by side on one step (tensor parallelism). Layers that are spread over cards work one
            after another, as on one card.
        prompts_at_once: How many texts are written at the same time; the others wait. Encoders write none.
    """

    shape: Shape
    cards: int = 1
    prompts_at_once: int = 1

    def compute_seconds(self, tokens: float) -> float:
        """Seconds of two operations per active parameter and token, over the assumed share of the cards' peak."""
        share = COMPUTE_SHARE
        if self.shape.awq_group:
            share *= AWQ_COMPUTE_SHARE
        # A multiplication and an addition for each weight
        operations = 2 * self.shape.active_parameters * tokens
        return operations / (self.cards * HALF_TFLOPS * 1e12 * share)

    def exchange_seconds(self, tokens: float) -> float:
        """Seconds in which tensor parallelism adds up activations (two bytes each) twice in each layer, over PCIe."""
        if self.cards == 1:
            return 0.0
        return self.shape.layers * 2 * tokens * self.shape.hidden * 2 / PCIE_BYTES_PER_SECOND

    def read_seconds(self, tokens: float) -> float:
        """Seconds to read the prompts of a batch."""
        return self.compute_seconds(tokens) + self.exchange_seconds(tokens)

    def write_seconds(self, prompts: int, tokens: int) -> float:
        """Seconds to write `tokens` for each prompt: a step reads all weights once for all prompts of a round."""
        # Writing is limited by memory: all weights are read for one token of each prompt
        step_seconds = self.shape.weight_bytes() / (self.cards * BANDWIDTH_GB * 1e9 * BANDWIDTH_SHARE)
        # Prompts that do not fit at once wait for the next round
        rounds = math.ceil(prompts / self.prompts_at_once)
        return rounds * tokens * max(step_seconds, STEP_SECONDS)


def place_language_model(settings: Settings, gpu_plan: GpuPlan, prompt_tokens: float) -> ModelOnCards:
    """The preset's language model on its cards, with as many prompts of this length at once as have room.

    Raises UserError: it runs elsewhere, or its shape is unknown.
    """
    engine = settings.language_model
    if not isinstance(engine, TransformersEngine | VllmEngine) or engine.model not in gpu_plan.shapes:
        raise UserError(f"the preset {settings.name} does not run a model of crag/weights/manifest.toml on its own GPU")
    shape = gpu_plan.shapes[engine.model]
    if isinstance(engine, TransformersEngine):
        return ModelOnCards(shape, prompts_at_once=engine.batch_size)

    # vLLM takes as many prompts as its cache has room for.
    prompts_at_once = settings.batch_size
    if gpu_plan.cached_tokens is not None:
        tokens = max(1.0, prompt_tokens + settings.answering.most_tokens)
        prompts_at_once = min(prompts_at_once, int(gpu_plan.cached_tokens // tokens))
    return ModelOnCards(shape, engine.tensor_parallel_size, max(1, prompts_at_once))


class Peak(NamedTuple):
    """What cards can do at most, added up over the cards of a machine."""

    tflops: float
    gb_per_second: float


class StepTime(NamedTuple):
    """A step of a batch, in words, and its seconds."""

    what: str
    seconds: float


def estimate_steps(
    settings: Settings,
    gpu_plan: GpuPlan,
    workload: Workload,
    *,
    graph: bool,
    peak: Peak | None = None,
) -> list[StepTime]:
    """The steps of a batch in which each question takes every step; with `graph` also those of tasks 2 and 3.

    With the `peak` of the cards of a run, its seconds by the ratio of the peaks, not by the formulas.
    """
    # From the measured questions to one batch
    scale = settings.batch_size / workload.questions
    times = [StepTime("extract and chunk (CPU, measured here)", workload.extraction_seconds * scale)]

    for name, encoder, tokens in (
        ("dense encoder", settings.dense_encoder, workload.encoder_tokens),
        ("cross-encoder", settings.cross_encoder, workload.reranker_tokens),
    ):
        if encoder is not None and encoder.model in gpu_plan.shapes:
            model = ModelOnCards(gpu_plan.shapes[encoder.model])
            times.append(StepTime(name, model.compute_seconds(tokens * scale)))

    # Only vLLM remembers the beginning that prompts share
    caches_prefixes = isinstance(settings.language_model, VllmEngine)
    for name, step in workload.steps.items():
        if name in GRAPH_STEPS and not graph:
            continue
        model = place_language_model(settings, gpu_plan, step.tokens / step.prompts)
        read_tokens = (step.unshared if caches_prefixes else step.tokens) * scale
        times.append(_time_generation(name, step, model, read_tokens, scale, peak))

    if graph and settings.knowledge_graph:
        times.append(StepTime("the graph's server (assumed)", GRAPH_SECONDS))
    return times


def _time_generation(
    name: str,
    step: StepWorkload,
    model: ModelOnCards,
    read_tokens: float,
    scale: float,
    peak: Peak | None,
) -> StepTime:
    """One step of the language model. `scale` is the batch size over the number of measured questions."""
    all_tokens = step.tokens * scale
    what = f"{name}: read {read_tokens:,.0f} of {all_tokens:,.0f} tokens, write {step.longest}"
    prompts = round(step.prompts * scale)
    seconds = model.read_seconds(read_tokens) + model.write_seconds(prompts, step.longest)
    # No model ran
    if not step.written:
        return StepTime(what, seconds)

    read_here = step.read_seconds * scale
    # Not scaled: all texts are written together, a token of each at a time
    write_here = step.write_seconds
    read_speed = step.tokens / step.read_seconds
    write_speed = step.written / step.write_seconds
    what += (
        f"; here {read_here:.1f} s ({read_speed:,.0f} tokens/s) and {write_here:.1f} s ({write_speed:,.0f} tokens/s)"
    )
    if peak:
        # Reading is limited by arithmetic, writing by bandwidth: each by its own ratio
        on_one_card = read_here * peak.tflops / HALF_TFLOPS + write_here * peak.gb_per_second / BANDWIDTH_GB
        seconds = on_one_card / model.cards + model.exchange_seconds(read_tokens)
    return StepTime(what, seconds)
