"""The knowledge-graph path: questions -> calls -> results -> facts, each step for the whole batch.

1. `crag.graph.writing` writes the calls of every question (one generation per batch, one more to repair).
2. `crag.graph.executor` runs them against the graph's server.
3. `crag.graph.verbalise` has put the results into sentences; `crag.graph.derive` looks for a direct answer in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crag.core.contracts import Fact, Page, Query
from crag.core.deadline import Deadline
from crag.core.queries import pacific_now
from crag.core.text import clean
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import Generation, LanguageModel, prompt_for_trace
from crag.graph.articles import article_pages, found_articles
from crag.graph.client import KgClient, RequestLimits
from crag.graph.derive import JUST_THE_VALUE, CallResults, answer_from_values
from crag.graph.executor import Executor, ProgramResult, Question, Task
from crag.graph.results import Result, Status
from crag.graph.schema import Domain
from crag.graph.writing import (
    CallRequest,
    CallWriter,
    WrittenCalls,
    invented_dates,
    with_ceremony_years,
    with_nearest_games,
)
from crag.settings import KnowledgeGraphSettings
from crag.text.dates import Calendar, find_dates

_WRITING_SHARE = 0.75
"""Share of the stage's time for writing calls; the graph's server is on the same network and needs less."""


Prompt = str | list[dict[str, str]]
"""A prompt as the trace shows it: raw text, or the messages of a chat with their ``role`` and ``content``."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The knowledge graph's result for one question.

    `calls` are the statements in canonical form, `facts` their results in sentences; `empty_calendar` is as in
    `Result`, for a question that names days. `direct_answer` is the value that answers the question, if rules found
    one; `direct_reason` how. `articles` are the encyclopedia's articles among them, where the preset reads these as
    pages. `events` list faults. The writer read `prompt` and wrote `generation`; `example_similarity` is that of its
    most similar example.
    """

    calls: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    domain: str | None = None
    statuses: tuple[Status, ...] = ()
    empty_calendar: bool = False
    direct_answer: str | None = None
    direct_reason: str = JUST_THE_VALUE
    articles: tuple[Page, ...] = ()
    events: tuple[str, ...] = ()
    prompt: Prompt | None = None
    generation: Generation | None = None
    example_similarity: float | None = None

    @property
    def found(self) -> bool:
        """Whether a statement found facts."""
        return bool(self.facts) and (not self.statuses or Status.OK in self.statuses)

    @property
    def state(self) -> str | None:
        """The graph state: see `crag.core.contracts.Trace.graph_state`."""
        if self.down:
            return "down"

        if not self.statuses:
            # Nothing was run; without a generation the graph was not even considered
            was_written = bool(self.calls) or self.generation is not None
            return "no_call" if was_written else None

        if self.empty_calendar:
            return "empty_calendar"
        if Status.OK in self.statuses:
            return "found"
        return "not_found"

    @property
    def down(self) -> bool:
        """Whether the server failed on a call."""
        return Status.KG_DOWN in self.statuses


UNASKED = Lookup(statuses=(Status.NOT_FOUND,), events=("no call was written: no table is likely to hold the answer",))


class KnowledgeGraphPath:
    """db3's knowledge graph retrieval module (section 3.2): writes calls, runs them, verbalises the results."""

    def __init__(
        self,
        settings: KnowledgeGraphSettings,
        address: str,
        model: LanguageModel,
        dense: DenseEncoder | None = None,
        limits: RequestLimits | None = None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._writer = CallWriter(settings.writer, model, dense)
        self._client = KgClient(address, limits)
        self._executor = Executor(self._client)

    def warm_up(self) -> None:
        """Load what the writer needs: the model, and for one that reads examples their vectors."""
        self._writer.warm_up()

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def look_up(
        self,
        queries: Sequence[Query],
        domains: Sequence[str | None],
        deadline: Deadline,
    ) -> list[Lookup]:
        """One lookup per query, in order; `domains` are the router's, None where it has not decided.

        A question without readable calls has no facts. A dead server costs a few refused connections per batch.
        """
        requests: list[CallRequest] = []
        for query, domain in zip(queries, domains, strict=True):
            request = CallRequest(query.text, query.query_time, _parse_domain(domain))
            requests.append(request)

        # A share of the time is left for running the calls.
        writing_deadline = deadline.within(deadline.remaining * _WRITING_SHARE)
        written_calls = self._writer.write(requests, writing_deadline)
        written_calls = list(map(_with_dates_of_question, queries, written_calls))

        doubts = [self._doubt(query, written) for query, written in zip(queries, written_calls, strict=True)]
        outcomes = self._run_programs(
            queries,
            written_calls,
            doubts,
            deadline,
        )
        return list(map(self._build_lookup, queries, written_calls, outcomes, doubts))

    def find_articles(self, queries: Sequence[Query], deadline: Deadline) -> list[tuple[Page, ...]]:
        """For each question the articles whose titles stand in it, as pages; no model is asked."""
        questions = [Question(query.text, query.asked_at) for query in queries]
        return [article_pages(articles) for articles in self._executor.find_articles(questions, deadline)]

    def _doubt(self, query: Query, written: WrittenCalls) -> str:
        """Why readable calls are not run, as the end of a sentence; empty if nothing speaks against them."""
        if not self._settings.drop_doubtful_calls or written.program is None:
            return ""

        dates = invented_dates(
            query.text,
            written.domain,
            written.program,
            query.asked_at,
        )
        if not dates:
            return ""
        date_list = ", ".join(dates)
        return f": they name {date_list}, for which the question gives no reason"

    def _run_programs(
        self,
        queries: Sequence[Query],
        written_calls: Sequence[WrittenCalls],
        doubts: Sequence[str],
        deadline: Deadline,
    ) -> list[ProgramResult | None]:
        """The outcome of each question's program, all run at once; None where there is nothing to run."""
        task_by_index: dict[int, Task] = {}
        for index, written in enumerate(written_calls):
            program = written.program
            if program is not None and program.statements and not doubts[index]:
                task_by_index[index] = Task(written.domain, program, queries[index].asked_at)

        results = self._executor.run_batch(list(task_by_index.values()), deadline)
        outcome_by_index = dict(zip(task_by_index, results, strict=True))
        return [outcome_by_index.get(index) for index in range(len(queries))]

    def _build_lookup(
        self,
        query: Query,
        written: WrittenCalls,
        outcome: ProgramResult | None,
        doubt: str,
    ) -> Lookup:
        faults = [f"{fault.kind}: {fault.message}" for fault in written.faults]
        lookup = Lookup(
            domain=str(written.domain),
            events=tuple(f"the writer's calls could not be read: {fault}" for fault in faults),
            prompt=prompt_for_trace(written.request),
            generation=written.generation,
            example_similarity=written.neighbourhood.similarity,
        )

        if written.program is None or doubt:
            return replace(lookup, events=(*lookup.events, f"the calls were dropped{doubt}"))
        # The program has no statements: the model wrote `None`
        if outcome is None:
            events = (*lookup.events, "the writer expects no answer in the graph")
            return replace(lookup, calls=("None",), events=events)
        calls = CallResults(
            query.text,
            written.domain,
            written.program,
            outcome.results,
            today=query.asked_at.date() if query.asked_at else None,
        )
        return self._with_results(lookup, query, calls)

    def _with_results(self, lookup: Lookup, query: Query, calls: CallResults) -> Lookup:
        """The lookup with the results of its program: facts, statuses and perhaps a direct answer."""
        results = calls.results
        answer = answer_from_values(
            calls,
            direct=self._settings.direct_answers,
            derived=self._settings.derived_answers,
        )

        # A sort of an empty calendar says nothing new about it.
        call_results = [result for result in results if not result.refines]
        is_empty_calendar = bool(call_results) and all(result.empty_calendar for result in call_results)
        is_about_no_game = is_empty_calendar and _names_days(query)

        events = list(lookup.events)
        for result in results:
            if result.status in {Status.KG_DOWN, Status.INVALID}:
                cause = " ".join(result.explanation)
                events.append(f"{result.status}: {result.call}: {cause}")

        return replace(
            lookup,
            calls=tuple(result.call for result in results if result.call),
            facts=self._shorten_facts(build_facts(results)),
            direct_answer=clean(answer.text) if answer else None,
            direct_reason=answer.reason if answer else JUST_THE_VALUE,
            articles=article_pages(found_articles(results)) if self._settings.articles == "pages" else (),
            statuses=tuple(result.status for result in results),
            empty_calendar=is_about_no_game,
            events=tuple(events),
        )

    def _shorten_facts(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts, each with an equal share of the tokens for facts."""
        max_tokens = self._settings.max_fact_tokens // max(1, len(facts))
        shortened = []
        for fact in facts:
            text = self._model.truncate(fact.text, max_tokens)
            shortened.append(replace(fact, text=text))
        return tuple(shortened)


def _parse_domain(name: str | None) -> Domain | None:
    """The domain that the router predicted; None if the graph has no tables of that name."""
    return Domain(name) if name in set(Domain) else None


def _with_dates_of_question(query: Query, written: WrittenCalls) -> WrittenCalls:
    """The calls with the last or next games that the question is about, and the year of a ceremony that it numbers."""
    if written.program is None:
        return written
    program = with_nearest_games(
        query.text,
        written.domain,
        written.program,
        query.asked_at,
    )
    return replace(written, program=with_ceremony_years(query.text, program))


def _names_days(query: Query) -> bool:
    """Whether the question asks about certain days. "The last game" does not: in the off-season it is months ago."""
    dates = find_dates(query.text, query.asked_at or pacific_now(), Calendar.CIVIL)
    return any(date.range is not None for date in dates)


def build_facts(results: Sequence[Result]) -> tuple[Fact, ...]:
    """One sentence per result that was found or is known not to exist.

    A sort or an average replaces the fact of the statement that it works on.
    """
    facts: list[Fact] = []
    for result in results:
        if result.status not in {Status.OK, Status.NOT_FOUND}:
            continue
        if result.refines and facts:
            facts.pop()

        # How names and dates were understood follows the facts
        sentence = " ".join((result.text, *result.explanation)).strip()
        if result.status is Status.NOT_FOUND:
            # That the graph has no such thing is a fact too
            sentence = f"Not found: {sentence}"
        facts.append(Fact(clean(sentence), f"knowledge graph: {result.call}"))
    return tuple(facts)
