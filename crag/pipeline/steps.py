"""The steps that prepare a batch: each asks one part of the agent about the open questions.

The results are stored in the cases of the questions. `crag.pipeline.agent` lists the steps in order;
`crag.pipeline.batch_run` runs them and isolates their faults.
"""

from collections.abc import Sequence
from dataclasses import replace

from crag.answering import find_closed_class_gate
from crag.core.contracts import (
    ANSWERABLE_FROM,
    GRAPH,
    INVALID_QUESTION,
    TABLES,
    Answer,
    Decision,
    Fact,
    GateFiring,
    Page,
    Query,
    Route,
    abstain,
)
from crag.core.deadline import BatchClock, Deadline
from crag.facts import PublicData
from crag.graph import UNASKED, KnowledgeGraph, Lookup, NoKnowledgeGraph
from crag.pipeline.batch_run import Step
from crag.pipeline.case import Case, Plan, choose_plan
from crag.router import QuestionRouter
from crag.settings import GateSettings, KnowledgeGraphSettings
from crag.web import RetrievedPassages, WebPath

_FAST = frozenset({"fast-changing", "real-time"})
"""Answers that no encyclopedia has: a price, a score, who is playing tonight."""

ONLY_GRAPH = "only the graph may answer in this domain, and it gives no answer"


class RouteQuestions(Step[Route]):
    """Classifies the questions: domain, question type, dynamism."""

    def __init__(self, router: QuestionRouter) -> None:
        self._router = router

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Route]:
        return self._router.route(_queries(cases), deadline)

    def store(self, case: Case, result: Route) -> None:
        case.trace.route = result


class CloseClassGates(Step[GateFiring | None]):
    """Excludes questions of classes that the preset does not answer (NEC 2.1, step 1)."""

    def __init__(self, gates: Sequence[GateSettings]) -> None:
        self._gates = gates

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[GateFiring | None]:
        return [find_closed_class_gate(self._gates, case.trace.route, "any") for case in cases]

    def store(self, case: Case, result: GateFiring | None) -> GateFiring | None:
        return result


class AskGraph(Step[Lookup]):
    """Writes calls and runs them (db3 3.2) where a table may answer. A question about no existing game is invalid."""

    def __init__(self, graph: KnowledgeGraph, settings: KnowledgeGraphSettings) -> None:
        self._graph = graph
        self._settings = settings

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Lookup]:
        answerable = [case for case in cases if self._may_answer(case)]
        lookups = self._graph.look_up(_queries(answerable), _domains(answerable), deadline)

        # The runner wants one result per question, in order, also for those not asked about.
        lookup_by_case = dict(zip(answerable, lookups, strict=True))
        return [lookup_by_case.get(case, UNASKED) for case in cases]

    def _may_answer(self, case: Case) -> bool:
        """Whether the router finds it likely enough that a table has the answer. Unknown counts as likely."""
        minimum = self._settings.ask_above
        if minimum is None or isinstance(self._graph, NoKnowledgeGraph):
            return True

        in_tables = case.trace.route.probability(ANSWERABLE_FROM, (TABLES,))
        return in_tables is None or in_tables > minimum

    def store(self, case: Case, result: Lookup) -> Answer | None:
        case.lookup = result
        self._record(case, result)

        is_about_no_game = result.empty_calendar and self._settings.invalid_without_game
        if not is_about_no_game:
            return None
        facts = " ".join(fact.text for fact in result.facts)
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, GRAPH, f"no such game: {facts}")

    def _record(self, case: Case, lookup: Lookup) -> None:
        """Write the lookup into the question's trace."""
        trace = case.trace
        trace.calls.extend(lookup.calls)
        trace.facts.extend(lookup.facts)
        trace.events.extend(lookup.events)
        trace.graph_state = lookup.state
        trace.example_similarity = lookup.example_similarity

        if lookup.direct_answer is not None:
            case.note(f"the graph's values give {lookup.direct_answer!r}: {lookup.direct_reason}")
        if lookup.generation is not None:
            trace.prompts["calls"] = lookup.prompt
            trace.generations["calls"] = lookup.generation


class FindArticles(Step[tuple[Page, ...]]):
    """Looks for the encyclopedia's articles about what a question names, where the calls gave no value and no article.

    An article tells nothing about today, so questions whose answers change fast are left out.
    """

    def __init__(self, graph: KnowledgeGraph, settings: KnowledgeGraphSettings) -> None:
        self._graph = graph
        self._settings = settings

    def applies(self, case: Case) -> bool:
        """Whether the preset reads articles and the question still needs one."""
        lookup = case.lookup
        is_open = case.answer is None and lookup.direct_answer is None and not lookup.articles and not lookup.down
        changes_fast = case.trace.route.label("static_or_dynamic") in _FAST
        return self._settings.articles == "pages" and is_open and not changes_fast

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[tuple[Page, ...]]:
        return self._graph.find_articles(_queries(cases), deadline)

    def store(self, case: Case, result: tuple[Page, ...]) -> None:
        case.lookup = replace(case.lookup, articles=result)
        if result:
            names = ", ".join(page.name for page in result)
            case.note(f"the question names the article: {names}")


class ReadPages(Step[RetrievedPassages]):
    """Selects, extracts and ranks pages on the CPU; the graph's articles are pages too."""

    def __init__(self, web: WebPath, clock: BatchClock) -> None:
        self._web = web
        self._clock = clock

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[RetrievedPassages]:
        # The web path takes the time of each of its stages from the batch's clock.
        return self._web.prepare([_with_articles(case) for case in cases], self._clock)

    def store(self, case: Case, result: RetrievedPassages) -> None:
        case.retrieved = result


class PlanTurns(Step[Plan]):
    """Decides which sources may answer, and in which order. A question that none may answer ends here."""

    def __init__(self, settings: KnowledgeGraphSettings) -> None:
        self._settings = settings

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Plan]:
        return [choose_plan(self._settings, case.trace.route, case.lookup) for case in cases]

    def store(self, case: Case, result: Plan) -> Answer | None:
        case.plan = result
        return None if result.turns else abstain(ONLY_GRAPH, GRAPH)


class AddFacts(Step[Sequence[Fact]]):
    """Adds facts of data that the submission ships; they precede the pages in the context."""

    def __init__(self, source: PublicData) -> None:
        self._source = source

    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Sequence[Fact]]:
        return self._source.facts(_queries(cases), _domains(cases), deadline)

    def store(self, case: Case, result: Sequence[Fact]) -> None:
        case.trace.facts.extend(result)


def _with_articles(case: Case) -> Query:
    """The question with the graph's articles before its search results; alone, where only the graph may answer."""
    articles = case.lookup.articles
    if not articles:
        return case.query
    pages = () if case.plan.articles_only else case.query.pages
    return replace(case.query, pages=(*articles, *pages))


def _queries(cases: Sequence[Case]) -> list[Query]:
    return [case.query for case in cases]


def _domains(cases: Sequence[Case]) -> list[str | None]:
    """The router's domains; None for a question without one."""
    return [case.trace.route.label("domain") for case in cases]
