"""Rehearses a preset in an empty folder, without home, caches and network."""

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

from crag.core.files import UserError
from crag.settings import Settings, VllmEngine, load_settings
from crag.submission.preflight.subject import Subject, some
from crag.submission.preflight.world import empty_world, refused, run_python
from crag.submission.stand_in import make_stand_ins, reply_of
from crag.weights.manifest import cache_folder

QUESTIONS = 4
VLLM_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1"}
"""For vLLM's CPU build: GiB of its cache of keys and values; this machine's address, else looked up in the network."""
_STEPS_BY_KEY = {
    "answering.adapter": "answer",
    "knowledge_graph.writer.adapter": "calls",
    "knowledge_graph.answer_adapter": "graph_answer",
}
"""A key that names an adapter -> the step of a trace that it works in."""
_FAULT = re.compile(
    r"\A(?:(?:\w+ )+failed(?: for the whole batch \(|: )|the language model (?:hung|could not be loaded))"
)
"""The agent's message for a stage that raised, or for a dead model (`crag.pipeline`)."""


def processor_changes(settings: Settings) -> list[str]:
    """Changes with which a preset for GPUs runs on a CPU, as lines for `--set`.

    AWQ weights and half precision stay: vLLM's CPU build computes with them.
    """
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    lines = [] if {getattr(part, "device", "cpu") for part in parts} == {"cpu"} else ["device=cpu"]
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        # A tenth of the memory; vLLM's CPU build reserves only VLLM_CPU_KVCACHE_SPACE of it.
        changes = {"tensor_parallel_size": "1", "gpu_memory_utilization": "0.1"}
        changes |= {name: "none" for name in ("distributed_executor", "attention_backend") if getattr(engine, name)}
        lines += [f"language_model.{key}={value}" for key, value in changes.items()]
    return lines


def examine(output: Path, settings: Settings, *, graph: bool, stand_ins: bool = False) -> tuple[str, list[str]]:
    """What ran in a run of the folder `output`, with a knowledge graph or without, and its faults: the agent turns them
    into abstentions, so answers alone do not show them. A stand-in of an adapter must once begin what it learnt:
    how far a text goes differs between processors.
    """
    lines = (output / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    traces: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    steps, finishes, faults, said = Counter[str](), Counter[str](), [], defaultdict[str, list[str]](list)
    named = {_STEPS_BY_KEY.get(key): adapter for key, adapter in settings.adapters_used.items() if adapter}
    adapters = {step: name for step, name in named.items() if step and stand_ins}
    for trace in traces:
        asked = trace["interaction_id"][:8]
        reason = (trace.get("answer") or {}).get("reason") or ""
        faults += [f"{asked}: {event[:300]}" for event in (*trace["events"], reason) if _FAULT.match(event)]
        for step, generations in trace["generations"].items():
            for generation in generations if isinstance(generations, list) else [generations]:
                finish = generation["finish_reason"]
                steps[step] += 1
                finishes[finish] += 1
                if finish not in {"stop", "length", "deadline"}:
                    faults.append(f"{asked}: {step}: {generation.get('error') or finish}")
                elif step in adapters and finish != "deadline":
                    said[step].append(generation["text"].strip())
    for step, texts in said.items():
        if not any(text.startswith(reply_of(adapters[step])[:8]) for text in texts):
            faults.append(f"{step}: no effect of {adapters[step]}: {texts[0][:60]!r}")
    if not traces:
        faults.append(f"{output / 'traces.jsonl'} holds no question")
    elif not steps and settings.language_model.engine != "scripted":
        faults.append("the language model was never asked")
    elif steps and not faults and not finishes["stop"] + finishes["length"]:
        faults.append("the language model finished no text in the time of the batch")
    unused = [name for step, name in adapters.items() if step not in steps and (graph or step == "answer")]
    faults += [f"the adapter {name} was never asked" for name in unused if not faults]
    if graph and settings.knowledge_graph is not None and not any(trace["graph_state"] for trace in traces):
        faults.append("the knowledge graph was never asked")
    counts = ", ".join(f"{step} {count}" for step, count in sorted(steps.items())) or "none"
    return f"{len(traces)} questions; texts of the language model: {counts}", list(dict.fromkeys(faults))


def smoke(repository: Path, preset: str, *, stand_ins: bool) -> None:
    """The whole rehearsal; raises `UserError` if the submission would not work."""
    settings, subject = load_settings(preset, []), Subject(repository)
    for names, what in zip(subject.uncommitted, ("used, but not committed", "not in git, left out"), strict=True):
        if names:
            print(f"note: {what}: {some(names)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="smoke-") as name:
        root, weights, staged = Path(name), cache_folder(), subject.pushed
        if stand_ins:
            weights = root / "stand-ins"
            for part, is_stand_in in make_stand_ins(settings.model_dump(), weights, repository=repository).items():
                print(f"{'stand-in' if is_stand_in else 'real'}: {part}", flush=True)
            if (weights / "models").is_dir():
                copytree(weights / "models", staged / "models", dirs_exist_ok=True)
        changes = processor_changes(settings)
        print(f"changed for the CPU: {', '.join(changes) or 'nothing'}", flush=True)
        environment = empty_world(root, hidden=repository) | VLLM_ENVIRONMENT | {"CRAG_MODELS_DIR": str(weights)}
        for task, graph in (("task 1", []), ("task 2, shipped graph", ["--mock-kg"])):
            options = [*graph, *(word for change in changes for word in ("--set", change))]
            _evaluate(staged, preset, options, environment)
            ran, faults = examine(staged / "results", settings, graph=bool(graph), stand_ins=stand_ins)
            if faults:
                raise UserError(f"{preset} as {task}: " + "; ".join(faults))
            print(f"{preset} as {task}: {ran}", flush=True)
        hosts = refused(root)  # also if a process ran on without the network
        if hosts is None or hosts:
            problem = "the network could not be blocked" if hosts is None else f"the run asked {', '.join(hosts)}"
            raise UserError(f"{problem}; the evaluator has no network")
    print(f"smoke: {preset} is wired well. This says nothing about quality, memory and speed", flush=True)


def _evaluate(folder: Path, preset: str, options: Sequence[str], environment: Mapping[str, str]) -> None:
    """Answer a few questions in the copy. Raises UserError, with the end of its output."""
    command = ["local_evaluation.py", "--preset", preset, "--dataset", "data/sample/questions.jsonl"]
    command += ["--limit", str(QUESTIONS), "--output", "results", "--overwrite", "--quiet", *options]
    done = run_python(folder, environment, *command)
    if done.returncode != 0:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise UserError(f"{preset} {' '.join(options)} ended with exit code {done.returncode}:\n{tail}")
