"""The whole way of a batch, from the evaluator's dictionary to its answers. Start reading here."""

import logging
import threading
from collections.abc import Mapping, Sequence

from agents.answering import Answerer, abstain, decide, low_relevance
from agents.batch_run import BatchRun
from agents.contracts import Answer, Fact, Trace
from agents.deadline import BatchClock
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.kg import KnowledgeGraph, Lookup, NoKnowledgeGraph
from agents.llm import LanguageModel, LanguageModelDiedError, load_language_model
from agents.public_data import NoPublicData, PublicData
from agents.queries import parse_batch
from agents.questions import QuestionRouter, Route, Unrouted
from agents.settings import Settings
from agents.watchdog import StuckError, call_within
from agents.web import WebEvidence, WebPath

log = logging.getLogger(__name__)

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
        self._model = model
        self._web = web
        self._router = router or Unrouted()
        self._knowledge_graph = knowledge_graph or NoKnowledgeGraph()
        self._public_data = public_data or NoPublicData()
        self._answerer = Answerer(settings.answering, model)
        self._model_died = False
        self._stuck_thread: threading.Thread | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> "CragAgent":
        """Build the parts that the settings name.

        Raises:
            models.manifest.WeightsMissingError: at once, before anything is loaded, if a weight file is missing.
        """
        model = load_language_model(settings.language_model)
        dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
        cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
        for part in (model, dense, cross):
            if part is not None:
                part.check_weights()
        return cls(settings, model, WebPath(settings.web, dense, cross, model))

    def warm_up(self) -> None:
        """Load all weights and start the extraction workers; the language model first.

        An engine that starts processes of its own must do so before anything else in this process has used CUDA.
        """
        self._model.warm_up()
        self._web.warm_up()

    def close(self) -> None:
        """Stop workers and release memory."""
        self._web.close()
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
        self._require_model(run)
        self._route(run)
        contexts = self._gather(run)
        self._answer(run, contexts)
        return run.finish(), run.traces

    def _clock(self, batch_size: int) -> BatchClock:
        times = self.settings.deadline
        return BatchClock(batch_size * times.seconds_per_query, times.reserve_seconds, times.shares())

    def _route(self, run: BatchRun) -> None:
        """Understand the questions."""
        nothing: Route = {}
        with run.clock.stage("route") as deadline:
            routes = run.run_isolated(
                "route", deadline, lambda some: self._router.route(run.pick(some), deadline), fallback=nothing
            )
        for position, route in routes.items():
            run.traces[position].route = route or None

    def _gather(self, run: BatchRun) -> dict[int, str]:
        """Collect what the sources say about each open question: facts first, then passages of web pages."""
        with run.clock.stage("knowledge_graph") as deadline:
            lookups = run.run_isolated(
                "knowledge graph",
                deadline,
                lambda some: self._knowledge_graph.look_up(run.pick(some), deadline),
                fallback=Lookup(),
            )
        nothing: tuple[Fact, ...] = ()
        with run.clock.stage("public_data") as deadline:
            shipped = run.run_isolated(
                "public data",
                deadline,
                lambda some: self._public_data.facts(run.pick(some), deadline),
                fallback=nothing,
            )
        for position in run.open:
            trace = run.traces[position]
            trace.calls.extend(lookups[position].calls)
            trace.facts.extend((*lookups[position].facts, *shipped[position]))
        evidence = run.run_isolated(
            "web",
            run.clock.span("select_pages", "rerank"),
            lambda some: self._web.prepare(run.pick(some), run.clock),
            fallback=NO_EVIDENCE,
        )
        return {position: self._context(run, position, found) for position, found in evidence.items()}

    def _context(self, run: BatchRun, position: int, found: WebEvidence) -> str:
        """What the model will read, also in the trace; questions that the gates stop are settled."""
        trace = run.traces[position]
        trace.pages_read = found.pages_read
        trace.passages.extend(found.passages)
        trace.events.extend(found.events)
        facts = "\n".join(f'<doc source="{fact.source}">{fact.text}</doc>' for fact in trace.facts)
        trace.context = "\n".join(part for part in (facts, found.context) if part)
        reason = low_relevance(found.top_probability, self.settings.answering.minimum_top_score)
        if found is NO_EVIDENCE and not trace.facts:
            reason = trace.events[-1]
        if reason:
            run.settle(position, abstain(reason, "web"))
        return trace.context

    def _answer(self, run: BatchRun, contexts: Mapping[int, str]) -> None:
        """Generate and decide."""
        with run.clock.stage("generate") as deadline:
            drafts = run.run_isolated(
                "answer",
                deadline,
                lambda some: self._answerer.draft(run.pick(some), [contexts[i] for i in some], deadline),
            )
        self._note_health(run)
        for position, draft in drafts.items():
            run.traces[position].prompts["answer"] = [
                {"role": message.role, "content": message.content} for message in draft.request.messages
            ]
            run.traces[position].generations["answer"] = draft.generation
        decided = run.run_isolated("decide", run.clock.whole, lambda some: [decide(drafts[i], "web") for i in some])
        for position, answer in decided.items():
            run.settle(position, answer)

    def _note_health(self, run: BatchRun) -> None:
        """Remember for the next batch a model that died, or a thread that is still inside one of the models."""
        for stage, error in run.faults:
            if isinstance(error, LanguageModelDiedError):
                self._model_died = True
            elif isinstance(error, StuckError) and stage in {"web", "answer"}:
                self._stuck_thread = error.thread

    def _require_model(self, run: BatchRun) -> None:
        """Settle the whole batch where the model cannot be asked; a dead one is loaded again first.

        Loading may take half of the batch's time. A model with an abandoned call still inside is not entered again:
        adapters and engine steps are no business of two threads.
        """
        reason = None
        if self._stuck_thread is not None and self._stuck_thread.is_alive():
            reason = "an earlier call is still stuck in the agent's models"
        elif self._model_died:
            log.warning("the language model died in an earlier batch and is loaded again")
            try:
                call_within(run.clock.whole.remaining / 2, self._reload_model)
                self._model_died = False
            except Exception as fault:
                # Whatever a broken engine raises while it is taken down and built again: the batch abstains.
                log.exception("the language model could not be loaded again")
                if isinstance(fault, StuckError):
                    self._stuck_thread = fault.thread
                reason = f"the language model died and could not be loaded again: {fault}"
        if reason:
            for position in run.open:
                run.settle(position, abstain(reason))

    def _reload_model(self) -> None:
        try:
            self._model.close()
        finally:
            self._model.warm_up()
