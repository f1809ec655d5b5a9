"""Runs the work of a stage so that a fault or a hang costs one answer, never the batch."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from crag.core.contracts import Lost
from crag.core.deadline import Deadline, StuckError, call_within
from crag.pipeline.case import Case

Result = TypeVar("Result")
BatchFunction = Callable[[Sequence[Case]], Sequence[Result]]
"""The work of a stage: one result per case, in order."""

log = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""Grace for a late stage to return its results; taken from the preset's reserve, once a batch."""


class FaultIsolation:
    """Runs the stages of one batch; `whole` is the deadline of all of them.

    Work that fails for the batch runs again for each question. A question that fails again has no result: its case
    gets a `fault`, a kind of loss, and an event in the trace.

    Example:
        isolation = FaultIsolation(clock.whole)
        results = isolation.run("rerank", deadline, rerank_cases, cases)
        results[cases[0]]  # KeyError if the first question failed
    """

    def __init__(self, whole: Deadline) -> None:
        self._end = Deadline(whole.remaining + GRACE_SECONDS)

    def run(
        self,
        stage: str,
        deadline: Deadline,
        function: BatchFunction[Result],
        cases: Sequence[Case],
    ) -> dict[Case, Result]:
        """The results by question. `function` gives one result per case, in order, and changes no case."""
        if not cases:
            return {}

        # The stage's own time with its grace, but never beyond the end of the batch.
        patience = self._end.within(deadline.remaining + GRACE_SECONDS)
        try:
            results = call_within(patience.remaining, partial(function, cases))
            # `strict`: a wrong number of results is a fault like any other.
            return dict(zip(cases, results, strict=True))

        except StuckError as fault:
            # No second try: the time of the stage is over.
            _record_fault(stage, cases, fault)
            return {}

        except Exception as fault:
            # The boundary of the batch: no exception of a stage may cost the other questions their answers.
            source_line = _raised_at(fault)
            log.exception("stage %s failed for the batch in %s; trying its questions one by one", stage, source_line)
            reason = f"{type(fault).__name__}: {fault}, in {source_line}"
            for case in cases:
                case.note(f"{_title(stage)} failed for the whole batch ({reason}) and was run alone")
        return _run_one_by_one(stage, patience, function, cases)


def _run_one_by_one(
    stage: str,
    patience: Deadline,
    function: BatchFunction[Result],
    cases: Sequence[Case],
) -> dict[Case, Result]:
    """Run the function for each question by itself, all within the same time."""
    results: dict[Case, Result] = {}
    for index, case in enumerate(cases):
        try:
            results[case] = call_within(patience.remaining, partial(function, [case]))[0]
        except StuckError as fault:
            # The time is over, for this question and all later ones.
            _record_fault(stage, cases[index:], fault)
            break
        except Exception as fault:
            source_line = _raised_at(fault)
            log.exception("stage %s failed for question %s in %s", stage, case.query.interaction_id, source_line)
            _record_fault(stage, [case], fault)
    return results


def _record_fault(stage: str, cases: Sequence[Case], fault: Exception) -> None:
    """Write into each case what failed, and whether time or a part was lost."""
    is_stuck = isinstance(fault, StuckError)
    # Work that hangs was given up here, so no line of it is known.
    source_line = "" if is_stuck else f", in {_raised_at(fault)}"

    for case in cases:
        case.fault = f"{_title(stage)} failed: {type(fault).__name__}: {fault}{source_line}"
        case.lost = Lost.CLOCK if is_stuck else Lost.FAULT
        case.note(case.fault)


def _raised_at(fault: Exception) -> str:
    """The file and line that raised it, perhaps of a user's own part: ``own_source.py, line 30``."""
    # The innermost frame is the last.
    frame = extract_tb(fault.__traceback__)[-1]
    return f"{Path(frame.filename).name}, line {frame.lineno}"


def _title(stage: str) -> str:
    """A stage's name in a sentence."""
    return stage.replace("_", " ")
