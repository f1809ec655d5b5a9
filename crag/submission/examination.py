"""Examines the traces of a rehearsed run: the agent turns faults into abstentions, which answers alone do not show."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from crag.settings import Settings
from crag.submission.stand_in_adapters import reply_of

_STEPS_BY_KEY = {
    "answering.adapter": "answer",
    "knowledge_graph.writer.adapter": "calls",
    "knowledge_graph.answer_adapter": "graph_answer",
}
"""A key that names an adapter -> the step of a trace that it works in."""
_FAULT = re.compile(r"\A(?:\w+ )+failed(?: for the whole batch \(|: )")
"""The agent's message for a stage that raised, or for a model that gave nothing: not "failed" within a sentence."""


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
