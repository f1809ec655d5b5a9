"""Numeric features of an answer: the input of the calibrated model.

All features are read from the question's trace, so `python -m training.calibrate` can compute them from a finished run.
A missing feature is left out; the model fills in its mean.
"""

import math
import re
from collections.abc import Mapping

from agents.common.contracts import GRAPH, INVALID_QUESTION, Passage, Trace, probability
from agents.llm.base import Generation
from agents.settings import ROUTE_CLASSES

LEVELS = {"high": 1.0, "medium": 0.5, "low": 0.0}
HOLDS, REPEATS, FEWEST_REPEATED, MOST_COMPARED = 0.75, 0.8, 4, 100
"""Share of an answer's words that a passage must hold; of a question's first 100 words, at least 4, that repeat it."""
REVIEWS = {"confirmed": 1.0, "corrected": 0.5}

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_SMALL = frozenset({"the", "a", "an", "of", "and", "in", "on", "at", "is", "was", "to", "by", "for", "it", "i"})


def question_features(trace: Trace) -> dict[str, float]:
    """Features of the question alone: class probabilities and the graph's state.

    No page has a part in them: pages are written by strangers, and must not make a question invalid.
    """
    features: dict[str, float] = {}
    for field, classes in ROUTE_CLASSES.items():
        for name in classes:
            share = probability(trace.route, field, (name,))
            if share is not None:
                features[f"{field}={name}"] = share
    for state in ("found", "not_found", "empty_calendar", "no_call", "down"):
        features[f"graph={state}"] = float(trace.graph_state == state)
    return features


def answer_features(
    trace: Trace,
    text: str,
    source: str,
    *,
    how: str = "generated",
    generation: Generation | None = None,
    assessment: str | None = None,
    review: str | None = None,
    evidence: str = "",
) -> dict[str, float]:
    """Features of an answer: those of its question, its source and its wording.

    Args:
        trace: The question's trace so far.
        text: The answer.
        source: ``knowledge graph`` or ``web``.
        how: ``generated`` by a model, or ``read`` or computed from the graph's values.
        generation: The reply of the model that gave the answer.
        assessment: The model's level of confidence.
        review: Verdict of the second look.
        evidence: The text that the model read.
    """
    features = question_features(trace) | _ranking_features(trace)
    features["from_graph"] = float(source == GRAPH)
    if source == GRAPH:
        features |= _calls_features(trace)
    features["from_values"] = float(how == "read")
    said = _words(text)
    new = [word for word in said if word not in set(_words(trace.query)) and word not in _SMALL]
    features |= _wording_features(text, said, new)
    if how == "generated":
        features["answer_in_evidence"] = _share(new, evidence)
        others = " ".join(fact.text for fact in trace.facts)
        if others and source != GRAPH:
            features["answer_in_facts"] = _share(new, others)
        if trace.passages:
            features["passages_with_answer"] = _share_of_passages(said, trace)
            if source != GRAPH:
                features |= _passage_features(trace, new or said)
    if generation is not None:
        features |= _generation_features(generation, source)
    if assessment is not None:
        features["self_assessment"] = LEVELS[assessment]
    if review is not None:
        features["review"] = REVIEWS.get(review, 0.0)
    return features


def _generation_features(generation: Generation, source: str) -> dict[str, float]:
    """How sure the model was of its words, and how undecided about the first one."""
    known = {"mean_log_probability": generation.mean_log_probability}
    if source != GRAPH:
        known["first_token_entropy"] = generation.first_entropy
    return {name: value for name, value in known.items() if value is not None}


def _ranking_features(trace: Trace) -> dict[str, float]:
    """How well the best passage fits the question, and how much better than the next."""
    logits = sorted((p.scores["cross_encoder"] for p in trace.passages if "cross_encoder" in p.scores), reverse=True)
    features = {"top_passage_logit": logits[0]} if logits else {}
    return features | ({"top_passage_margin": logits[0] - logits[1]} if len(logits) > 1 else {})


def _calls_features(trace: Trace) -> dict[str, float]:
    """How sure the writer was of the calls: a call for something else than the question is rarely its only idea."""
    features: dict[str, float] = {}
    written = trace.generations.get("calls")
    if written is not None and written.mean_log_probability is not None:
        features["calls_log_probability"] = written.mean_log_probability
    if trace.example_similarity is not None:
        features["example_similarity"] = trace.example_similarity
    return features


def _passage_features(trace: Trace, words: list[str]) -> dict[str, float]:
    """How well the passage with most of these words of the answer fits the question."""
    scored = [passage for passage in trace.passages if "cross_encoder" in passage.scores]
    if not scored:
        return {}
    best = max(scored, key=lambda passage: (_share(words, passage.text), passage.scores["cross_encoder"]))
    asked = [word for word in _words(trace.query) if word not in _SMALL]
    return {
        "answer_passage_logit": best.scores["cross_encoder"],
        "question_in_answer_passage": _share(asked, f"{best.page_name} {best.text}"),
    }


def _wording_features(text: str, said: list[str], new: list[str]) -> dict[str, float]:
    """Features of an answer's wording; `new` are the words that the question does not contain."""
    return {
        "answer_words": float(min(len(said), 20)),
        "answer_is_number": float(bool(said) and all(word[0].isdigit() for word in said)),
        "answer_is_yes_or_no": float(bool(said) and said[0] in {"yes", "no"}),
        "answer_is_invalid": float(text == INVALID_QUESTION),
        "answer_repeats_question": float(bool(said) and not new),
    }


def passages_with(text: str, trace: Trace) -> list[Passage]:
    """The passages that hold most of what this answer adds to the question."""
    said, asked = _words(text), set(_words(trace.query))
    new = [word for word in said if word not in asked and word not in _SMALL] or said
    return [passage for passage in trace.passages if _share(new, passage.text) >= HOLDS]


def repeats(question: str, text: str) -> bool:
    """Whether the text has most of the question in one piece, word for word."""
    asked, read = _words(question)[:MOST_COMPARED], f" {' '.join(_words(text))} "
    size = math.ceil(REPEATS * len(asked))
    pieces = (" ".join(asked[start : start + size]) for start in range(len(asked) - size + 1))
    return size >= FEWEST_REPEATED and any(f" {piece} " in read for piece in pieces)


def kind_of(features: Mapping[str, float]) -> str:
    """The kind of answer: ``web``, ``graph generated`` (by a model), or ``graph read``."""
    if features.get("from_values", 0.0) > 0:
        return "graph read"
    return "graph generated" if features.get("from_graph", 0.0) > 0 else "web"


def vector(features: Mapping[str, float], names: tuple[str, ...], fill: Mapping[str, float]) -> list[float]:
    """The features in the order of `names`; missing ones are taken from `fill`."""
    return [features.get(name, fill.get(name, 0.0)) for name in names]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace(",", ""))


def _share(words: list[str], text: str) -> float:
    """The share of the words that are in the text; 0 for no words."""
    found = set(_words(text))
    return sum(word in found for word in words) / len(words) if words else 0.0


def _share_of_passages(words: list[str], trace: Trace) -> float:
    """The share of passages that contain the answer word for word."""
    wanted = f" {' '.join(words)} "
    having = sum(wanted in f" {' '.join(_words(passage.text))} " for passage in trace.passages)
    return having / len(trace.passages) if words else 0.0
