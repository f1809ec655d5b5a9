"""One batch on its way: queries, traces, answers, and the promise that a fault costs one answer, never the batch."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from agents.answering import abstain
from agents.contracts import Answer, GateFiring, Query, Trace, label
from agents.deadline import BatchClock, Deadline
from agents.gates import gated_answer
from agents.llm import LanguageModelDiedError
from agents.watchdog import StuckError, call_within

Result = TypeVar("Result")
log = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""How long after its deadline a stage may still hand in what it has; taken from the preset's reserve, once a batch."""


class StageFault(NamedTuple):
    """A fault and the stage in which it happened."""

    stage: str
    error: BaseException


class BatchRun:
    """The state of a batch between the stages of `CragAgent`."""

    def __init__(self, queries: Sequence[Query], clock: BatchClock) -> None:
        self.queries = list(queries)
        self.clock = clock
        self.answers: dict[int, Answer] = {}
        self.faults: list[StageFault] = []
        """What made stages give up on questions, for whoever must know whether a part is broken."""
        self.gated: set[int] = set()
        """Questions that a gate has decided; in an audit their answers are still to come."""
        self._passed: dict[int, GateFiring] = {}
        """Gates that closed while the question goes on, to learn what they withhold."""
        self._end = Deadline(clock.whole.remaining + GRACE_SECONDS)
        self.traces = [
            Trace(q.interaction_id, q.text, q.query_time, batch_size=len(queries), events=list(q.notes))
            for q in queries
        ]

    @property
    def open(self) -> list[int]:
        """Positions of the questions that have no answer yet."""
        return [position for position in range(len(self.queries)) if position not in self.answers]

    def pick(self, positions: Sequence[int]) -> list[Query]:
        """The queries at these positions."""
        return [self.queries[position] for position in positions]

    def domains(self, positions: Sequence[int]) -> list[str | None]:
        """What the router takes the domains of these questions for."""
        return [label(self.traces[position].route, "domain") for position in positions]

    def settle(self, position: int, answer: Answer) -> None:
        """Give a question its final answer; that of the gate where one was passed for the sake of an audit."""
        passed = self._passed.get(position)
        if passed is not None:
            gates, told = self.traces[position].gates, replace(passed, withheld=answer.text)
            gates[gates.index(passed)] = self._passed[position] = told
            answer = gated_answer(told, answer.source)
        self.answers[position] = answer
        self.traces[position].answer = answer

    def close_gate(self, position: int, firing: GateFiring, source: str, *, audit: bool) -> None:
        """Settle a question as a gate says; in an audit go on and settle it so only in the end."""
        if position not in self.gated:
            self.gated.add(position)
            self.traces[position].gates.append(firing)
            if audit:
                self._passed[position] = firing
            else:
                self.settle(position, gated_answer(firing, source))

    def run_isolated(
        self,
        stage: str,
        deadline: Deadline,
        work: Callable[[Sequence[int]], Sequence[Result]],
        fallback: Result | None = None,
        positions: Sequence[int] | None = None,
    ) -> dict[int, Result]:
        """Run a stage for all open questions, or for those of `positions`; where it fails, for each of them alone.

        `work` gets positions and returns one result for each. Where a question fails alone too, it goes on with the
        `fallback`; without one it is settled as an abstention with the fault as its reason, and has no result.
        """
        positions = self.open if positions is None else positions
        if not positions:
            return {}
        patience = self._end.within(deadline.remaining + GRACE_SECONDS)
        try:
            results = call_within(patience.remaining, lambda: work(positions))
            return dict(zip(positions, results, strict=True))
        except (StuckError, LanguageModelDiedError) as fault:
            return self._give_up(stage, positions, fault, fallback)
        except Exception as fault:
            # The boundary of the batch: whatever a stage raises must not cost the other questions their answers.
            log.exception("stage %s failed for the batch; trying each question alone", stage)
            self._note(positions, f"{stage} failed for the whole batch ({_describe(fault)}) and was run alone")
            return self._one_by_one(stage, patience, work, positions, fallback)

    def _one_by_one(
        self,
        stage: str,
        patience: Deadline,
        work: Callable[[Sequence[int]], Sequence[Result]],
        positions: Sequence[int],
        fallback: Result | None,
    ) -> dict[int, Result]:
        results: dict[int, Result] = {}
        for place, position in enumerate(positions):
            try:
                results[position] = call_within(patience.remaining, partial(work, [position]))[0]
            except (StuckError, LanguageModelDiedError) as fault:
                # The part is broken or the time is over: the questions that follow would only wait in vain.
                return results | self._give_up(stage, positions[place:], fault, fallback)
            except Exception as fault:
                log.exception("stage %s failed for question %s", stage, self.queries[position].interaction_id)
                results |= self._give_up(stage, [position], fault, fallback)
        return results

    def _give_up(
        self, stage: str, positions: Sequence[int], fault: BaseException, fallback: Result | None
    ) -> dict[int, Result]:
        self.faults.append(StageFault(stage, fault))
        reason = f"{stage} failed: {_describe(fault)}"
        if fallback is not None:
            self._note(positions, reason)
            return dict.fromkeys(positions, fallback)
        for position in positions:
            self.settle(position, abstain(reason))
        return {}

    def _note(self, positions: Sequence[int], event: str) -> None:
        for position in positions:
            self.traces[position].events.append(event)

    def finish(self) -> list[Answer]:
        """Settle what is still open, complete the traces, and return the answers in the order of the questions."""
        for position in self.open:
            self.settle(position, abstain("no stage answered the question"))
        for trace in self.traces:
            trace.seconds = dict(self.clock.seconds)
        return [self.answers[position] for position in range(len(self.queries))]


def _describe(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {fault}"
