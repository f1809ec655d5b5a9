"""The 2024 starter kit's baselines as an agent, with a preset's engine and model, to compare with the preset.

    crag bench starter-kit --output KIT [--preset cpu] [--dataset FILE] [--mock-kg]
    crag compare KIT RUN

The web baseline: the 20 sentences of all pages nearest to the question by MiniLM, 4,000 characters of them, and a short
answer. With a graph also its graph baseline: the model names domain and entities as JSON, open and movie are asked, and
2,000 characters of results stand before 2,000 of the pages. The prompts say what the kit's say, in our words.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from crag.answering import normalise
from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.benchmarks.retrieval import KIT_CHARACTERS, kit_context
from crag.core.deadline import Deadline
from crag.core.queries import parse_batch
from crag.engines.encoders import load_dense_encoder
from crag.engines.llm import GenerationRequest, load_language_model
from crag.engines.llm.base import Message
from crag.settings import KG_VARIABLE, OVERRIDES_VARIABLE, DenseEncoderSettings, load_settings, usual_preset

ANSWER = (
    "Answer the question from the references in as few words as you can. Where the references do not hold the answer, "
    'say "I don\'t know".'
)
EXTRACT = (
    'Write one flat JSON object about the question and nothing else. "domain": finance, sports, music, movie or '
    'encyclopedia. For encyclopedia: "main_entity". For movie: "movie", "movie_aspect" (budget, genres, '
    'original_language, original_title, rating, release_date, revenue, cast or crew), "person", "person_aspect" '
    '(acted_movies, directed_movies, oscar_awards or birthday), "year". Leave out what the question does not name.'
)
ENTITY_TOKENS = 128
ANSWER_TOKENS = 50


class StarterKit:
    """The kit's agent, with the language model of the preset."""

    def __init__(self) -> None:
        settings = load_settings(usual_preset(), os.environ.get(OVERRIDES_VARIABLE, "").splitlines())
        self._batch_size = settings.batch_size
        self._graph = os.environ.get(KG_VARIABLE, "").rstrip("/")
        self._model = load_language_model(settings.language_model)
        self._encoder = load_dense_encoder(
            DenseEncoderSettings(
                model="all-minilm-l6-v2",
                batch_size=128,
            )
        )
        self._model.warm_up()
        self._encoder.warm_up()

    def get_batch_size(self) -> int:
        """The preset's batch size."""
        return self._batch_size

    def batch_generate_answer(self, batch: Mapping[str, Sequence[Any]]) -> list[str]:
        """One answer for each question."""
        queries = parse_batch(batch)
        questions = [f"Time: {query.query_time}\nQuestion: {query.text}" for query in queries]
        contexts = [kit_context(query, self._encoder) for query in queries]
        if self._graph:
            contexts = self._with_graph_facts(questions, contexts)

        turns: list[str] = []
        for context, question in zip(contexts, questions, strict=True):
            turns.append(f"References:\n{context}\n\n{question}")
        answers = self._generate(ANSWER, turns, ANSWER_TOKENS)
        return [normalise(answer, "web").text for answer in answers]

    def _with_graph_facts(self, questions: Sequence[str], contexts: Sequence[str]) -> list[str]:
        """Half of each context is facts of the graph, the other half is the beginning of the web context."""
        half = KIT_CHARACTERS // 2
        replies = self._generate(EXTRACT, questions, ENTITY_TOKENS)
        combined: list[str] = []
        for entities, context in zip(replies, contexts, strict=True):
            facts = self._facts(entities)
            combined.append(f"{facts[:half]}\n{context[:half]}")
        return combined

    def _generate(
        self,
        system: str,
        turns: Sequence[str],
        max_tokens: int,
    ) -> list[str]:
        requests: list[GenerationRequest] = []
        for turn in turns:
            messages = (Message("system", system), Message("user", turn))
            requests.append(GenerationRequest(messages, max_tokens=max_tokens))
        replies = self._model.generate(requests, Deadline(UNHURRIED_SECONDS))
        return [reply.text for reply in replies]

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
        reply = requests.post(
            f"{self._graph}{endpoint}",
            json={"query": str(query)},
            timeout=UNHURRIED_SECONDS,
        )
        # The reply to a missing name means nothing
        return reply.json().get("result") if query and reply.ok else None
