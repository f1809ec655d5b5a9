"""The evidence of an answer, for people: the sentence of a page, or the fact of a call, that holds it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from crag.answering.features import added_words, share, split_words
from crag.core.contracts import GRAPH, Decision, Evidence, Trace
from crag.text.sentences import sentence_ends

LEAST_SHARE = 0.5
"""Of the words that an answer adds to its question, a sentence with fewer is no evidence."""


class _Source(NamedTuple):
    """A text that may hold the answer: a fact with its call, or a passage with the title and address of its page."""

    text: str
    name: str
    url: str = ""


def find_evidence(trace: Trace) -> Evidence | None:
    """The sentence with most of the answer's words; None if none has enough, and for an abstention.

    Facts come before passages, and passages in the order of the reranker; within a passage, words of the question
    decide. A value that rules read from the graph rests on all facts of its calls if no single one holds it.
    """
    answer = trace.answer
    if answer is None or answer.decision is Decision.ABSTAINED:
        return None

    # An answer from the graph must not be credited to a page that has the same words.
    is_from_graph = answer.source == GRAPH
    sources = [_Source(fact.text, fact.source) for fact in trace.facts]
    if not is_from_graph:
        sources += [_Source(passage.text, passage.page_name or passage.url, passage.url) for passage in trace.passages]

    evidence = _best_sentence(sources, added_words(answer.text, trace), split_words(trace.query))
    read_by_rules = is_from_graph and "graph_answer" not in trace.generations
    if evidence is None and read_by_rules and trace.facts:
        all_facts = " ".join(fact.text for fact in trace.facts)
        all_calls = "; ".join(fact.source for fact in trace.facts)
        return Evidence(all_facts, all_calls)
    return evidence


def _best_sentence(
    sources: Sequence[_Source],
    answer_words: Sequence[str],
    question_words: Sequence[str],
) -> Evidence | None:
    """The sentence of the sources with most of the answer's words, of equal ones the first; None: none has enough."""
    best_evidence: Evidence | None = None
    best_fit = (0.0, 0, 0.0)
    for rank, source in enumerate(sources):
        for sentence in _split_sentences(source.text):
            answer_share = share(answer_words, sentence)
            if answer_share < LEAST_SHARE:
                continue

            # Compared in this order. An earlier source is better, and so has the larger number.
            fit = (answer_share, -rank, share(question_words, sentence))
            if best_evidence is None or fit > best_fit:
                best_fit = fit
                best_evidence = Evidence(sentence, source.name, source.url)
    return best_evidence


def _split_sentences(text: str) -> list[str]:
    """The sentences of a text, without blank ones."""
    sentences: list[str] = []
    for line in text.split("\n"):
        bounds = [0, *sentence_ends(line, 0, len(line)), len(line)]
        sentences += [line[start:end].strip() for start, end in pairwise(bounds)]
    return [sentence for sentence in sentences if sentence]
