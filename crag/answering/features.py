"""Numeric features of an answer: the input of the calibrated model.

All features are read from the question's trace, so `crag train calibrate` can compute them from a finished run.
A missing feature is left out; the model fills in its mean.
"""

import re
from collections.abc import Mapping, Sequence

from crag.answering.answerer import Draft
from crag.core.contracts import ARTICLE_SCHEME, GRAPH, INVALID_QUESTION, Passage, Trace
from crag.engines.llm.base import Generation
from crag.settings import ROUTE_CLASSES

LEVELS = {"high": 1.0, "medium": 0.5, "low": 0.0}
"""The level that the model states -> the feature `self_assessment`."""
GRAPH_STATES = ("found", "not_found", "empty_calendar", "no_call", "down")
"""What became of the question's calls; each state is a feature (`crag.core.contracts.Trace.graph_state`)."""
REVIEWS = {"confirmed": 1.0, "corrected": 0.5}
"""The verdict of the second look -> the feature `review`; any other verdict is 0."""
MOST_ANSWER_WORDS = 20
"""A longer answer counts as one of this many words."""

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_FUNCTION_WORDS = frozenset(
    {"the", "a", "an", "of", "and", "in", "on", "at", "is", "was", "to", "by", "for", "it", "i"}
)


def answer_features(trace: Trace, draft: Draft) -> dict[str, float]:
    """Features of an answer: those of its question, its wording, its sources, and what the model said about it."""
    features = _question_features(trace)
    features |= _wording_features(trace, draft)
    if draft.generation is not None:
        features |= _support_features(trace, draft)

    features |= _ranking_features(trace)
    if draft.level:
        features["self_assessment"] = LEVELS[draft.level]
    if draft.review:
        features["review"] = REVIEWS.get(draft.review.verdict, 0.0)

    is_from_graph = draft.answer.source == GRAPH
    if is_from_graph:
        features |= _call_features(trace)
    if draft.generation is not None:
        features |= _certainty_features(draft.generation, with_entropy=not is_from_graph)
    return features


def answer_kind(features: Mapping[str, float]) -> str:
    """The kind of answer: ``web``, ``graph generated`` (by a model), or ``graph read`` (by rules)."""
    if features.get("from_values", 0.0) > 0:
        return "graph read"
    return "graph generated" if features.get("from_graph", 0.0) > 0 else "web"


def holds_answer(answer_words: Sequence[str], text: str) -> bool:
    """Whether a text has all these words, in any order; never for no words.

    >>> holds_answer(["carter"], "Jimmy Carter won.")
    True
    """
    return share(answer_words, text) == 1.0


# --- groups of features -----------------------------------------------------------------------------------------------


def _question_features(trace: Trace) -> dict[str, float]:
    """The router's probabilities of all classes, the state of the graph, and whether an article of it was read."""
    features = {}
    for field, class_names in ROUTE_CLASSES.items():
        for class_name in class_names:
            class_probability = trace.route.probability(field, (class_name,))
            if class_probability is not None:
                features[f"{field}={class_name}"] = class_probability

    for state in GRAPH_STATES:
        features[f"graph={state}"] = float(trace.graph_state == state)

    features["article"] = float(any(passage.url.startswith(ARTICLE_SCHEME) for passage in trace.found_passages))
    return features


def _wording_features(trace: Trace, draft: Draft) -> dict[str, float]:
    """Where the answer comes from and what it looks like."""
    text = draft.answer.text
    words = split_words(text)
    has_words = bool(words)
    has_new_words = bool(_new_words(words, trace))

    return {
        "from_graph": float(draft.answer.source == GRAPH),
        "from_values": float(draft.generation is None),
        "answer_words": float(min(len(words), MOST_ANSWER_WORDS)),
        "answer_is_number": float(has_words and all(word[0].isdigit() for word in words)),
        "answer_is_yes_or_no": float(has_words and words[0] in {"yes", "no"}),
        "answer_is_invalid": float(text == INVALID_QUESTION),
        "answer_repeats_question": float(has_words and not has_new_words),
    }


def _ranking_features(trace: Trace) -> dict[str, float]:
    """How well the best passage fits the question, and by how much better than the second."""
    logits = [_logit(passage) for passage in _scored_passages(trace)]
    logits.sort(reverse=True)

    features = {}
    if logits:
        features["top_passage_logit"] = logits[0]
    if len(logits) > 1:
        features["top_passage_margin"] = logits[0] - logits[1]
    return features


def _call_features(trace: Trace) -> dict[str, float]:
    """How sure the writer was of the calls: a call for something else than the question is rarely its only idea."""
    calls = trace.generations.get("calls")
    features = {}
    if calls is not None and calls.mean_log_probability is not None:
        features["calls_log_probability"] = calls.mean_log_probability
    if trace.example_similarity is not None:
        features["example_similarity"] = trace.example_similarity
    return features


def _certainty_features(generation: Generation, *, with_entropy: bool) -> dict[str, float]:
    """How sure the model was of its words, and how undecided about the first one."""
    features = {}
    if generation.mean_log_probability is not None:
        features["mean_log_probability"] = generation.mean_log_probability
    if with_entropy and generation.first_entropy is not None:
        features["first_token_entropy"] = generation.first_entropy
    return features


def _support_features(trace: Trace, draft: Draft) -> dict[str, float]:
    """Where else the words of a generated answer are: its context, facts, passages."""
    is_from_graph = draft.answer.source == GRAPH
    words = split_words(draft.answer.text)
    new_words = _new_words(words, trace)

    # The context of the draft. Calibration files and saved traces know the feature by its older name.
    features = {"answer_in_evidence": share(new_words, draft.context)}
    if trace.facts and not is_from_graph:
        all_facts = " ".join(fact.text for fact in trace.facts)
        features["answer_in_facts"] = share(new_words, all_facts)
    if trace.found_passages:
        features["passages_with_answer"] = _share_of_passages_with(words, trace.found_passages)

    scored = _scored_passages(trace)
    if scored and not is_from_graph:
        # An answer in the question's own words has no new ones; then all of them count.
        features |= _answer_passage_features(trace, scored, new_words or words)
    return features


def _share_of_passages_with(words: Sequence[str], passages: Sequence[Passage]) -> float:
    """The share of the passages that have these words in this order; 0 for no words."""
    if not words:
        return 0.0

    # Blanks at both ends, so that "art" is not found in "start".
    phrase = f" {' '.join(words)} "
    having = 0
    for passage in passages:
        passage_words = " ".join(split_words(passage.text))
        if phrase in f" {passage_words} ":
            having += 1
    return having / len(passages)


def _answer_passage_features(trace: Trace, scored: Sequence[Passage], words: list[str]) -> dict[str, float]:
    """How well the passage with most of these words of the answer fits the question."""
    # Of passages with equally many of the words, the one that fits the question best.
    best = max(scored, key=lambda passage: (share(words, passage.text), _logit(passage)))
    question_words = [word for word in split_words(trace.query) if word not in _FUNCTION_WORDS]
    return {
        "answer_passage_logit": _logit(best),
        "question_in_answer_passage": share(question_words, f"{best.page_name} {best.text}"),
    }


def _scored_passages(trace: Trace) -> list[Passage]:
    """The passages that a cross-encoder scored."""
    return [passage for passage in trace.found_passages if "cross_encoder" in passage.scores]


def _logit(passage: Passage) -> float:
    """The cross-encoder's score of a scored passage."""
    return passage.scores["cross_encoder"]


# --- words ------------------------------------------------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """The words and numbers of a text, in lower case; ``1,250.5`` is one."""
    return _WORD.findall(text.lower().replace(",", ""))


def added_words(text: str, trace: Trace) -> list[str]:
    """The words that an answer adds to the question; all of them where it adds none."""
    words = split_words(text)
    return _new_words(words, trace) or words


def share(words: Sequence[str], text: str) -> float:
    """The share of the words that are in the text; 0 for no words."""
    if not words:
        return 0.0
    words_in_text = set(split_words(text))
    return sum(word in words_in_text for word in words) / len(words)


def _new_words(words: list[str], trace: Trace) -> list[str]:
    """The words of an answer that the question does not have, without function words."""
    known_words = _FUNCTION_WORDS.union(split_words(trace.query))
    return [word for word in words if word not in known_words]
