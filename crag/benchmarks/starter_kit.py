"""The 2024 starter kit's baselines as an agent, with a preset's engine and model, to compare with the preset.

    crag evaluate --agent crag.benchmarks.starter_kit:StarterKit --output KIT [--preset cpu] [--dataset FILE]
    [--mock-kg] crag compare KIT RUN

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
ENTITY_TOKENS, ANSWER_TOKENS = 128, 50


class StarterKit:
    """The kit's agent, with the language model of the preset."""

    def __init__(self) -> None:
        settings = load_settings(usual_preset(), os.environ.get(OVERRIDES_VARIABLE, "").splitlines())
        self._size, self._graph = settings.batch_size, os.environ.get(KG_VARIABLE, "").rstrip("/")
        self._model = load_language_model(settings.language_model)
        self._encoder = load_dense_encoder(DenseEncoderSettings(model="all-minilm-l6-v2", batch_size=128))
        self._model.warm_up()
        self._encoder.warm_up()

    def get_batch_size(self) -> int:
        """That of the preset."""
        return self._size

    def batch_generate_answer(self, batch: Mapping[str, Sequence[Any]]) -> list[str]:
        """One answer for each question."""
        queries = parse_batch(batch)
        asked = [f"Time: {query.query_time}\nQuestion: {query.text}" for query in queries]
        contexts = [kit_context(query, self._encoder) for query in queries]
        if self._graph:
            facts, half = map(self._facts, self._said(EXTRACT, asked, ENTITY_TOKENS)), KIT_CHARACTERS // 2
            contexts = [f"{known[:half]}\n{text[:half]}" for known, text in zip(facts, contexts, strict=True)]
        turns = [f"References:\n{context}\n\n{own}" for context, own in zip(contexts, asked, strict=True)]
        return [normalise(text, "web").text for text in self._said(ANSWER, turns, ANSWER_TOKENS)]

    def _said(self, system: str, turns: Sequence[str], most: int) -> list[str]:
        chats = [(Message("system", system), Message("user", turn)) for turn in turns]
        prompts = [GenerationRequest(chat, max_tokens=most) for chat in chats]
        return [reply.text for reply in self._model.generate(prompts, Deadline(UNHURRIED_SECONDS))]

    def _facts(self, said: str) -> str:
        """What the graph says about the entities in the model's JSON; empty if it is none."""
        found = re.search(r"\{.*\}", said, re.DOTALL)
        try:
            wanted = json.loads(found.group()) if found else {}
        except (json.JSONDecodeError, RecursionError):
            return ""
        if wanted.get("domain") == "encyclopedia":
            names = self._ask("/open/search_entity_by_name", wanted.get("main_entity"))
            return str(self._ask("/open/get_entity", names[0])) if names else ""
        facts = []
        for kind in ("movie", "person") if wanted.get("domain") == "movie" else ():
            records, aspect = self._ask(f"/movie/get_{kind}_info", wanted.get(kind)) or [], wanted.get(f"{kind}_aspect")
            facts += [f"{aspect} of {wanted[kind]}: {record.get(aspect)}" for record in records[:1]]
        of_year = self._ask("/movie/get_year_info", wanted.get("year")) if wanted.get("domain") == "movie" else None
        return "\n".join([*facts, str(of_year or "")])

    def _ask(self, endpoint: str, query: object) -> Any:  # noqa: ANN401 - any JSON
        reply = requests.post(f"{self._graph}{endpoint}", json={"query": str(query)}, timeout=UNHURRIED_SECONDS)
        return reply.json().get("result") if query and reply.ok else None
