"""The whole way of a batch, from the evaluator's dictionary to its answers. Start reading here."""

import logging
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
from agents.web import WebEvidence, WebPath

log = logging.getLogger(__name__)


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
        """Load all weights and start the extraction workers."""
        self._web.warm_up()
        self._model.warm_up()

    def close(self) -> None:
        """Stop workers and release memory."""
        self._web.close()
        self._model.close()

    def answer_batch(self, batch: Mapping[str, Sequence[object]]) -> tuple[list[Answer], list[Trace]]:
        """Answer all questions of the evaluator's batch, in order, within the time of the batch.

        Time that runs short is saved in this order: rerank depth, number of pages read, length of the generation; what
        is still open then is "i don't know".

        Raises:
            agents.queries.BatchFormatError: the batch as a whole is malformed.
        """
        queries = parse_batch(batch)
        run = BatchRun(queries, self._clock(len(queries)))
        for position, query in enumerate(queries):
            if query.fault:
                run.settle(position, abstain(f"the row is malformed: {query.fault}"))
        self._revive_model()

        self._route(run)
        contexts = self._gather(run)
        self._answer(run, contexts)
        return run.finish(), run.traces

    def _clock(self, batch_size: int) -> BatchClock:
        times = self.settings.deadline
        return BatchClock(batch_size * times.seconds_per_query, times.reserve_seconds, times.shares())

    def _route(self, run: BatchRun) -> None:
        """Understand the questions."""
        whole = run.clock.whole
        nothing: Route = {}
        routes = run.run_isolated(
            "route", whole, lambda some: self._router.route(run.pick(some), whole), fallback=nothing
        )
        for position, route in routes.items():
            run.traces[position].route = route or None

    def _gather(self, run: BatchRun) -> dict[int, str]:
        """Collect what the sources say about each open question: facts first, then passages of web pages."""
        gathering = run.clock.until_end_of("rerank")
        lookups = run.run_isolated(
            "knowledge graph",
            gathering,
            lambda some: self._knowledge_graph.look_up(run.pick(some), gathering),
            fallback=Lookup(),
        )
        nothing: tuple[Fact, ...] = ()
        shipped = run.run_isolated(
            "public data",
            gathering,
            lambda some: self._public_data.facts(run.pick(some), gathering),
            fallback=nothing,
        )
        evidence = run.run_isolated("web", gathering, lambda some: self._web.prepare(run.pick(some), run.clock))
        contexts = {}
        for position, found in evidence.items():
            trace = run.traces[position]
            trace.calls.extend(lookups[position].calls)
            trace.facts.extend((*lookups[position].facts, *shipped[position]))
            contexts[position] = self._context(trace, found)
            reason = low_relevance(found.top_probability, self.settings.answering.minimum_top_score)
            if reason:
                run.settle(position, abstain(reason, "web"))
        return contexts

    @staticmethod
    def _context(trace: Trace, found: WebEvidence) -> str:
        trace.pages_read = found.pages_read
        trace.passages.extend(found.passages)
        trace.events.extend(found.events)
        facts = "\n".join(f'<doc source="{fact.source}">{fact.text}</doc>' for fact in trace.facts)
        trace.context = "\n".join(part for part in (facts, found.context) if part)
        return trace.context

    def _answer(self, run: BatchRun, contexts: Mapping[int, str]) -> None:
        """Generate and decide."""
        with run.clock.stage("generate") as deadline:
            drafts = run.run_isolated(
                "answer",
                deadline,
                lambda some: self._answerer.draft(run.pick(some), [contexts[i] for i in some], deadline),
            )
        for position, draft in drafts.items():
            run.traces[position].prompts["answer"] = [
                {"role": message.role, "content": message.content} for message in draft.request.messages
            ]
            run.traces[position].generations["answer"] = draft.generation
            run.settle(position, decide(draft, "web", self.settings.answering.minimum_log_probability))
        self._model_died = any("LanguageModelDiedError" in answer.reason for answer in run.answers.values())

    def _revive_model(self) -> None:
        """Load a dead engine once more before the next batch; where that fails too, the batch abstains."""
        if not self._model_died:
            return
        log.warning("the language model died in the last batch and is loaded again")
        self._model.close()
        try:
            self._model.warm_up()
        except (LanguageModelDiedError, RuntimeError, OSError) as fault:
            log.warning("the language model could not be loaded again: %s", fault)
