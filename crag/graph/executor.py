"""Asks the server about the questions of a batch: one thread per question, over one client with one cache.

Each program runs in a `crag.graph.program_run.ProgramRun`. Articles that questions name are found without a program.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from crag.core.deadline import Deadline
from crag.core.queries import pacific_now
from crag.graph.client import KgBatch, KgClient, KgSession
from crag.graph.context import LookupContext
from crag.graph.language import KgQueryError, Program, parse
from crag.graph.program_run import ProgramRun
from crag.graph.results import KgError, Result, Row, Status
from crag.graph.schema import Domain
from crag.graph.tables.encyclopedia import find_named_articles

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

MAX_REQUESTS = 500
"""HTTP requests for one question; each film of a person costs one."""
_MAX_THREADS = 16
_GRACE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Task:
    """One question's program, as text or parsed, and the Pacific wall-clock time of asking."""

    domain: Domain
    program: str | Program
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as text, and the Pacific wall-clock time of asking."""

    text: str
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The results of a program, one per statement, and the number of its HTTP requests (without cached ones)."""

    results: tuple[Result, ...]
    request_count: int = 0


class Executor:
    """Runs programs against one server; the constructor opens no connection.

    Example::

        with KgClient("http://127.0.0.1:8000") as client:
            task = Task(Domain.MOVIE, 'get_movie("jaws")["length"]', asked_at=None)
            (outcome,) = Executor(client).run_batch([task], Deadline(10.0))
            print(outcome.results[0].text)
    """

    def __init__(self, client: KgClient) -> None:
        self._client = client

    def run_batch(self, tasks: Sequence[Task], deadline: Deadline) -> list[ProgramResult]:
        """One outcome per task, in order; tasks that are not done at the deadline are `kg_down`.

        Raises the exception of a program with a fault of ours, once the others are done: `crag.pipeline.isolation`
        runs the questions again one by one, so that it costs one of them its calls.
        """
        # One result for the whole program: nothing is known about its single statements
        late = Result(
            "",
            Status.KG_DOWN,
            explanation=("the time of the knowledge-graph stage was over",),
        )
        return self._run_each(self._run, tasks, deadline, ProgramResult((late,)))

    def find_articles(self, questions: Sequence[Question], deadline: Deadline) -> list[tuple[Row, ...]]:
        """For each question the articles whose titles stand in it; none where the server fails or is late."""
        return self._run_each(_find_articles, questions, deadline, ())

    def _run_each(
        self,
        function: Callable[[Job, KgBatch], Outcome],
        jobs: Sequence[Job],
        deadline: Deadline,
        late: Outcome,
    ) -> list[Outcome]:
        """The outcome of each job, in order, each in a thread; `late` for one that is not done at the deadline."""
        if not jobs:
            return []

        thread_count = min(_MAX_THREADS, len(jobs))
        # Not in a `with` block, whose end would wait for a job that hangs
        pool = ThreadPoolExecutor(thread_count, thread_name_prefix="kg-question")
        batch = self._client.batch(deadline)
        futures = [pool.submit(function, job, batch) for job in jobs]

        # Jobs end by the deadline themselves; one that does not is left behind.
        timeout = max(0.0, deadline.remaining) + _GRACE_SECONDS
        done, _ = wait(futures, timeout)
        pool.shutdown(wait=False, cancel_futures=True)
        return [future.result() if future in done else late for future in futures]

    def _run(self, task: Task, batch: KgBatch) -> ProgramResult:
        """Run one task in its thread."""
        session = KgSession(batch, MAX_REQUESTS)
        try:
            program = task.program
            if isinstance(program, str):
                program = parse(program, task.domain)
            run = ProgramRun(task.domain, task.asked_at, session)
            results = run.run(program)
        except KgQueryError as error:
            # The program was given as text, and the text is wrong.
            results = (Result(str(task.program), Status.INVALID, explanation=(str(error),)),)
        return ProgramResult(results, session.sent_count)


def _find_articles(question: Question, batch: KgBatch) -> tuple[Row, ...]:
    session = KgSession(batch, MAX_REQUESTS)
    context = LookupContext(session, question.asked_at or pacific_now())
    try:
        return tuple(find_named_articles(context, question.text))
    except KgError:  # an article is a help, not an answer
        return ()
