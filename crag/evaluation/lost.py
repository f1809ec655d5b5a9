"""Answers that a run lost: which, to what and why, and the order in which a run asks for them again."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crag.core.files import UserError
from crag.evaluation.batches import Question, RowKey
from crag.evaluation.results import count_lost
from crag.evaluation.results_text import lost_line

Batch = Sequence[Question]
Row = Mapping[str, Any]

EXIT_LOST = 3
"""The exit code of a run that lost answers, complete or not."""
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
USUAL_DEAD_BATCHES = 3
LONGEST_REASON = 200
"""Characters of a reason that people see."""


class DeadServerError(UserError):
    """Batch after batch has no answer at all, so the run has ended early; what was answered is kept."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often lost questions are asked again within a run, and when it is given up.

    `retries` is the most for a question; before each comes a pause that doubles. `most_dead_batches` in a row without
    a single answer end the run; 0: nothing does.
    """

    retries: int = 0
    most_dead_batches: int = USUAL_DEAD_BATCHES
    first_pause: float = FIRST_PAUSE_SECONDS

    def pause(self, retry: int) -> float:
        """Seconds before the `retry`-th time, from 1.

        >>> [RetryPolicy().pause(retry) for retry in (1, 2, 3, 9)]
        [2.0, 4.0, 8.0, 60.0]
        """
        return float(min(LONGEST_PAUSE_SECONDS, self.first_pause * 2 ** (retry - 1)))


@dataclass
class AskingOrder:
    """The batches of a run in the order of asking: lost questions again first, as long as they have a retry left.

    Whoever asks reports the rows of each batch. `say` tells people about a pause.

    Example:
        order = AskingOrder(batches, RetryPolicy(retries=2), say=print)
        for questions in order:
            order.report(questions, ask(questions))
    """

    batches: Iterator[Batch]
    policy: RetryPolicy
    say: Callable[[str], object]
    sleep: Callable[[float], object] = time.sleep
    _retries: Counter[RowKey] = field(default_factory=Counter, init=False)
    """How often each lost question has been asked again."""
    _waiting: deque[Batch] = field(default_factory=deque, init=False)
    _dead_batches: int = field(default=0, init=False)

    @property
    def has_waiting(self) -> bool:
        """Whether questions wait to be asked again: workers on a cluster report after the last batch was given out."""
        return bool(self._waiting)

    def __iter__(self) -> Iterator[Batch]:
        """The next batches; ends when none is left or waits."""
        while True:
            if self._waiting:
                questions = self._waiting.popleft()
                self._pause(questions)
                yield questions
                continue

            batch = next(self.batches, None)
            if batch is None:
                return
            yield batch

    def report(self, questions: Batch, rows: Sequence[Row]) -> None:
        """Take note of the rows of a batch. Raises DeadServerError: it was one without any answer too many."""
        lost = [question for question, row in zip(questions, rows, strict=True) if is_lost(row)]
        again = [question for question in lost if self._retries[question.key] < self.policy.retries]
        if again:
            self._retries.update(question.key for question in again)
            self._waiting.append(again)
            return

        # A batch that will be asked again is not given up yet
        is_dead = len(lost) == len(rows)
        self._dead_batches = self._dead_batches + 1 if is_dead else 0
        if is_dead and self._dead_batches == self.policy.most_dead_batches:
            batches = "a batch has" if self._dead_batches == 1 else f"{self._dead_batches} batches in a row have"
            raise DeadServerError(f"{batches} no answer at all")

    def _pause(self, questions: Batch) -> None:
        retry = self._retries[questions[0].key]
        seconds = self.policy.pause(retry)
        noun = "answer was" if len(questions) == 1 else "answers were"
        self.say(
            f"{len(questions)} {noun} lost: asking again in {seconds:g} s (retry {retry} of {self.policy.retries})"
        )
        self.sleep(seconds)


# --- for people -------------------------------------------------------------------------------------------------------


def is_lost(row: Row) -> bool:
    """Whether the answer of a row of predictions.jsonl was lost."""
    return bool(row.get("lost"))


def why_lost(trace: Mapping[str, Any]) -> str | None:
    """Why the answer of a trace was lost: the error of a generation, else the reason of the abstention.

    Another agent's trace may have any form.
    """
    generations = trace.get("generations")
    if isinstance(generations, Mapping):
        for generation in generations.values():
            error = generation.get("error") if isinstance(generation, Mapping) else None
            if isinstance(error, str) and error:
                return error

    answer = trace.get("answer")
    reason = answer.get("reason") if isinstance(answer, Mapping) else None
    return reason if isinstance(reason, str) else None


def lost_advice(rows: Sequence[Row], command: str) -> list[str]:
    """Lines about lost answers: how many, the commonest reason, and the `command` that asks again.

    Empty if none was lost.
    """
    counts = count_lost(rows)
    if not any(counts.values()):
        return []

    lines = [lost_line(counts)]
    reasons = Counter(str(row["lost_because"]) for row in rows if is_lost(row) and row.get("lost_because"))
    for reason, count in reasons.most_common(1):
        short_reason = " ".join(reason.split())[:LONGEST_REASON]
        lines.append(f"  why ({count}): {short_reason}")
    lines.append(f"  ask them again: {command}")
    return lines
