"""The whole pipeline of a batch, from the evaluator's dictionary to answers. Start reading here."""

from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import NamedTuple

from crag.answering import Answerer, Check, build_checks, load_confidence
from crag.core.contracts import Answer, Stage, Trace
from crag.core.deadline import BatchClock, start_in_thread
from crag.core.queries import parse_batch
from crag.engines.encoders import (
    BatchedCrossEncoder,
    BatchedDenseEncoder,
    CrossEncoder,
    load_cross_encoder,
    load_dense_encoder,
)
from crag.engines.llm import LanguageModel, load_language_model
from crag.facts import PublicData, ShippedPublicData
from crag.graph import KnowledgeGraph, NoKnowledgeGraph, open_knowledge_graph
from crag.pipeline.batch_run import BatchRun
from crag.pipeline.case import Case
from crag.pipeline.model_health import WatchedModel
from crag.pipeline.other_sites import ReadOtherSites
from crag.pipeline.steps import AddFacts, AskGraph, CloseClassGates, FindArticles, PlanTurns, ReadPages, RouteQuestions
from crag.pipeline.turns import GraphFacts, GraphValue, WebPages
from crag.router import QuestionRouter, open_router
from crag.settings import KnowledgeGraphSettings, Settings, graph_address, require_weights
from crag.web import WebPath


class _Turns(NamedTuple):
    """The turns of a question, in the order in which its plan may list them."""

    graph_value: GraphValue
    graph_facts: GraphFacts
    web_pages: WebPages


class CragAgent:
    """Answers batches of questions by the preset's settings.

    All parts are arguments, so tests and other systems can replace them; `from_settings` builds the usual ones.
    `warm_up` loads weights and starts worker processes; `close` releases them.

    Example:
        agent = CragAgent.from_settings(load_settings("cpu"))
        agent.warm_up()
        answers, traces = agent.answer_batch(batch)  # the evaluator's dictionary of columns
        agent.close()
    """

    def __init__(
        self,
        settings: Settings,
        model: LanguageModel,
        web: WebPath,
        router: QuestionRouter | None = None,
        knowledge_graph: KnowledgeGraph | None = None,
        public_data: PublicData | None = None,
        more_checks: Sequence[Check] = (),
        more_facts: Sequence[PublicData] = (),
    ) -> None:
        self.settings = settings
        # Already watched if it comes from `from_settings`, whose router and graph share its lock.
        self._model = model if isinstance(model, WatchedModel) else WatchedModel(model)
        self._web = web
        self._router = router or QuestionRouter()
        self._knowledge_graph = knowledge_graph or NoKnowledgeGraph()
        self._fact_sources = [public_data or PublicData(), *more_facts]

        self._graph_settings = settings.knowledge_graph or KnowledgeGraphSettings()
        self._turns = _build_turns(settings, self._graph_settings, self._model, web, more_checks)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        cross_encoder: CrossEncoder | None = None,
        more_checks: Sequence[Check] = (),
        more_facts: Sequence[PublicData] = (),
        kg_url: str = "",
        dense_encoder: BatchedDenseEncoder | None = None,
    ) -> "CragAgent":
        """Build the parts that the settings name; docs/extending.md shows how to add your own.

        `kg_url` is the address of the knowledge graph, by default that of the evaluator's environment variable.
        `dense_encoder` is used instead of a second one of the settings' model.

        Raises crag.weights.manifest.WeightsMissingError before anything is loaded: one line names all missing
        weights and the command that gets them.
        """
        # Before a model is loaded: a wrong address is reported at once.
        address = graph_address(kg_url) if settings.knowledge_graph else ""
        engine = settings.engine(has_graph=bool(address))
        model = WatchedModel(load_language_model(engine))
        if dense_encoder is None and settings.dense_encoder:
            dense_encoder = load_dense_encoder(settings.dense_encoder)

        # The caller's cross-encoder needs no weights of ours.
        shipped_cross_encoder = None
        if cross_encoder is None and settings.cross_encoder:
            shipped_cross_encoder = load_cross_encoder(settings.cross_encoder)

        router = open_router(settings.router, model)
        # Nothing is loaded yet: a missing file is reported now, not halfway through the loading.
        require_weights(settings if cross_encoder is None else settings.model_copy(update={"cross_encoder": None}))
        _check_weights(model, dense_encoder, shipped_cross_encoder, router)

        public_data = None
        if settings.public_data:
            public_data = ShippedPublicData(settings.public_data, model, dense_encoder)

        knowledge_graph: KnowledgeGraph = NoKnowledgeGraph()
        if address:
            knowledge_graph = open_knowledge_graph(settings.knowledge_graph, model, dense_encoder, address)

        return cls(
            settings,
            model,
            WebPath(settings.web, dense_encoder, cross_encoder or shipped_cross_encoder, model),
            router,
            knowledge_graph=knowledge_graph,
            public_data=public_data,
            more_checks=more_checks,
            more_facts=more_facts,
        )

    def warm_up(self) -> None:
        """Load all weights and start an extraction worker, in parallel if the language model's engine allows it.

        Raises crag.engines.llm.EngineUnavailableError: the language model cannot start.
        """
        # vLLM takes its share of the cards' memory, which must be free then. Warming up twice does nothing.
        if self.settings.language_model.engine == "vllm":
            self._model.warm_up()

        model = start_in_thread(self._model.warm_up)
        try:
            self._router.warm_up()
            self._web.warm_up()
            for source in self._fact_sources:
                source.warm_up()
            # Raises what went wrong in the thread.
            model.result()
        except BaseException:
            # A library that is loading weights is not torn off. A server may be waited for in vain, for minutes.
            if self.settings.language_model.engine != "openai":
                wait([model])
            raise

        self._knowledge_graph.warm_up()

    def close(self) -> None:
        """Stop workers and release memory."""
        for part in (self._knowledge_graph, self._web, self._router, self._model):
            part.close()

    def answer_batch(self, batch: Mapping[str, Sequence[object]]) -> tuple[list[Answer], list[Trace]]:
        """Answer all questions of the evaluator's batch, in order, within the time limit.

        Each stage has a share of the remaining time. If that is too short, the agent drops pages, then rerank depth,
        then the length and number of generations. Open questions get "i don't know" (docs/t4.md).
        Raises crag.core.queries.BatchFormatError: the batch as a whole is malformed.
        """
        answering = self.settings.answering
        queries = parse_batch(batch)
        clock = self._start_clock(len(queries))
        run = BatchRun(queries, clock, audit=answering.audit, events=self._model.begin_batch())

        # Understand the questions; some classes are not answered at all.
        run.run_step(Stage.ROUTE, RouteQuestions(self._router))
        run.run_step(Stage.CLASS_GATES, CloseClassGates(answering.gates))

        # The CPU reads pages while the language model writes calls and answers from the graph.
        read_pages = ReadPages(self._web, clock)
        with run.run_beside(Stage.WEB, read_pages, wait=self.settings.web.after_graph):
            run.run_step(Stage.KNOWLEDGE_GRAPH, AskGraph(self._knowledge_graph, self._graph_settings))
            run.run_step(Stage.KNOWLEDGE_GRAPH, FindArticles(self._knowledge_graph, self._graph_settings))
            run.run_step(Stage.PLAN, PlanTurns(self._graph_settings))

            run.run_turn(Stage.GRAPH_VALUE, self._turns.graph_value)
            run.run_turn(Stage.ANSWER_FROM_GRAPH, self._turns.graph_facts)

            for source in self._fact_sources:
                run.run_step(Stage.PUBLIC_DATA, AddFacts(source))

        # Answer what is still open from the pages.
        run.run_turn(Stage.GENERATE, self._turns.web_pages)
        return run.finish(self._model.take_counts())

    def _start_clock(self, questions: int) -> BatchClock:
        """The clock of a batch that starts now. Without a check that asks the model, no time is kept for one."""
        times = self.settings.deadline
        shares = times.shares(review=self.settings.answering.asks_again)
        # The limit is a time per question, which the questions of a batch share.
        return BatchClock(questions * times.seconds_per_query, times.reserve_seconds, shares)


def _build_turns(
    settings: Settings,
    graph_settings: KnowledgeGraphSettings,
    model: LanguageModel,
    web: WebPath,
    more_checks: Sequence[Check],
) -> _Turns:
    """The turns with their answerers and checks; `more_checks` come after those of the settings."""
    answering = settings.answering
    confidence = load_confidence(answering.confidence)

    # One list of checks for all turns. No model wrote the graph's values, so few checks are about them.
    checks = [*build_checks(answering, confidence), *more_checks]
    value_checks = [check for check in checks if check.reads_values]

    pages_answerer = Answerer(answering, model)
    page_checks: list[Check[Case]] = [*checks]
    if answering.other_sites:
        # Last: only an answer that is about to be given is worth the time of reading again.
        page_checks.append(ReadOtherSites(pages_answerer, web, answering, confidence))

    facts_answerer = Answerer(settings.graph_answering, model)
    return _Turns(
        GraphValue(facts_answerer, value_checks),
        GraphFacts(facts_answerer, checks, graph_settings.max_fact_tokens),
        WebPages(pages_answerer, page_checks, web, answering.gates, settings.web.context.max_tokens),
    )


def _check_weights(*parts: LanguageModel | BatchedDenseEncoder | BatchedCrossEncoder | QuestionRouter | None) -> None:
    """Raise WeightsMissingError if one of the parts lacks a file; None is a part that the settings do not name."""
    for part in parts:
        if part is not None:
            part.check_weights()
