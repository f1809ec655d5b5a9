"""The 2024 starter kit's baselines as agents, with a preset's engine and model, to compare with the preset.

    crag bench starter-kit [--preset endpoint] [--dataset FILE] [--mock-kg]

- `Vanilla`: the question alone.
- `Rag`: the 20 sentences of all pages nearest to the question by MiniLM, 4,000 characters of them, and a short answer.
- `StarterKit`: `Rag`, and with a graph also the kit's graph baseline: the model names domain and entities as JSON, open
  and movie are asked, and 2,000 characters of results stand before 2,000 of the pages.

The prompts say what the kit's say, in our words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import requests

from crag.answering import normalise
from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.benchmarks.retrieval import KIT_CHARACTERS, kit_context
from crag.core.contracts import Lost, Trace
from crag.core.deadline import Deadline
from crag.core.queries import parse_batch
from crag.engines.encoders import load_dense_encoder
from crag.engines.llm import GenerationRequest, load_language_model
from crag.engines.llm.base import Message
from crag.pipeline.model_health import WatchedModel
from crag.settings import DenseEncoderSettings, graph_address, load_settings, usual_preset

ANSWER = (
    "Answer the question from the references in as few words as you can. Where the references do not hold the answer, "
    'say "I don\'t know".'
)
FROM_MEMORY = (
    "Answer the question from what you know, in as few words as you can. Where you do not know the answer, say "
    '"I don\'t know".'
)
EXTRACT = (
    'Write one flat JSON object about the question and nothing else. "domain": finance, sports, music, movie or '
    'encyclopedia. For encyclopedia: "main_entity". For movie: "movie", "movie_aspect" (budget, genres, '
    'original_language, original_title, rating, release_date, revenue, cast or crew), "person", "person_aspect" '
    '(acted_movies, directed_movies, oscar_awards or birthday), "year". Leave out what the question does not name.'
)
LOST_TO = {"error": Lost.FAULT, "deadline": Lost.CLOCK}
"""How a generation ended that gave no answer, and what its answer was lost to."""
ENTITY_TOKENS = 128
ANSWER_TOKENS = 50


class StarterKit:
    """The kit's agent for pages and, where there is one, the graph, with the language model of the preset.

    `last_traces` say what was read and written, and which answers were lost.
    """

    uses_pages = True
    uses_graph = True

    def __init__(self) -> None:
        settings = load_settings(usual_preset())
        self._batch_size = settings.batch_size
        self._graph = graph_address().rstrip("/") if self.uses_graph else ""
        self.last_traces: list[Trace] = []
        self._encoder = None
        if self.uses_pages:
            self._encoder = load_dense_encoder(DenseEncoderSettings(model="all-minilm-l6-v2", batch_size=128))
            self._encoder.warm_up()
        # Watched: a server that dies costs the answers of its questions, not the batch
        self._model = WatchedModel(load_language_model(settings.language_model))
        self._model.warm_up()

    def get_batch_size(self) -> int:
        """The preset's batch size."""
        return self._batch_size

    def batch_generate_answer(self, batch: Mapping[str, Sequence[Any]]) -> list[str]:
        """One answer for each question."""
        queries = parse_batch(batch)
        self.last_traces = [Trace(query.interaction_id, query.text, query.query_time) for query in queries]
        questions = [f"Time: {query.query_time}\nQuestion: {query.text}" for query in queries]

        user_messages = questions
        if self._encoder is not None:
            contexts = [kit_context(query, self._encoder) for query in queries]
            if self._graph:
                contexts = self._with_graph_facts(questions, contexts)
            user_messages = []
            for query, trace, context, question in zip(queries, self.last_traces, contexts, questions, strict=True):
                trace.context = context
                trace.pages_read = len(query.pages)
                user_messages.append(f"References:\n{context}\n\n{question}")

        system = ANSWER if self.uses_pages else FROM_MEMORY
        texts = self._generate("answer", system, user_messages, ANSWER_TOKENS)
        answers = [normalise(text, "web") for text in texts]
        for trace, answer in zip(self.last_traces, answers, strict=True):
            trace.answer = answer
        self._add_counts()
        return [answer.text for answer in answers]

    def close(self) -> None:
        """Release the model."""
        self._model.close()

    def _with_graph_facts(self, questions: Sequence[str], contexts: Sequence[str]) -> list[str]:
        """Half of each context is facts of the graph, the other half is the beginning of the web context."""
        half = KIT_CHARACTERS // 2
        replies = self._generate("entities", EXTRACT, questions, ENTITY_TOKENS)
        combined: list[str] = []
        for entities, context in zip(replies, contexts, strict=True):
            facts = self._facts(entities)
            combined.append(f"{facts[:half]}\n{context[:half]}")
        return combined

    def _generate(
        self,
        step: str,
        system: str,
        user_messages: Sequence[str],
        max_tokens: int,
    ) -> list[str]:
        """One text for each message; the traces get them under the name of the step, and what was lost."""
        generation_requests: list[GenerationRequest] = []
        for user_message in user_messages:
            messages = (Message("system", system), Message("user", user_message))
            generation_requests.append(GenerationRequest(messages, max_tokens=max_tokens))

        generations = self._model.generate(generation_requests, Deadline(UNHURRIED_SECONDS))
        for trace, request, generation in zip(self.last_traces, generation_requests, generations, strict=True):
            trace.prompts[step] = [asdict(message) for message in request.messages]
            trace.generations[step] = generation
            if generation.finish_reason in LOST_TO:
                trace.lost = LOST_TO[generation.finish_reason]
        return [generation.text for generation in generations]

    def _add_counts(self) -> None:
        """Give every trace what the model read and wrote for the whole batch."""
        counts = self._model.take_counts()
        for trace in self.last_traces:
            trace.batch_size = len(self.last_traces)
            trace.tokens = dict(counts.tokens)
            trace.out_of_time = dict(counts.out_of_time)

    def _facts(self, entities: str) -> str:
        """The graph's facts about the entities in the model's JSON; empty if it is not JSON."""
        # From the first brace to the last: models write text around it
        match = re.search(r"\{.*\}", entities, re.DOTALL)
        try:
            fields = json.loads(match.group()) if match else {}
        except (json.JSONDecodeError, RecursionError):
            return ""

        if fields.get("domain") == "encyclopedia":
            names = self._ask("/open/search_entity_by_name", fields.get("main_entity"))
            return str(self._ask("/open/get_entity", names[0])) if names else ""
        if fields.get("domain") == "movie":
            return self._movie_facts(fields)
        return ""

    def _movie_facts(self, fields: Mapping[str, Any]) -> str:
        """One aspect of the best film, one of the best person, and the films of the year."""
        facts: list[str] = []
        for kind in ("movie", "person"):
            aspect = fields.get(f"{kind}_aspect")
            records = self._ask(f"/movie/get_{kind}_info", fields.get(kind)) or []
            # The first record is the best match
            facts += [f"{aspect} of {fields[kind]}: {record.get(aspect)}" for record in records[:1]]
        year = self._ask("/movie/get_year_info", fields.get("year"))
        return "\n".join([*facts, str(year or "")])

    def _ask(self, endpoint: str, query: object) -> Any:  # noqa: ANN401 - any JSON
        # The reply to a missing name means nothing
        if not query:
            return None
        try:
            reply = requests.post(
                f"{self._graph}{endpoint}",
                json={"query": str(query)},
                timeout=UNHURRIED_SECONDS,
            )
            return reply.json().get("result") if reply.ok else None
        except requests.RequestException:  # a graph that is gone costs the facts, not the answer
            return None


class Rag(StarterKit):
    """The kit's baseline for pages, which asks no graph."""

    uses_graph = False


class Vanilla(StarterKit):
    """The kit's baseline that reads nothing: what the model knows."""

    uses_pages = False
    uses_graph = False
