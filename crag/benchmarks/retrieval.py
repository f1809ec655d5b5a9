"""Seconds and recall of a preset's web path, beside the starter kit's method."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from crag.core.contracts import Page, Query
from crag.core.deadline import BatchClock
from crag.core.progress import batches_with_progress
from crag.core.queries import BATCH_KEYS, parse_row
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm import load_language_model
from crag.engines.llm.base import TokenCounter
from crag.evaluation.datasets import read_rows
from crag.settings import DenseEncoderSettings, Settings, WebSettings
from crag.web import RetrievedPassages, WebPath
from crag.web.context import build_context
from crag.web.extract.page_text import page_text
from crag.web.terms import STOPWORDS, extract_terms

BUDGETS = (350, 400, 600, 1000, 2000)
"""Tokens of context; the first is that of the preset cpu."""
EVERYTHING = 30_000
"""Tokens that hold all candidates."""
KIT_SENTENCES = 20
"""Sentences in the starter kit's context."""
KIT_SENTENCE_CHARACTERS = 1000
KIT_CHARACTERS = 4000
"""Of its whole context."""
SHORT_ANSWER_WORDS = 4
"""Most words of an answer that counts only if its words are together."""
FOUND = 0.8
"""The least recall of an answer that counts as found."""
PLACES = ("text", "candidates", *(f"{budget} tokens" for budget in BUDGETS), "starter kit")
"""Texts in which the answer is looked for, from all that a question has to what a model reads."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NOT_IN_TEXTS = frozenset({"", "yes", "no", "true", "false", "nan", "invalid question", "i don't know", "none", "0"})
"""Answers that no page spells out."""


# --- whether an answer is in a context: a measure of retrieval without judge and model -------------------------


def answer_recall(question: str, gold: Sequence[str], context: str) -> float | None:
    """The best recall over the gold answers, 0 to 1; None if none of them has words that are not in the question.

    A short answer counts as found (1) if its words are together, else as not found (0); for a longer one, the share of
    its content words that occur, without those of the question.
    """
    context_words = extract_terms(context)
    question_words = set(extract_terms(question))

    recalls: list[float] = []
    for answer in gold:
        answer_words = extract_terms(answer)
        new_words = set(answer_words) - question_words - STOPWORDS
        text = answer.strip().lower()
        # Words of the question are on every page, so they prove nothing
        if not new_words or text in _NOT_IN_TEXTS or len(text) < 3:
            continue

        if len(answer_words) <= SHORT_ANSWER_WORDS:
            # With a blank at both ends only whole words match.
            phrase = f" {' '.join(answer_words)} "
            recalls.append(float(phrase in f" {' '.join(context_words)} "))
        else:
            occurring = new_words.intersection(context_words)
            recalls.append(len(occurring) / len(new_words))
    return max(recalls, default=None)


# --- questions with pages ---------------------------------------------------------------------------------------------


class QuestionWithPages(NamedTuple):
    """A question with its pages, and the gold answers that a page can hold."""

    query: Query
    golds: list[str]


def read_questions(path: Path, limit: int | None) -> list[QuestionWithPages]:
    """The questions with pages; at most `limit`, spread over the file."""
    questions: list[QuestionWithPages] = []
    for row in read_rows(path):
        query = parse_row(*(row.get(key) for key in BATCH_KEYS))
        if query.fault is not None or not query.pages:
            continue
        golds: list[str] = []
        if row.get("question_type") != "false_premise":  # its answer is in no page
            golds.append(row.get("answer") or "")
            golds += row.get("alt_ans") or []
        questions.append(QuestionWithPages(query, golds))

    step = max(1, len(questions) // limit) if limit else 1
    return questions[::step][:limit]


def with_pages(queries: Sequence[Query], pages_per_question: int) -> list[Query]:
    """The same questions with as many search results each: first those of the question, then those of the others."""
    pool: list[Page] = []
    for query in queries:
        pool += query.pages

    grown: list[Query] = []
    for query in queries:
        # A page of its own must not come again from the pool
        urls = {page.url for page in query.pages}
        additional = [page for page in pool if page.url not in urls]
        pages = [*query.pages, *additional][:pages_per_question]

        ranked = [replace(page, rank=rank) for rank, page in enumerate(pages)]
        grown.append(replace(query, pages=tuple(ranked)))
    return grown


def _unhurried_clock(settings: Settings) -> BatchClock:
    """A clock with ample time."""
    return BatchClock(3600.0, 0.0, settings.deadline.shares())


# --- the two methods --------------------------------------------------------------------------------------------------


def kit_context(query: Query, encoder: DenseEncoder) -> str:
    """The starter kit's context."""
    from bs4 import BeautifulSoup

    sentences: list[str] = []
    for page in query.pages:
        # The kit's own way to text, not this project's
        text = BeautifulSoup(page.html, "lxml").get_text(" ", strip=True)
        page_sentences = filter(None, _SENTENCE_END.split(text))
        sentences += [sentence[:KIT_SENTENCE_CHARACTERS] for sentence in page_sentences]
    if not sentences:
        return ""

    vectors, _ = encoder.encode_passages(sentences)
    (query_vector,) = encoder.encode_queries([query.text])
    similarities = vectors @ query_vector
    # Stable: equal sentences keep the order of the pages
    nearest = np.argsort(-similarities, kind="stable")[:KIT_SENTENCES]
    context = "\n".join(sentences[index] for index in nearest)
    return context[:KIT_CHARACTERS]


class MeasuredQuestion(NamedTuple):
    """The figures of a question, with the seconds of both methods."""

    is_in_place: dict[str, bool] | None
    """Whether each of `PLACES` holds its answer; None: no page can spell it out."""
    seconds: float
    kit_seconds: float


def measure_retrieval(settings: Settings, questions: Sequence[QuestionWithPages]) -> list[MeasuredQuestion]:
    """Make both contexts of each question."""
    dense_settings = settings.dense_encoder or DenseEncoderSettings(model="all-minilm-l6-v2")  # the kit needs one
    dense = load_dense_encoder(dense_settings)
    cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
    model = load_language_model(settings.language_model)
    web_path = WebPath(_with_all_candidates(settings.web), dense, cross, model)
    # Loading the models must not count as seconds of the first question
    web_path.warm_up()

    measured: list[MeasuredQuestion] = []
    for [question] in batches_with_progress(questions, 1):
        began = perf_counter()
        (retrieved,) = web_path.prepare([question.query], _unhurried_clock(settings))
        prepared = perf_counter()
        context_of_kit = kit_context(question.query, dense)
        finished = perf_counter()

        is_in_place: dict[str, bool] | None = None
        # Over any text the recall is None if no page can spell the answer out
        if answer_recall(question.query.text, question.golds, "") is not None:
            texts = _texts_by_place(settings.web, question.query, retrieved, model)
            texts["starter kit"] = context_of_kit
            is_in_place = _find_answer(question, texts)
        measured.append(MeasuredQuestion(is_in_place, prepared - began, finished - prepared))

    web_path.close()
    return measured


def _find_answer(question: QuestionWithPages, texts: Mapping[str, str]) -> dict[str, bool]:
    """Whether the text in each of `PLACES` holds the answer."""
    is_in_place: dict[str, bool] = {}
    for place in PLACES:
        recall = answer_recall(question.query.text, question.golds, texts[place]) or 0.0
        is_in_place[place] = recall >= FOUND
    return is_in_place


def _with_all_candidates(web: WebSettings) -> WebSettings:
    """The settings of a path that ranks as the preset does, and whose context holds all candidates."""
    rerank = web.rerank and web.rerank.model_copy(update={"top_k": 1_000})
    return web.model_copy(
        update={
            # In this process, so that the seconds are those of one core
            "extract": web.extract.model_copy(update={"workers": 0}),
            "rerank": rerank,
            "context": web.context.model_copy(update={"max_tokens": EVERYTHING}),
        }
    )


def _texts_by_place(
    web: WebSettings,
    query: Query,
    retrieved: RetrievedPassages,
    tokens: TokenCounter,
) -> dict[str, str]:
    """The text in each of `PLACES`, without the starter kit's."""
    texts = {
        "text": "\n".join(page_text(page.html, web.extract) for page in query.pages),
        "candidates": retrieved.context,
    }
    passages = retrieved.passages[: web.rerank.top_k] if web.rerank else retrieved.passages
    for budget in BUDGETS:
        context, *_ = build_context(passages, web.context, tokens, max_tokens=budget)
        texts[f"{budget} tokens"] = context
    return texts
