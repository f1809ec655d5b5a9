"""The knowledge-graph path: questions -> calls -> results -> facts, each step for the whole batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from crag.core.contracts import Fact, Query
from crag.core.deadline import Deadline
from crag.core.text import clean
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import LanguageModel
from crag.graph.client import CallLimits, KgClient
from crag.graph.derive import Derived, derived_answer, direct_answer
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import Program
from crag.graph.results import Result, Status
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, Written, invented_dates
from crag.settings import KnowledgeGraphSettings

_WRITING_SHARE = 0.75
"""Share of the stage's time for writing calls; the graph's server is near and needs less."""

JUST_THE_VALUE = "the graph gave just the value that was asked for"


@dataclass(frozen=True, slots=True)
class Lookup:
    """The knowledge graph's result for one question.

    `calls` are the statements in canonical form, `facts` their results in sentences; `empty_calendar` is as in
    `Result`. `direct_answer` is the value that answers the question, if rules found one; `direct_reason` how. `events`
    list faults. The writer read `prompt` and wrote `generation`; `example_similarity` is that of its most similar
    example.
    """

    calls: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    domain: str | None = None
    statuses: tuple[Status, ...] = ()
    empty_calendar: bool = False
    direct_answer: str | None = None
    direct_reason: str = JUST_THE_VALUE
    events: tuple[str, ...] = ()
    prompt: Any = None
    generation: Any = None
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
            return "no_call" if self.calls or self.generation is not None else None
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
        limits: CallLimits | None = None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._writer = CallWriter(settings.writer, model, dense)
        self._client = KgClient(address, limits)
        self._executor = Executor(self._client)

    def warm_up(self) -> None:
        """Encode the example bank."""
        self._writer.warm_up()

    def close(self) -> None:
        """Close the connections to the server."""
        self._client.close()

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        """One lookup per query, in order; `domains` are the router's, where known.

        A question without readable calls has no facts. A dead server costs a few refused connections per batch.
        """
        questions = [
            CallRequest(query.text, query.query_time, Domain(domain) if domain in set(Domain) else None)
            for query, domain in zip(queries, domains, strict=True)
        ]
        written = self._writer.write(questions, deadline.within(deadline.remaining * _WRITING_SHARE))
        doubts = [
            _doubt(query, each) if self._settings.drop_doubtful_calls else ""
            for query, each in zip(queries, written, strict=True)
        ]
        tasks = {
            place: Task(each.domain, each.program, queries[place].asked_at)
            for place, each in enumerate(written)
            if each.program is not None and each.program.statements and not doubts[place]
        }
        outcomes = dict(zip(tasks, self._executor.run_batch(list(tasks.values()), deadline), strict=True))
        found = map(outcomes.get, range(len(written)))
        return list(map(self._lookup, queries, written, found, doubts))

    def _lookup(self, query: Query, written: Written, outcome: ProgramResult | None, doubt: str) -> Lookup:
        program = written.program
        asked = [{"role": message.role, "content": message.content} for message in written.request.messages]
        faults = (f"the writer's calls could not be read: {fault.kind}: {fault.message}" for fault in written.faults)
        base = Lookup(
            domain=str(written.domain),
            prompt=asked or written.request.prompt,
            generation=written.generation,
            example_similarity=written.near.similarity,
            events=tuple(faults),
        )
        if program is None or doubt:
            return replace(base, events=(*base.events, f"the calls were dropped{doubt}"))
        if outcome is None:
            events = (*base.events, "the writer expects no answer in the graph")
            return replace(base, calls=("None",), events=events)
        facts = facts_of(outcome.results)
        answer = self._answer(query, written.domain, program, outcome.results)
        longest = self._settings.max_fact_tokens // max(1, len(facts))
        asked_for = [result for result in outcome.results if not result.refines]
        failed = [result for result in outcome.results if result.status in {Status.KG_DOWN, Status.INVALID}]
        return replace(
            base,
            calls=tuple(result.call for result in outcome.results if result.call),
            facts=tuple(replace(fact, text=self._model.truncate(fact.text, longest)) for fact in facts),
            direct_answer=clean(answer.text) if answer else None,
            direct_reason=answer.reason if answer else JUST_THE_VALUE,
            statuses=tuple(result.status for result in outcome.results),
            empty_calendar=bool(asked_for) and all(result.empty_calendar for result in asked_for),
            events=(*base.events, *(f"{r.status}: {r.call}: {' '.join(r.explanation)}" for r in failed)),
        )

    def _answer(self, query: Query, domain: Domain, program: Program, results: Sequence[Result]) -> Derived | None:
        """The requested value, or a value that rules compute, if the settings allow it."""
        value = direct_answer(query.text, domain, program, results) if self._settings.direct_answers else None
        if value is not None:
            return Derived(value, JUST_THE_VALUE)
        today = query.asked_at.date() if query.asked_at else None
        return derived_answer(query.text, domain, program, results, today) if self._settings.derived_answers else None


def _doubt(query: Query, written: Written) -> str:
    """Why calls that can be read are not made; empty if nothing speaks against them."""
    program = written.program
    invented = invented_dates(query.text, written.domain, program, query.asked_at) if program else ()
    return f": they name {', '.join(invented)}, for which the question gives no reason" if invented else ""


def facts_of(results: Sequence[Result]) -> tuple[Fact, ...]:
    """Verbalise what was found, or is known not to exist. Of a call and its sort, only the sort becomes a fact."""
    facts: list[Fact] = []
    for result in results:
        if result.status not in {Status.OK, Status.NOT_FOUND}:
            continue
        if result.refines and facts:
            facts.pop()
        text = " ".join((result.text, *result.explanation)).strip()
        said = f"Not found: {text}" if result.status is Status.NOT_FOUND else text
        facts.append(Fact(clean(said), f"knowledge graph: {result.call}"))
    return tuple(facts)
