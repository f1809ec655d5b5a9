"""What `crag ask --why` prints: the way of a question to its answer, from its trace."""

from collections.abc import Sequence
from textwrap import shorten

from crag.asking.asker import CitedAnswer
from crag.core.contracts import GRAPH, I_DONT_KNOW, WEB, Candidate, GateFiring, Passage, Trace
from crag.core.logistic import logistic

WIDTH = 110
"""Characters of a passage or fact that are printed."""
LEAST_SECONDS = 0.05
"""Stages that took less are left out."""
GRAPH_STATES = {
    "found": "queried, facts found",
    "not_found": "nothing found",
    "empty_calendar": "queried, no game on that day",
    "no_call": "not queried: no call fits the question",
    "down": "queried, no reply",
    None: "not queried",
}
SOURCES = {GRAPH: "from the knowledge graph", WEB: "from the pages"}


def explain(trace: Trace) -> str:
    """The trace as text, one line per fact; probabilities and relevance are from 0 to 1."""
    answer = trace.answer
    sections: dict[str, Sequence[str | None]] = {
        "question": [f"{trace.query}  ({trace.query_time})"],
        "classes": [_classes(trace)],
        "graph": [GRAPH_STATES.get(trace.graph_state, trace.graph_state)],
        "calls": trace.calls,
        "facts": [f"{_shorten(fact.text)}  [{fact.source.partition(':')[0]}]" for fact in trace.facts],
        "pages": [_pages(trace)],
        "passages": [_passage(passage) for passage in trace.passages],
        "candidates": [_candidate(candidate) for candidate in trace.candidates],
        "withheld": [_gate(gate) for gate in trace.gates],
        "events": [_shorten(event) for event in trace.events],
        "seconds": [_seconds(trace)],
        "lost to": [trace.lost],
        "answer": [answer.text if answer else None],
        "evidence": _evidence(trace),
        "because": [answer.reason if answer else None],
    }

    lines: list[str] = []
    for title, entries in sections.items():
        # Only the first line of a section has the title.
        texts = [text for text in entries if text]
        for position, text in enumerate(texts):
            column = title if position == 0 else ""
            lines.append(f"{column:11}{text}")
    return "\n".join(lines)


def _classes(trace: Trace) -> str:
    labels: list[str] = []
    for field, classification in trace.route.classifications.items():
        label = classification.label
        probability = trace.route.probability(field, [label])
        certainty = "" if probability is None else f" {probability:.2f}"
        labels.append(f"{field}: {label}{certainty}")
    return ", ".join(labels)


def _pages(trace: Trace) -> str | None:
    if not trace.pages_read:
        return None
    scored = any("cross_encoder" in passage.scores for passage in trace.passages)
    explanation = ", each with its relevance to the question from 0 to 1" if scored else ""
    return f"{trace.pages_read} read, {len(trace.passages)} passages kept{explanation}"


def _passage(passage: Passage) -> str:
    text = f"{_shorten(passage.page_name, 30)}: {_shorten(passage.text)}"
    logit = passage.scores.get("cross_encoder")
    # No cross-encoder has scored it
    if logit is None:
        return text
    return f"{logistic(logit):.2f} {text}"


def _candidate(candidate: Candidate) -> str:
    text = f"{_shorten(candidate.text)!r} {SOURCES.get(candidate.source, candidate.source)}"
    if candidate.probability is None:
        return text
    return f"{text}, right with probability {candidate.probability:.2f}"


def _gate(gate: GateFiring) -> str:
    # Nothing was lost: there was no answer to withhold
    if gate.withheld in {None, I_DONT_KNOW}:
        return gate.reason
    return f"{_shorten(gate.withheld or '')!r}, {gate.reason}"


def _seconds(trace: Trace) -> str:
    slow = [f"{stage} {seconds:.1f}" for stage, seconds in trace.seconds.items() if seconds >= LEAST_SECONDS]
    return ", ".join(slow) or f"below {LEAST_SECONDS}"


def _evidence(trace: Trace) -> list[str | None]:
    outcome = CitedAnswer.from_trace(trace)
    if not outcome.sentence:
        return ["none found"]
    return [f'"{outcome.sentence}"', outcome.source]


def _shorten(text: str, width: int = WIDTH) -> str:
    return shorten(text, width, placeholder=" ...")
