"""A trace as text for the terminal: from the question to the answer, in the order of the pipeline."""

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

from agents.common.contracts import Passage, Trace

WIDTH = 110
LEAST_SECONDS = 0.05
"""Stages that took less are not listed."""


def explained(trace: Trace) -> str:
    """The question, its classes, calls, facts, passages, candidates, gates and events, and last the answer."""
    return "\n".join(f"{name:11}{text}" for name, text in _lines(trace))


def _lines(trace: Trace) -> Iterator[tuple[str, str]]:
    yield "question", f"{trace.query}  ({trace.query_time})"
    if trace.route:
        yield "classes", ", ".join(f"{name}: {_class(entry)}" for name, entry in trace.route.items())
    if trace.graph_state is not None:
        yield "graph", trace.graph_state
    yield from _listed("calls", trace.calls)
    yield from _listed("facts", [f"{_short(fact.text)}  [{fact.source.partition(':')[0]}]" for fact in trace.facts])
    if trace.pages_read:
        yield "pages", f"{trace.pages_read} read, {len(trace.passages)} passages kept"
    yield from _listed("passages", [_passage(passage) for passage in trace.passages])
    candidates = [
        f"{_short(one.text)!r} from {one.source}"
        + ("" if one.probability is None else f", P(correct) {one.probability:.2f}")
        for one in trace.candidates
    ]
    yield from _listed("candidates", candidates)
    withheld = [
        f"{gate.name}: {gate.reason}" + ("" if gate.withheld is None else f"; withheld {_short(gate.withheld)!r}")
        for gate in trace.gates
    ]
    yield from _listed("gates", withheld)
    yield from _listed("events", [_short(event) for event in trace.events])
    slow = {stage: seconds for stage, seconds in trace.seconds.items() if seconds >= LEAST_SECONDS}
    yield "seconds", ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in slow.items()) or "next to none"
    if trace.lost is not None:
        yield "lost to", trace.lost.value
    if trace.answer is not None:
        yield "answer", trace.answer.text
        yield "because", f"{trace.answer.source}: {trace.answer.reason}"


def _listed(name: str, texts: list[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield "" if number else name, text


def _class(entry: Mapping[str, Any]) -> str:
    shares = entry.get("probabilities")
    label = str(entry.get("label"))
    return f"{label} {shares[label]:.2f}" if isinstance(shares, Mapping) and label in shares else label


def _passage(passage: Passage) -> str:
    score = "" if passage.score is None else f"{passage.score:.2f} "
    return f"{score}{_short(passage.page_name, 30)}: {_short(passage.text)}"


def _short(text: str, width: int = WIDTH) -> str:
    return shorten(text, width, placeholder=" ...")
