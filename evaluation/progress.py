"""The progress bar: finished questions, running score, the agent's seconds per question, time left."""

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from evaluation.judge import Verdict


class Progress:
    """A bar on standard error. `total` is None if unknown; `done` are the rows of earlier sittings."""

    def __init__(self, total: int | None, done: Sequence[Mapping[str, Any]], *, shown: bool = True) -> None:
        self._scored = self._points = self._asked = 0
        self._seconds = 0.0
        self._bar = tqdm(
            total=total,
            initial=len(done),
            unit="question",
            desc="questions",
            file=sys.stderr,
            disable=not shown,
            dynamic_ncols=True,
        )
        self._count(done)
        self._bar.set_postfix_str(self._postfix(), refresh=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add a finished batch."""
        self._count(rows)
        self._asked += len(rows)
        self._seconds += sum(row["seconds"] for row in rows)
        self._bar.set_postfix_str(self._postfix(), refresh=False)
        self._bar.update(len(rows))

    def _count(self, rows: Sequence[Mapping[str, Any]]) -> None:
        verdicts = [row["verdict"] for row in rows]
        self._scored += len(verdicts) - verdicts.count(Verdict.UNSCORED)
        self._points += verdicts.count(Verdict.CORRECT) - verdicts.count(Verdict.INCORRECT)

    def _postfix(self) -> str:
        score = f"score {self._points / self._scored:+.3f}" if self._scored else "score -"
        return f"{score}, {self._seconds / self._asked:.2f} s/question" if self._asked else score
