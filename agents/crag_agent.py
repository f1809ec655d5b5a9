"""The whole way of a batch, from the evaluator's dictionary to its answers. Start reading here."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from agents.answering import NO_DRAFT, Answerer, abstain, shown, trim_to_tokens
from agents.batch_run import BatchRun
from agents.contracts import GRAPH, INVALID_QUESTION, WEB, Answer, Decision, Fact, GateFiring, Route, Trace
from agents.deadline import BatchClock
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.evidence import SourceOrder, facts_text, graph_only, joined, source_order
from agents.gates import class_gate, score_gate
from agents.kg import KnowledgeGraph, Lookup, NoKnowledgeGraph, open_knowledge_graph
from agents.llm import LanguageModel, load_language_model
from agents.model_health import ModelHealth, WatchedModel
from agents.public_data import NoPublicData, PublicData, open_public_data
from agents.queries import parse_batch
from agents.questions import QuestionRouter, Unrouted, open_router
from agents.scrutiny import Scrutiny
from agents.settings import KnowledgeGraphSettings, Settings, require_weights
from agents.text import clean
from agents.web import WebEvidence, WebPath

NO_EVIDENCE = WebEvidence(context="", passages=(), pages_read=0, events=(), top_probability=None)
"""What is left of the web where its path failed."""


class CragAgent:
    """Answers batches of questions as the preset's settings say.

    The parts are handed in, so that a test or another system can replace any of them; `from_settings` builds the usual
    ones. `warm_up` loads weights and starts worker processes, `close` releases them.
    """

    def __init__(
        self,
        settings: Settings,
        model: LanguageModel,
        web: WebPath,
        router: QuestionRouter | None = None,
        knowledge_graph: KnowledgeGraph | None = None,
        public_data: PublicData | None = None,
    ) -> None:
        self.settings = settings
        self._model = model if isinstance(model, WatchedModel) else WatchedModel(model)
        self._web = web
        self._router = router or Unrouted()
        self._knowledge_graph = knowledge_graph or NoKnowledgeGraph()
        self._public_data = public_data or NoPublicData()
        self._graph_settings = settings.knowledge_graph or KnowledgeGraphSettings()
        self._web_answerer = Answerer(settings.answering, self._model)
        self._graph_answerer = Answerer(settings.graph_answering, self._model)
        self._scrutiny = Scrutiny(settings.answering, self._model)
        self._health = ModelHealth(self._model)

    @classmethod
    def from_settings(cls, settings: Settings) -> "CragAgent":
        """Build the parts that the settings name.

        Raises:
            models.manifest.WeightsMissingError: at once, before anything is loaded, if weights are missing; one line
                names all that are, and the command that gets them.
        """
        model = WatchedModel(load_language_model(settings.language_model))
        dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
        cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
        router = open_router(settings.router, model)
        require_weights(settings)
        for part in (model, dense, cross, router):
            if part is not None:
                part.check_weights()
        return cls(
            settings,
            model,
            WebPath(settings.web, dense, cross, model),
            router,
            knowledge_graph=open_knowledge_graph(settings.knowledge_graph, model, dense),
            public_data=open_public_data(settings.public_data, model, dense),
        )

    def warm_up(self) -> None:
        """Load all weights and start the extraction workers; the language model first.

        An engine that starts processes of its own must do so before anything else in this process has used CUDA.
        """
        self._model.warm_up()
        self._router.warm_up()
        self._web.warm_up()
        self._knowledge_graph.warm_up()
        self._public_data.warm_up()

    def close(self) -> None:
        """Stop workers and release memory."""
        self._knowledge_graph.close()
        self._web.close()
        self._router.close()
        self._model.close()

    def answer_batch(self, batch: Mapping[str, Sequence[object]]) -> tuple[list[Answer], list[Trace]]:
        """Answer all questions of the evaluator's batch, in order, within the time of the batch.

        Each stage has its share of the time that is left. Where it is too short, pages are dropped, then rerank depth,
        then the length and number of generations; what is still open is "i don't know" (docs/t4.md tells the details).

        Raises:
            agents.queries.BatchFormatError: the batch as a whole is malformed.
        """
        queries = parse_batch(batch)
        run = BatchRun(queries, self._clock(len(queries)))
        for position, query in enumerate(queries):
            if query.fault:
                run.settle(position, abstain(f"the row is malformed: {query.fault}"))
        obstacle = self._health.obstacle(run.clock.whole)
        for position in run.open if obstacle else ():
            run.settle(position, abstain(obstacle or ""))

        self._route(run)
        self._close_class_gates(run)
        with self._pages_read_meanwhile(run) as web:
            lookups = self._ask_graph(run)
            self._answer_from_graph(run, lookups, SourceOrder.GRAPH_FIRST)  # accepted unless "i don't know"
            self._add_public_data(run)
            contexts = self._contexts(run, lookups, web.result())
        self._answer_from_web(run, lookups, contexts)
        self._answer_with_values(run, lookups, SourceOrder.TOGETHER)
        self._answer_from_graph(run, lookups, SourceOrder.WEB_FIRST)  # what the web did not know
        self._scrutiny.last_word(run)  # a false premise has an answer of its own
        self._health.note(run.faults)
        return run.finish(), run.traces

    def _clock(self, batch_size: int) -> BatchClock:
        times = self.settings.deadline
        web_first = self._graph_settings.source_policy == "by_dynamism"
        shares = times.shares(review=self.settings.answering.looks_twice, web_first=web_first)
        return BatchClock(batch_size * times.seconds_per_query, times.reserve_seconds, shares)

    def _route(self, run: BatchRun) -> None:
        """Understand the questions."""
        nothing: Route = {}
        with run.clock.stage("route") as deadline:
            routes = run.run_isolated(
                "route", deadline, lambda some: self._router.route(run.pick(some), deadline), fallback=nothing
            )
        for position, route in routes.items():
            run.traces[position].route = route or None

    def _close_class_gates(self, run: BatchRun) -> None:
        """Questions of classes that the preset does not answer (NEC 2.1, step 1)."""
        for position in run.open:
            firing = class_gate(self.settings.answering.gates, run.traces[position].route, "any")
            if firing is not None:
                self._close_gate(run, position, firing, "none")

    def _close_gate(self, run: BatchRun, position: int, firing: GateFiring, source: str) -> None:
        run.close_gate(position, firing, source, audit=self.settings.answering.audit)

    @contextmanager
    def _pages_read_meanwhile(self, run: BatchRun) -> Iterator["Future[dict[int, WebEvidence]]"]:
        """Work through the pages, which is work for processors, while the graph keeps GPUs and the network busy."""
        with ThreadPoolExecutor(1, thread_name_prefix="web") as beside:
            yield beside.submit(
                run.run_isolated,
                "web",
                run.clock.span("select_pages", "rerank"),
                lambda some: self._web.prepare(run.pick(some), run.clock),
                fallback=NO_EVIDENCE,
            )

    def _ask_graph(self, run: BatchRun) -> dict[int, Lookup]:
        """Write calls, run them, and settle questions about games that never were."""
        with run.clock.stage("knowledge_graph") as deadline:
            lookups = run.run_isolated(
                GRAPH,
                deadline,
                lambda some: self._knowledge_graph.look_up(run.pick(some), run.domains(some), deadline),
                fallback=Lookup(),
            )
        for position, lookup in lookups.items():
            trace = run.traces[position]
            trace.calls.extend(lookup.calls)
            trace.facts.extend(lookup.facts)
            trace.events.extend(lookup.events)
            trace.graph_state = lookup.state
            if lookup.direct_answer is not None:
                trace.events.append(f"the graph's values say {lookup.direct_answer!r}: {lookup.direct_reason}")
            if lookup.generation is not None:
                trace.note_generation("calls", lookup.prompt, lookup.generation)
            if lookup.empty_calendar and self._graph_settings.invalid_without_game:
                reason = f"no such game: {' '.join(fact.text for fact in lookup.facts)}"
                run.settle(position, Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, GRAPH, reason))
        return lookups

    def _answer_from_graph(self, run: BatchRun, lookups: Mapping[int, Lookup], order: SourceOrder) -> None:
        """Let the graph's facts answer the open questions whose policy says that it is their turn.

        An answer that is not "i don't know" is accepted (db3 3.1). What the graph alone may answer ends here.
        """
        policy = self._graph_settings
        self._answer_with_values(run, lookups, order)
        turn = [position for position in run.open if self._order(run, lookups, position) is order]
        contexts = run.run_isolated(
            "facts",
            run.clock.whole,
            lambda some: [facts_text(lookups[i].facts, self._model, policy.max_fact_tokens) for i in some],
            fallback="",
            positions=[position for position in turn if lookups[position].found],
        )
        contexts = {position: context for position, context in contexts.items() if context}
        stage = "answer_from_graph" if order is SourceOrder.GRAPH_FIRST else "graph_after_web"
        for position, answer in self._generate(run, stage, self._graph_answerer, contexts, GRAPH).items():
            if answer.decision is Decision.ABSTAINED and order is SourceOrder.GRAPH_FIRST:
                run.traces[position].events.append(f"the graph's facts were not enough: {answer.reason}")
            else:
                run.settle(position, answer)
        for position in turn:
            if position in run.open and graph_only(policy, run.traces[position].route, lookups[position]):
                run.settle(position, abstain("only the graph may answer in this domain, and it did not", GRAPH))

    def _answer_with_values(self, run: BatchRun, lookups: Mapping[int, Lookup], order: SourceOrder) -> None:
        """Where the graph's values are the answer, or rules could compute it from them, no model is asked."""

        def answer_of(position: int) -> Answer:
            text = trim_to_tokens(" ".join(clean(lookups[position].direct_answer).split()))
            answer = Answer(text, Decision.ANSWERED, GRAPH, lookups[position].direct_reason)
            return self._scrutiny.examine_value(run, position, answer)

        answers = run.run_isolated(
            "graph value",
            run.clock.whole,
            lambda some: [answer_of(position) for position in some],
            fallback=abstain("the graph's value could not be said", GRAPH),
            positions=[
                position
                for position in run.open
                if lookups[position].direct_answer is not None and self._order(run, lookups, position) is order
            ],
        )
        for position, answer in answers.items():
            if answer.decision is Decision.ANSWERED:
                run.settle(position, answer)

    def _order(self, run: BatchRun, lookups: Mapping[int, Lookup], position: int) -> SourceOrder:
        return source_order(self._graph_settings, run.traces[position].route, lookups[position])

    def _add_public_data(self, run: BatchRun) -> None:
        """Facts that the submission ships."""
        nothing: tuple[Fact, ...] = ()
        with run.clock.stage("public_data") as deadline:
            shipped = run.run_isolated(
                "public data",
                deadline,
                lambda some: self._public_data.facts(run.pick(some), run.domains(some), deadline),
                fallback=nothing,
            )
        for position, facts in shipped.items():
            run.traces[position].facts.extend(facts)

    def _contexts(
        self, run: BatchRun, lookups: Mapping[int, Lookup], evidence: Mapping[int, WebEvidence]
    ) -> dict[int, str]:
        """What the model will read about each open question; questions that the gates stop are settled.

        Facts come first and are paid from the same budget of tokens. Those of the graph join only where the policy
        wants one answer from both sources.
        """
        contexts: dict[int, str] = {}
        materials = run.run_isolated(
            "context",
            run.clock.whole,
            lambda some: [self._material(run, lookups, i, evidence.get(i, NO_EVIDENCE)) for i in some],
        )
        for position, (text, found) in materials.items():
            trace = run.traces[position]
            trace.pages_read = found.pages_read
            trace.passages.extend(found.passages)
            trace.events.extend(found.events)
            trace.context = joined(text, found.context, self._order(run, lookups, position))
            if found is NO_EVIDENCE and not text:
                faults = [event for event in trace.events if event.startswith("web failed")]
                self._web_is_not_enough(run, lookups, position, faults[-1] if faults else "the web path gave nothing")
                continue
            gates = self.settings.answering.gates
            firing = class_gate(gates, trace.route, WEB)
            if firing is None and not text:
                firing = score_gate(gates, "top_passage", found.top_probability)
            follows = self._graph_follows(run, lookups, position)
            if firing is None or (self.settings.answering.audit and not follows):
                contexts[position] = trace.context
            if firing is not None and follows:
                trace.gates.append(firing)  # not even an audit asks the web: the graph's turn must find it as it was
                trace.events.append(f"the web was not enough: {firing.reason}")
            elif firing is not None:
                self._close_gate(run, position, firing, WEB)
        return contexts

    def _web_is_not_enough(self, run: BatchRun, lookups: Mapping[int, Lookup], position: int, reason: str) -> None:
        """Leave the question to the graph where that has facts yet unread, else give it up."""
        if self._graph_follows(run, lookups, position):
            run.traces[position].events.append(f"the web was not enough: {reason}")
        else:
            run.settle(position, abstain(reason, WEB))

    def _material(
        self, run: BatchRun, lookups: Mapping[int, Lookup], position: int, found: WebEvidence
    ) -> tuple[str, WebEvidence]:
        """The facts that join the pages, and what of the pages fits beside them."""
        together = self._order(run, lookups, position).joint
        lookup = lookups[position]
        facts = [fact for fact in run.traces[position].facts if together or fact not in lookup.facts]
        if together and lookup.direct_answer is not None:
            facts.insert(0, Fact(f"{lookup.direct_answer} ({lookup.direct_reason})", "knowledge graph: computed"))
        text = facts_text(facts, self._model, self.settings.web.context.max_tokens)
        return text, self._web.trimmed(found, self._model.count_tokens(text)) if text else found

    def _graph_follows(self, run: BatchRun, lookups: Mapping[int, Lookup], position: int) -> bool:
        """Whether the graph still has its turn: facts that nobody has read, or a value beside the joint answer."""
        order, lookup = self._order(run, lookups, position), lookups[position]
        if order is SourceOrder.TOGETHER:
            return lookup.direct_answer is not None
        return order is SourceOrder.WEB_FIRST and lookup.found

    def _answer_from_web(self, run: BatchRun, lookups: Mapping[int, Lookup], contexts: Mapping[int, str]) -> None:
        """Let the pages answer what is open; what they do not know stays open where the graph has facts yet unread."""
        asked = {position: contexts[position] for position in run.open if position in contexts}
        for position, answer in self._generate(run, "generate", self._web_answerer, asked, WEB).items():
            if answer.decision is Decision.ABSTAINED and self._graph_follows(run, lookups, position):
                run.traces[position].events.append(f"the web was not enough: {answer.reason}")
                continue
            run.settle(position, answer)

    def _generate(
        self, run: BatchRun, stage: str, answerer: Answerer, contexts: Mapping[int, str], source: str
    ) -> dict[int, Answer]:
        """One generation per context and what is decided from it; the questions are not settled here."""
        if not contexts:
            return {}
        with run.clock.stage(stage) as deadline:
            drafts = run.run_isolated(
                f"answer from {source}",
                deadline,
                lambda some: answerer.draft(run.pick(some), [contexts[i] for i in some], deadline),
                fallback=NO_DRAFT if source == GRAPH else None,
                positions=list(contexts),
            )
        for position, draft in drafts.items():
            key = "answer" if source == WEB else "graph_answer"
            run.traces[position].note_generation(key, shown(draft.request), draft.generation)
        return self._scrutiny.examine(run, drafts, contexts, source)
