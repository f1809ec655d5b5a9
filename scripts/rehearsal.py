"""A preset for GPUs rehearsed on a processor with stand-ins: what is changed for that, and whether everything ran.

The rehearsal shows that a preset's parts are found, load and understand each other, in its own engine. It shows nothing
of quality: the weights are random (`models.stand_in`).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.settings import Settings, VllmEngine

VLLM_ENVIRONMENT: Mapping[str, str] = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1"}
"""For vLLM's CPU build: GiB of its cache of keys and values; this machine's address, which it else asks the network."""
REHEARSED_FINISHES = frozenset({"stop", "length", "deadline"})
_FAULT = re.compile(r"(?:\w+ )+failed(?: for the whole batch \(|: )|the language model (?:hung|could not be loaded)")
"""How the agent notes a stage that raised (`agents.batch_run`) or a model that is gone (`agents.model_health`)."""
_LONGEST_EVENT = 300


class Rehearsed(NamedTuple):
    """What a run of the evaluator left: how many generations each step has, and what went wrong."""

    questions: int
    steps: Mapping[str, int]
    faults: list[str]

    def __str__(self) -> str:
        steps = ", ".join(f"{step} {count}" for step, count in sorted(self.steps.items()))
        return f"{self.questions} questions; texts that the language model wrote: {steps or 'none'}"


def processor_changes(settings: Settings) -> list[str]:
    """What a preset for GPUs needs to run on a processor, as lines for `--set`.

    AWQ weights and half precision stay: vLLM's CPU build computes with them.
    """
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    on_gpu = {getattr(part, "device", "cpu") for part in parts} != {"cpu"}
    lines = ["device=cpu"] if on_gpu else []
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        # A tenth of the memory: what vLLM's CPU build reserves of it is VLLM_CPU_KVCACHE_SPACE.
        changes = {"tensor_parallel_size": "1", "gpu_memory_utilization": "0.1"}
        changes |= {"distributed_executor": "none"} if engine.distributed_executor is not None else {}
        changes |= {"attention_backend": "none"} if engine.attention_backend is not None else {}
        lines += [f"language_model.{key}={value}" for key, value in changes.items()]
    return lines


def examine(output: Path, settings: Settings, *, graph: bool) -> Rehearsed:
    """Read the traces of a run: the agent turns faults into abstentions, so an answer alone shows nothing.

    Args:
        output: The folder that `local_evaluation.py` wrote.
        settings: Of the preset.
        graph: Whether a knowledge graph was there.
    """
    traces: list[dict[str, Any]] = [
        json.loads(line) for line in (output / "traces.jsonl").read_text(encoding="utf-8").splitlines() if line
    ]
    steps: Counter[str] = Counter()
    finished = 0
    faults: list[str] = []
    for trace in traces:
        asked = trace["interaction_id"][:8]
        reason = (trace.get("answer") or {}).get("reason") or ""
        faults += [f"{asked}: {said[:_LONGEST_EVENT]}" for said in (*trace["events"], reason) if _FAULT.match(said)]
        for step, generations in trace["generations"].items():
            for generation in generations if isinstance(generations, list) else [generations]:
                steps[step] += 1
                finished += generation["finish_reason"] in {"stop", "length"}
                if generation["finish_reason"] not in REHEARSED_FINISHES:
                    faults.append(f"{asked}: {step}: {generation.get('error') or generation['finish_reason']}")
    if not traces:
        faults.append(f"{output / 'traces.jsonl'} holds no question")
    elif not steps and settings.language_model.engine != "scripted":
        faults.append("the language model was never asked")
    elif steps and not finished and not faults:
        faults.append("the language model finished no text in the time of the batch")
    if graph and settings.knowledge_graph is not None and not any(trace["graph_state"] for trace in traces):
        faults.append("the knowledge graph was never asked")
    return Rehearsed(len(traces), steps, list(dict.fromkeys(faults)))
