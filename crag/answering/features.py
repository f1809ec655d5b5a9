"""Numeric features of an answer: the input of the calibrated model.

All features are read from the question's trace, so `crag train calibrate` can compute them from a finished run.
A missing feature is left out; the model fills in its mean.
"""

import re
from collections.abc import Mapping, Sequence

from crag.answering.answerer import Draft
from crag.core.contracts import GRAPH, I_DONT_KNOW, INVALID_QUESTION, Passage, Trace, probability
from crag.settings import ROUTE_CLASSES
from crag.text.matching import same_answer

LEVELS = {"high": 1.0, "medium": 0.5, "low": 0.0}
GRAPH_STATES = ("found", "not_found", "empty_calendar", "no_call", "down")
REVIEWS = {"confirmed": 1.0, "corrected": 0.5}

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_SMALL = frozenset({"the", "a", "an", "of", "and", "in", "on", "at", "is", "was", "to", "by", "for", "it", "i"})


def answer_features(trace: Trace, draft: Draft) -> dict[str, float]:
    """Features of an answer: those of its question, its source, its wording, and what the model said about it."""
    text, generation, of_graph = draft.answer.text, draft.generation, draft.answer.source == GRAPH
    words = words_of(text)
    new = _new_words(words, trace)
    classes = [(field, name) for field, names in ROUTE_CLASSES.items() for name in names]
    shares = {f"{field}={name}": probability(trace.route, field, (name,)) for field, name in classes}
    features = {name: own for name, own in shares.items() if own is not None} | {
        **{f"graph={state}": float(trace.graph_state == state) for state in GRAPH_STATES},
        "from_graph": float(of_graph),
        "from_values": float(generation is None),
        "answer_words": float(min(len(words), 20)),
        "answer_is_number": float(bool(words) and all(word[0].isdigit() for word in words)),
        "answer_is_yes_or_no": float(bool(words) and words[0] in {"yes", "no"}),
        "answer_is_invalid": float(text == INVALID_QUESTION),
        "answer_repeats_question": float(bool(words) and not new),
    }
    scored = [passage for passage in trace.passages if "cross_encoder" in passage.scores]
    logits = sorted((passage.scores["cross_encoder"] for passage in scored), reverse=True)
    known: dict[str, float | None] = {
        "top_passage_logit": logits[0] if logits else None,
        "top_passage_margin": logits[0] - logits[1] if len(logits) > 1 else None,
        "self_assessment": LEVELS[draft.level] if draft.level else None,
        "review": REVIEWS.get(draft.review.verdict, 0.0) if draft.review else None,
    }
    if of_graph:
        # How sure the writer was of the calls: a call for something else than the question is rarely its only idea.
        calls = trace.generations.get("calls")
        known["calls_log_probability"] = calls.mean_log_probability if calls is not None else None
        known["example_similarity"] = trace.example_similarity
    if generation is not None:
        # How sure the model was of its words, and how undecided about the first one.
        known["mean_log_probability"] = generation.mean_log_probability
        known["first_token_entropy"] = None if of_graph else generation.first_entropy
        features["answer_in_evidence"] = share(new, draft.evidence)
        if trace.facts and not of_graph:
            features["answer_in_facts"] = share(new, " ".join(fact.text for fact in trace.facts))
        if trace.passages:
            wanted = f" {' '.join(words)} "
            having = sum(wanted in f" {' '.join(words_of(passage.text))} " for passage in trace.passages)
            features["passages_with_answer"] = having / len(trace.passages) if words else 0.0
        if scored and not of_graph:
            features |= _passage_features(trace, scored, new or words)
        if draft.alone:
            features["pages_for"] = pages_for(text, draft.alone)
    return features | {name: value for name, value in known.items() if value is not None}


def pages_for(text: str, alone: Sequence[str]) -> float:
    """How many pages, read alone, give this answer."""
    return float(sum(answer != I_DONT_KNOW and same_answer(answer, text) for answer in alone))


def _passage_features(trace: Trace, scored: Sequence[Passage], words: list[str]) -> dict[str, float]:
    """How well the passage with most of these words of the answer fits the question."""
    best = max(scored, key=lambda passage: (share(words, passage.text), passage.scores["cross_encoder"]))
    asked = [word for word in words_of(trace.query) if word not in _SMALL]
    return {
        "answer_passage_logit": best.scores["cross_encoder"],
        "question_in_answer_passage": share(asked, f"{best.page_name} {best.text}"),
    }


def kind_of(features: Mapping[str, float]) -> str:
    """The kind of answer: ``web``, ``graph generated`` (by a model), or ``graph read``."""
    if features.get("from_values", 0.0) > 0:
        return "graph read"
    return "graph generated" if features.get("from_graph", 0.0) > 0 else "web"


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in lower case."""
    return _WORD.findall(text.lower().replace(",", ""))


def added_words(text: str, trace: Trace) -> list[str]:
    """The words that an answer adds to the question; all of them where it adds none."""
    words = words_of(text)
    return _new_words(words, trace) or words


def _new_words(words: list[str], trace: Trace) -> list[str]:
    """The words of an answer that the question does not have."""
    asked = set(words_of(trace.query))
    return [word for word in words if word not in asked and word not in _SMALL]


def share(words: Sequence[str], text: str) -> float:
    """The share of the words that are in the text; 0 for no words."""
    found = set(words_of(text))
    return sum(word in found for word in words) / len(words) if words else 0.0
