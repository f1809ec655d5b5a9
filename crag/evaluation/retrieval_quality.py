"""Measures of the retrieval of a run, from gold answers, passages and evidence; no model is asked.

Of a question, in its row of predictions.jsonl:

| field | meaning |
|---|---|
| `answer_in_context` | the context that the model read holds a gold answer (context recall) |
| `answer_rank` | the rank, from 1, of the first passage that holds a gold answer |
| `passages_with_answer` | the share of the passages that hold one (context precision, without weights) |
| `evidence_supports_answer` | the sentence that the answer rests on holds the answer that was given (faithfulness) |

A passage holds an answer if the rules judge would accept it as one and it is about the question: `answer_in_text`.
Facts of the graph and evidence were chosen for the question, so there the judge alone decides. A field is None where it
cannot be measured: without texts, without a gold answer, or with one that no page spells out (yes, no, true, "invalid
question"); `evidence_supports_answer` is None for abstentions and such answers. `answer_rank` is also None if
no passage holds an answer: then `passages_with_answer` is 0.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.evaluation.answer_in_text import ContextPassage, is_accepted, is_yes_or_no, look_for_answer, read_passages
from crag.evaluation.batches import gold_answers
from crag.evaluation.judge import ReadClaim

IN_CONTEXT = "answer_in_context"
RANK = "answer_rank"
PASSAGES = "passages_with_answer"
SUPPORTED = "evidence_supports_answer"
FIELDS = (IN_CONTEXT, RANK, PASSAGES, SUPPORTED)
"""Of a question."""
RECIPROCAL_RANK = "mean_reciprocal_rank"
MEANS = (IN_CONTEXT, RECIPROCAL_RANK, PASSAGES, SUPPORTED)
"""Of a run."""
_TRUTH = ("true", "false")
LONGEST_TEXT = 50_000
"""Characters that are read of a context or a passage: another agent's may be whole pages, and reading takes time."""


def measure_question(row: Mapping[str, Any], prediction: str, trace: Mapping[str, Any]) -> dict[str, Any]:
    """The `FIELDS` of a question. `row` has the query and the gold answers; another agent's trace may have any form."""
    measured: dict[str, Any] = dict.fromkeys(FIELDS)
    query = row["query"]
    golds = [str(gold) for gold in gold_answers(row) if _is_in_texts(str(gold))]
    if golds:
        context = _read_context(trace)
        if context is not None:
            in_facts = _is_any_accepted(query, golds, _read_facts(trace, context))
            measured[IN_CONTEXT] = in_facts or _holds_any(query, golds, read_passages(context))

        holding = [_holds_any(query, golds, [passage]) for passage in _passages_of_trace(trace)]
        if holding:
            measured[RANK] = holding.index(True) + 1 if True in holding else None
            measured[PASSAGES] = round(fmean(holding), 4)

    measured[SUPPORTED] = _is_supported(query, prediction, trace)
    return measured


def _is_in_texts(answer: str) -> bool:
    """Whether a page can spell the answer out."""
    text = answer.strip().lower()
    if not text or INVALID_QUESTION in text:
        return False
    return not is_yes_or_no(text) and text.strip(".") not in _TRUTH


def _holds_any(query: str, golds: Sequence[str], passages: Sequence[ContextPassage]) -> bool:
    return any(look_for_answer(ReadClaim(query, gold, ""), passages).is_held for gold in golds)


def _is_any_accepted(query: str, golds: Sequence[str], texts: Sequence[str]) -> bool:
    return any(is_accepted(ReadClaim(query, gold, ""), text) for gold in golds for text in texts)


def _read_context(trace: Mapping[str, Any]) -> str | None:
    """What the model read; empty if rules read facts, or if nothing was found; None if the agent looked for nothing."""
    context = trace.get("context")
    if isinstance(context, str) and context.strip():
        return context[:LONGEST_TEXT]

    # Pages that gave nothing are a failure of retrieval. A string is another agent's own note.
    read = trace.get("pages_read") or trace.get("facts") or trace.get("passages")
    has_read = bool(read) and not isinstance(read, str)
    return "" if has_read else None


def _read_facts(trace: Mapping[str, Any], context: str) -> list[str]:
    """The facts in the context; all that were found if there is none: rules may have read their values."""
    entries = trace.get("facts")
    if not isinstance(entries, list):
        return []

    facts: list[str] = []
    for entry in filter(_has_text, entries):
        fact = entry["text"]
        if not context or fact in context:
            facts.append(fact[:LONGEST_TEXT])
    return facts


def _passages_of_trace(trace: Mapping[str, Any]) -> list[ContextPassage]:
    """The passages, the best first."""
    entries = trace.get("passages")
    if not isinstance(entries, list):
        return []
    return [_make_passage(str(entry.get("page_name") or ""), entry["text"]) for entry in filter(_has_text, entries)]


def _has_text(entry: object) -> bool:
    """Whether an entry of a list in a trace is an object with a text."""
    return isinstance(entry, Mapping) and isinstance(entry.get("text"), str)


def _make_passage(title: str, text: str) -> ContextPassage:
    return ContextPassage(title, f"{title}\n{text[:LONGEST_TEXT]}")


def _is_supported(query: str, prediction: str, trace: Mapping[str, Any]) -> bool | None:
    """Whether the evidence holds the answer that was given; False without evidence; None if that means nothing."""
    is_answer = I_DONT_KNOW not in prediction.lower() and _is_in_texts(prediction)
    if not is_answer or "evidence" not in trace:
        return None

    evidence = trace["evidence"]
    if not isinstance(evidence, Mapping) or not isinstance(evidence.get("sentence"), str):
        return False
    sentence = evidence["sentence"][:LONGEST_TEXT]
    # As a text too: "it has not replied" denies the answer only where the sentence is itself an answer
    passage = _make_passage(str(evidence.get("source") or ""), sentence)
    return _is_any_accepted(query, [prediction], [sentence]) or _holds_any(query, [prediction], [passage])


# --- a whole run ------------------------------------------------------------------------------------------------------


def summarise_retrieval(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over the questions that could be measured: ``retrieval`` in results.json; None for a mean of nothing.

    `mean_reciprocal_rank` counts 0 for a question none of whose passages holds an answer (Voorhees 1999). `contexts`,
    `ranked` and `answers` are how many questions were measured: their context, their passages, their evidence.
    """
    contexts = _measured(rows, IN_CONTEXT)
    shares = _measured(rows, PASSAGES)
    supported = _measured(rows, SUPPORTED)
    # Rows with passages: where none holds an answer, there is no rank
    ranks = [row.get(RANK) for row in rows if row.get(PASSAGES) is not None]
    return {
        IN_CONTEXT: _mean(contexts),
        RECIPROCAL_RANK: _mean([1 / rank if rank else 0.0 for rank in ranks]),
        PASSAGES: _mean(shares),
        SUPPORTED: _mean(supported),
        "contexts": len(contexts),
        "ranked": len(ranks),
        "answers": len(supported),
    }


def _measured(rows: Sequence[Mapping[str, Any]], field: str) -> list[float]:
    # A row of an older version lacks the fields
    return [float(row[field]) for row in rows if row.get(field) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


def retrieval_line(results: Mapping[str, Any]) -> str:
    """The means in one line of a summary; empty if nothing was measured.

    >>> retrieval_line({"retrieval": summarise_retrieval([{"answer_in_context": True}, {"answer_in_context": False}])})
    'retrieval: answer in context 0.500 of 2'
    """
    measured = results.get("retrieval") or {}  # older runs have none
    parts: list[str] = []
    if measured.get("contexts"):
        parts.append(f"answer in context {measured[IN_CONTEXT]:.3f} of {measured['contexts']}")
    if measured.get("ranked"):
        parts.append(f"mean reciprocal rank of its passage {measured[RECIPROCAL_RANK]:.3f}")
        parts.append(f"passages with it {measured[PASSAGES]:.3f}")
    if measured.get("answers"):
        parts.append(f"evidence supports the answer {measured[SUPPORTED]:.3f} of {measured['answers']}")
    return f"retrieval: {', '.join(parts)}" if parts else ""
