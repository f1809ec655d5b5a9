"""Seconds and recall of a preset's web path, beside the starter kit's method."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crag.core.contracts import Query
from crag.core.deadline import BatchClock
from crag.core.progress import in_batches
from crag.core.queries import BATCH_KEYS, parse_row
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import read_rows
from crag.settings import DenseEncoderSettings, Settings
from crag.web import WebPath
from crag.web.context import build_context
from crag.web.extract.page_text import page_text
from crag.web.ranking import STOPWORDS, terms

BUDGETS = (400, 600, 1000, 2000)
"""Tokens of context."""
EVERYTHING = 30_000
"""Tokens that hold all candidates."""
KIT_SENTENCES, KIT_SENTENCE_CHARACTERS, KIT_CHARACTERS = 20, 1000, 4000
SHORT_ANSWER_WORDS = 4
FOUND = 0.8
"""The least recall of an answer that counts as found."""
PLACES = ("text", "candidates", *(f"{budget} tokens" for budget in BUDGETS), "starter kit")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NOT_IN_TEXTS = frozenset({"", "yes", "no", "true", "false", "nan", "invalid question", "i don't know", "none", "0"})
"""Answers that no page spells out."""


# --- whether an answer is in a context: a measure of retrieval that needs no judge and no model -----------------------


def answer_recall(question: str, gold: Sequence[str], context: str) -> float | None:
    """The best recall over the gold answers, 0 to 1; None if none of them has words that are not in the question.

    A short answer counts as found (1) if its words are together, else as not found (0); for a longer one, the share of
    its content words that occur, without those of the question.
    """
    present, recalls = terms(context), []
    for answer in gold:
        said = terms(answer)
        wanted = set(said) - set(terms(question)) - STOPWORDS
        if not wanted or answer.strip().lower() in _NOT_IN_TEXTS or len(answer.strip()) < 3:
            continue
        if len(said) <= SHORT_ANSWER_WORDS:
            recalls.append(float(f" {' '.join(said)} " in f" {' '.join(present)} "))
        else:
            recalls.append(len(wanted.intersection(present)) / len(wanted))
    return max(recalls, default=None)


# --- questions with pages ---------------------------------------------------------------------------------------------


def questions(path: Path, limit: int | None) -> list[tuple[Query, list[str]]]:
    """Questions with pages, and the gold answers that a page can hold; at most `limit`, spread over the file."""
    found = []
    for row in read_rows(path):
        query = parse_row(*(row.get(key) for key in BATCH_KEYS))
        if query.fault is None and query.pages:
            refused = row.get("question_type") == "false_premise"  # no page holds the refusal of a premise
            found.append((query, [] if refused else [row.get("answer") or "", *(row.get("alt_ans") or [])]))
    step = max(1, len(found) // limit) if limit else 1
    return found[::step][:limit]


def with_pages(queries: Sequence[Query], pages_per_question: int) -> list[Query]:
    """The same questions with as many search results each: their own first, then those of the others in turn."""
    pool = [page for query in queries for page in query.pages]
    grown = []
    for query in queries:
        own = {page.url for page in query.pages}
        pages = [*query.pages, *(page for page in pool if page.url not in own)][:pages_per_question]
        grown.append(replace(query, pages=tuple(replace(page, rank=rank) for rank, page in enumerate(pages))))
    return grown


def unhurried(settings: Settings) -> BatchClock:
    """A clock with ample time."""
    return BatchClock(3600.0, 0.0, settings.deadline.shares())


# --- the two methods --------------------------------------------------------------------------------------------------


def kit_context(query: Query, encoder: DenseEncoder) -> str:
    """The starter kit's context."""
    from bs4 import BeautifulSoup

    sentences: list[str] = []
    for page in query.pages:
        text = BeautifulSoup(page.html, "lxml").get_text(" ", strip=True)
        sentences += [sentence[:KIT_SENTENCE_CHARACTERS] for sentence in _SENTENCE_END.split(text) if sentence]
    if not sentences:
        return ""
    vectors, _ = encoder.encode_passages(sentences)
    nearest = np.argsort(-(vectors @ encoder.encode_queries([query.text])[0]), kind="stable")[:KIT_SENTENCES]
    return "\n".join(sentences[place] for place in nearest)[:KIT_CHARACTERS]


class Measured(NamedTuple):
    """A question: whether each place holds its answer (None: not measurable), and the seconds of both methods."""

    found: dict[str, bool] | None
    seconds: float
    kit_seconds: float


def measure(settings: Settings, asked: Sequence[tuple[Query, list[str]]]) -> list[Measured]:
    """Make both contexts of each question."""
    dense = load_dense_encoder(settings.dense_encoder or DenseEncoderSettings(model="all-minilm-l6-v2"))
    cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
    tokens = load_language_model(settings.language_model)
    own = settings.web
    ours = WebPath(
        own.model_copy(
            update={
                "extract": own.extract.model_copy(update={"workers": 0}),
                "rerank": own.rerank and own.rerank.model_copy(update={"top_k": 1_000}),
                "context": own.context.model_copy(update={"max_tokens": EVERYTHING}),
            }
        ),
        dense,
        cross,
        tokens,
    )
    ours.warm_up()
    measured = []
    for ((query, gold),) in in_batches(asked, 1):
        began = time.perf_counter()
        (evidence,) = ours.prepare([query], unhurried(settings))
        ended = time.perf_counter()
        kit = kit_context(query, dense)
        seconds, kit_seconds = ended - began, time.perf_counter() - ended
        found = None
        if answer_recall(query.text, gold, "") is not None:
            kept = evidence.passages[: own.rerank.top_k] if own.rerank else evidence.passages
            contexts = [build_context(kept, own.context, tokens, max_tokens=budget)[0] for budget in BUDGETS]
            pages = "\n".join(page_text(page.html, own.extract) for page in query.pages)
            texts = zip(PLACES, [pages, evidence.context, *contexts, kit], strict=True)
            found = {place: (answer_recall(query.text, gold, text) or 0.0) >= FOUND for place, text in texts}
        measured.append(Measured(found, seconds, kit_seconds))
    ours.close()
    return measured


# --- the command line -------------------------------------------------------------------------------------------------
