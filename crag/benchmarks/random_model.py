"""vLLM with random weights, to measure how fast a preset's language model reads and writes."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.engines.llm import GenerationRequest
from crag.engines.llm.vllm_engine import VllmLanguageModel
from crag.settings import Settings, VllmEngine
from crag.submission.batch_time import StepWorkload
from crag.submission.stand_in import make_stand_ins
from crag.submission.stand_in_adapters import write_random_adapter
from crag.submission.stand_in_networks import write_real_sizes
from crag.weights.manifest import load_manifest


class RandomModel(VllmLanguageModel):
    """vLLM with random weights and adapters on this machine's cards, in the preset's shapes or in those of a stand-in.

    Raises UserError: the preset does not run vLLM.
    """

    more_arguments: ClassVar[Mapping[str, object]] = {"load_format": "dummy"}

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        full_size: bool,
    ) -> None:
        from torch import cuda

        engine = settings.language_model
        if not isinstance(engine, VllmEngine):
            raise UserError(f"the preset {settings.name} does not run vLLM, as {settings.name}_vllm or submission do")

        # A folder with configuration and tokenizer; vLLM makes up the weights
        make_stand_ins({"language_model": {"engine": "vllm", "model": engine.model}}, folder)
        self.folder = folder / engine.model
        shape = load_manifest().models[engine.model].shape
        if full_size and shape:
            write_real_sizes(shape, self.folder)

        adapters: dict[str, str] = {}
        for name in engine.adapters:
            write_random_adapter(self.folder, engine.max_adapter_rank, folder / name)
            adapters[name] = str(folder / name)

        changes: dict[str, object] = {"model": str(self.folder), "adapters": adapters}
        cards = cuda.device_count()
        # Fewer cards than the preset expects: everything on those that are there
        if cards < engine.tensor_parallel_size:
            changes["tensor_parallel_size"] = max(1, cards)
        if not full_size:
            # A stand-in is tiny; the rest of the card is left to others
            changes["gpu_memory_utilization"] = 0.1
        super().__init__(engine.model_copy(update=changes))

    def measure(self, requests: Sequence[GenerationRequest], counts: StepWorkload) -> None:
        """Read the prompts without a cache, then write with them in the cache, and note seconds and tokens in `counts`.

        Raises UserError: a text failed.
        """
        self.warm_up()
        # Random weights would stop anywhere; every text must reach its full length
        unstopped = [replace(request, stop=(), grammar=None) for request in requests]
        only_reading = [replace(request, max_tokens=1) for request in unstopped]

        # The first call of a size compiles kernels.
        warming_up = [replace(request, max_tokens=2) for request in unstopped]
        self.generate(warming_up, Deadline(UNHURRIED_SECONDS))
        # The warm-up has left the prompts in the cache
        self._call({"do": "reset_prefix_cache"}, Deadline(UNHURRIED_SECONDS))

        began = time.perf_counter()
        self.generate(only_reading, Deadline(UNHURRIED_SECONDS))
        read = time.perf_counter()
        # The prompts are in the cache now, so this is the time of writing
        generations = self.generate(unstopped, Deadline(UNHURRIED_SECONDS))
        written = time.perf_counter()

        counts.read_seconds = read - began
        counts.write_seconds = written - read
        counts.written = sum(generation.completion_tokens for generation in generations)
        errors = [generation.error for generation in generations if generation.error]
        if errors:
            raise UserError(f"{len(errors)} of {len(generations)} texts failed: {errors[0]}")

    def memory(self) -> str:
        """The memory in use on each card, and the room for keys and values, as a sentence."""
        from torch import cuda

        used: list[str] = []
        for card in range(cuda.device_count()):
            free, total = cuda.mem_get_info(card)
            used.append(f"{(total - free) / 2**30:.1f}")

        tokens = self._call({"do": "count_cached_tokens"}, Deadline(UNHURRIED_SECONDS))["tokens"]
        return f"GiB in use on each card: {', '.join(used) or 'none'}; keys and values of {tokens:,} tokens at once"
