"""The evidence of an answer, for people: the sentence of a page, or the fact of a call, that holds it."""

import re

from crag.answering.features import added_words, share, words_of
from crag.core.contracts import GRAPH, Decision, Evidence, Trace

LEAST_SHARE = 0.5
"""Of the words that an answer adds to its question, a sentence with fewer is no evidence."""
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b[A-Z][a-z]\.)\s+(?=[^a-z\s])|\n+")
"""Not after an initial or a title such as Dr."""


def evidence_of(trace: Trace) -> Evidence | None:
    """The sentence with most of the answer's words; None if none has enough, and for an abstention.

    Facts stand before passages, and passages in the order of the reranker; in a passage, words of the question decide.
    A value that rules read from the graph rests on all facts of its calls where no single one holds it.
    """
    answer = trace.answer
    if answer is None or answer.decision is Decision.ABSTAINED:
        return None
    of_graph = answer.source == GRAPH
    texts = [(fact.text, fact.source, "") for fact in trace.facts]
    texts += [] if of_graph else [(one.text, one.page_name or one.url, one.url) for one in trace.passages]
    wanted, asked = added_words(answer.text, trace), words_of(trace.query)
    best, found = (LEAST_SHARE, float("-inf"), 0.0), None
    for rank, (text, source, url) in enumerate(texts):
        for sentence in filter(None, map(str.strip, _SENTENCE_END.split(text))):
            key = (share(wanted, sentence), -float(rank), share(asked, sentence))
            if key > best:
                best, found = key, Evidence(sentence, source, url)
    if found is None and of_graph and trace.facts and "graph_answer" not in trace.generations:
        return Evidence(" ".join(fact.text for fact in trace.facts), "; ".join(fact.source for fact in trace.facts))
    return found
