"""A claim: question, answer and evidence in one text, as the verifier reads it.

Training (`training.verifier`) and the agent write claims with the same functions.
"""

import re
from collections.abc import Sequence

from agents.contracts import GRAPH, Fact, Passage, Trace
from agents.queries import parse_query_time

SEPARATOR = " [SEP] "
"""The encoder's own mark between texts. Pages cannot forge it: their marks are broken (`agents.web.extract.clean`)."""
SUPPORTED = "supported"
"""The field that the verifier predicts: no or yes."""
EVIDENCE_CHARACTERS = 360
"""About 90 tokens: what the verifier reads of the evidence."""
FACT_CHARACTERS = 260


def claim(question: str, asked_on: str, answer: str, evidence: str) -> str:
    """The verifier's input. `asked_on` is the question's day, as in ``2024-03-05``, or empty."""
    asked = f"{question} ({asked_on})" if asked_on else question
    return SEPARATOR.join((asked, answer, evidence))


def claim_of(trace: Trace, answer: str, source: str) -> str:
    """The claim of an answer with the evidence of its trace: calls and facts, or the page that holds it."""
    asked = parse_query_time(trace.query_time)
    evidence = graph_evidence(trace.calls, trace.facts) if source == GRAPH else page_evidence(answer, trace.passages)
    return claim(trace.query, f"{asked:%Y-%m-%d}" if asked else "", answer, evidence)


def graph_evidence(calls: Sequence[str], facts: Sequence[Fact]) -> str:
    """The calls, because they show what was asked, and the facts."""
    said = " ".join(fact.text for fact in facts)[:FACT_CHARACTERS]
    return f"{'; '.join(calls)[:FACT_CHARACTERS]}: {said}"


def page_evidence(answer: str, passages: Sequence[Passage]) -> str:
    """The part of the passages around the answer; without the answer's words the beginning of the best passage.

    `passages` are best first. The passage with most of the answer's words is taken, the better one of two alike.
    """
    if not passages:
        return ""
    wanted = _words(answer)
    shares = [len(wanted & _words(passage.text)) for passage in passages]
    best = passages[max(range(len(passages)), key=lambda place: (shares[place], -place))]
    return f"{best.page_name[:80]}: {window(answer, best.text)}"


def window(answer: str, text: str) -> str:
    """`EVIDENCE_CHARACTERS` of the text, with the answer in the middle if the text holds it."""
    place = max(0, text.casefold().find(answer.casefold()))
    start = max(0, min(place - EVIDENCE_CHARACTERS // 2, len(text) - EVIDENCE_CHARACTERS))
    return " ".join(text[start : start + EVIDENCE_CHARACTERS].split())


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
