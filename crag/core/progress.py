"""How far long work has come: a bar on a terminal, a plain line now and then in a log.

A bar redraws its line, which makes one endless line of a log (of CI, of `nohup`, behind a pipe).
"""

import enum
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any, Self, TextIO, TypeVar, cast

from tqdm import tqdm
from tqdm.contrib import DummyTqdmFile

T = TypeVar("T")

LOG_SECONDS = 30.0
"""Between two lines of a log."""


class ProgressMode(enum.StrEnum):
    """How progress is shown, always on standard error."""

    BAR = "bar"
    LOG = "log"
    NONE = "none"

    @classmethod
    def usual(cls) -> Self:
        """A bar on a terminal, else lines of a log."""
        return cls("bar") if sys.stderr.isatty() else cls("log")


class Progress:
    """Shows the progress of `total` questions (None: unknown), `done` of which were done before.

    While a bar is shown, whatever else is printed goes above it.

    Example:
        with Progress(len(questions)) as progress:
            for question in questions:
                answer(question)
                progress.update(1, "score +0.250")
    """

    def __init__(
        self,
        total: int | None,
        done: int = 0,
        *,
        mode: ProgressMode | None = None,
        title: str = "questions",
        log_seconds: float = LOG_SECONDS,
    ) -> None:
        self._total = total
        self._done_before = done
        self._done = done
        self._mode = mode or ProgressMode.usual()
        self._title = title
        self._log_seconds = log_seconds
        self._status = ""
        self._start = time.monotonic()
        self._bar: tqdm[Any] | None = None
        self._ended = threading.Event()
        self._logging: threading.Thread | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if self._mode is ProgressMode.BAR:
            # Made first: the bar itself must keep the real stream
            self._bar = self._stack.enter_context(
                tqdm(
                    desc=self._title,
                    unit="question",
                    initial=self._done,
                    total=self._total,
                    dynamic_ncols=True,
                )
            )
            # On one terminal with the bar; tqdm clears the bar only before what is written to the bar's own stream
            if sys.stdout.isatty():
                self._stack.enter_context(redirect_stdout(_above_bar()))
            self._stack.enter_context(redirect_stderr(_above_bar()))
        elif self._mode is ProgressMode.LOG:
            self._logging = threading.Thread(target=self._log_now_and_then, name="progress", daemon=True)
            self._logging.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._stack.close()
        if self._logging is not None:
            # No line may follow the last one
            self._logging.join()
            self._log()

    def update(self, count: int, status: str = "") -> None:
        """Count finished questions; `status` is shown until the next one."""
        self._done += count
        self._status = status
        if self._bar is not None:
            self._bar.set_postfix_str(status, refresh=False)
            self._bar.update(count)

    def _log_now_and_then(self) -> None:
        while not self._ended.wait(self._log_seconds):
            self._log()

    def _log(self) -> None:
        line = describe_progress(
            self._done,
            self._total,
            time.monotonic() - self._start,
            self._done_before,
            self._status,
        )
        sys.stderr.write(f"{self._title}: {line}\n")
        sys.stderr.flush()


def _above_bar() -> TextIO:
    """Standard error, with the bar moved down before each line."""
    return cast("TextIO", DummyTqdmFile(sys.stderr))


def describe_progress(
    done: int,
    total: int | None,
    seconds: float,
    done_before: int = 0,
    status: str = "",
) -> str:
    """The line of a log. The time left is estimated from the questions of this start, not those `done_before`.

    >>> describe_progress(30, 120, 60, status="score +0.200")
    '30/120 (25 %), score +0.200, 1:00 elapsed, 3:00 left'
    >>> describe_progress(0, None, 5)
    '0, 0:05 elapsed'
    """
    parts = [str(done)]
    if total:
        parts = [f"{done}/{total} ({100 * done // total} %)"]
    if status:
        parts.append(status)
    parts.append(f"{_clock(seconds)} elapsed")

    answered_now = done - done_before
    if total and answered_now and done < total:
        seconds_left = seconds / answered_now * (total - done)
        parts.append(f"{_clock(seconds_left)} left")
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    """``1:02:03``, ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def batches_with_progress(
    questions: Sequence[T], size: int, done: int = 0, title: str = "questions"
) -> Iterator[Sequence[T]]:
    """The questions that are not done, in batches, with their progress."""
    with Progress(len(questions), done, title=title) as progress:
        for start in range(done, len(questions), size):
            batch = questions[start : start + size]
            yield batch
            progress.update(len(batch))
