"""Answers that were lost: to the clock, to a fault, to a knowledge graph that did not answer. The one definition.

An answer is lost if none was given and something cut the work on its question short. What the agent withheld or did
not know is not lost.
"""

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.judge import Verdict


class Loss(enum.StrEnum):
    """What an answer was lost to; the first one counts."""

    CLOCK = "clock"
    """The batch overran its limit, or a generation, a stage or the reading of pages its time."""
    FAULT = "fault"
    """The agent or its process failed, or a model, a stage or the row."""
    GRAPH = "graph"
    """The knowledge graph did not answer."""


_NAMES = {Loss.CLOCK: "to the clock", Loss.FAULT: "to a fault", Loss.GRAPH: "to a knowledge graph that was down"}
_ENDINGS = {"deadline": Loss.CLOCK, "error": Loss.FAULT}
_FAILED = re.compile(r"[a-z ]+ failed: (StuckError:)?")
_UNREAD = "the time for reading pages was over"
_MALFORMED = "the row is malformed"


def lost_to(record: Mapping[str, Any], trace: Mapping[str, Any]) -> Loss | None:
    """What the answer of a row of predictions.jsonl was lost to; None if it was not. The trace may have any form."""
    if record["verdict"] != Verdict.MISSING:
        return None
    if record["timed_out"]:
        return Loss.CLOCK
    if record["error"]:
        return Loss.FAULT
    return min(_losses(trace), key=list(Loss).index, default=None)


def _losses(trace: Mapping[str, Any]) -> Iterator[Loss]:
    generations, events, answer = (trace.get(name) for name in ("generations", "events", "answer"))
    for generation in generations.values() if isinstance(generations, Mapping) else ():
        if isinstance(generation, Mapping) and (loss := _ENDINGS.get(str(generation.get("finish_reason")))):
            yield loss
    for event in events if isinstance(events, list) else ():
        if failed := _FAILED.match(str(event)):
            yield Loss.CLOCK if failed[1] else Loss.FAULT
        elif str(event).endswith(_UNREAD):
            yield Loss.CLOCK
    if isinstance(answer, Mapping) and str(answer.get("reason")).startswith(_MALFORMED):
        yield Loss.FAULT
    if trace.get("graph_state") == "down":
        yield Loss.GRAPH


def count_lost(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many answers were lost to what; all `Loss` are there."""
    return {loss.value: sum(record.get("lost") == loss for record in records) for loss in Loss}


def lost_line(counts: Mapping[str, int]) -> str:
    """``3 answers lost: 2 to the clock, 1 to a fault``; empty if none was."""
    parts = [f"{counts[loss]} {name}" for loss, name in _NAMES.items() if counts.get(loss)]
    total = sum(counts.values())
    return f"{total} {'answer' if total == 1 else 'answers'} lost: {', '.join(parts)}" if parts else ""
