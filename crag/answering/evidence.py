"""The evidence of an answer, for people: the sentence of a page, or the fact of a call, that holds it."""

import re

from crag.answering.features import added_words, share, split_words
from crag.core.contracts import GRAPH, Decision, Evidence, Trace

LEAST_SHARE = 0.5
"""Of the words that an answer adds to its question, a sentence with fewer is no evidence."""

_SENTENCE_END = re.compile(
    r"""
      (?<=[.!?])
      (?<! \b[A-Z]\. )            # not after an initial: "J. Ek"
      (?<! \b[A-Z][a-z]\. )       # not after a title: "Dr. Ek"
      \s+ (?= [^a-z\s] )          # not before a small letter: "approx. ten"
    | \n+
    """,
    re.VERBOSE,
)


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
    sources = [(fact.text, fact.source, "") for fact in trace.facts]
    if not is_from_graph:
        sources += [(passage.text, passage.page_name or passage.url, passage.url) for passage in trace.passages]

    answer_words = added_words(answer.text, trace)
    question_words = split_words(trace.query)

    best_evidence: Evidence | None = None
    best_fit = (0.0, 0, 0.0)
    for rank, (text, source, url) in enumerate(sources):
        for sentence in _split_sentences(text):
            answer_share = share(answer_words, sentence)
            if answer_share < LEAST_SHARE:
                continue

            # Compared in this order. An earlier source is better, and so has the larger number.
            fit = (answer_share, -rank, share(question_words, sentence))
            if best_evidence is None or fit > best_fit:
                best_fit = fit
                best_evidence = Evidence(sentence, source, url)

    read_by_rules = is_from_graph and "graph_answer" not in trace.generations
    if best_evidence is None and read_by_rules and trace.facts:
        all_facts = " ".join(fact.text for fact in trace.facts)
        all_calls = "; ".join(fact.source for fact in trace.facts)
        return Evidence(all_facts, all_calls)
    return best_evidence


def _split_sentences(text: str) -> list[str]:
    """The sentences of a text, without blank ones."""
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text)]
    return [sentence for sentence in sentences if sentence]
