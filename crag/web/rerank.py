"""Step 5: reranks the candidate passages with a cross-encoder, which reads question and passage together."""

import math
from collections.abc import Sequence
from dataclasses import replace

from crag.core.contracts import Passage
from crag.core.deadline import Deadline
from crag.core.logistic import logistic
from crag.engines.encoders import CrossEncoder
from crag.settings import RerankSettings
from crag.web.page_search import PageSearch, prepend_heading
from crag.web.ranking import cross_encoder_logits

SCORE_NAME = "cross_encoder"
"""The key of the raw logit in the scores of a passage."""


def rerank(
    searches: Sequence[PageSearch],
    cross_encoder: CrossEncoder | None,
    settings: RerankSettings,
    deadline: Deadline,
) -> None:
    """Keep the `top_k` passages of each search; those that ran out of time follow in their retrieval order."""
    questions = [search.query.text for search in searches]
    # Each pair costs a pass through the model, hence the limit.
    candidates = [search.passages[: settings.max_pairs] for search in searches]
    texts_by_search = [_list_searched_texts(passages) for passages in candidates]
    logits_by_search = cross_encoder_logits(cross_encoder, questions, texts_by_search, deadline)

    for search, passages, logits in zip(searches, candidates, logits_by_search, strict=True):
        best_first = _sort_by_logit(passages, logits)
        search.passages = best_first[: settings.top_k]
        search.events += _report_unscored(logits)


def _list_searched_texts(passages: Sequence[Passage]) -> list[str]:
    return [prepend_heading(passage.heading, passage.text) for passage in passages]


def best_probability(passages: Sequence[Passage]) -> float | None:
    """The logistic function of the best cross-encoder logit; None if no passage has one."""
    logits = [passage.scores[SCORE_NAME] for passage in passages if SCORE_NAME in passage.scores]
    return logistic(max(logits)) if logits else None


def _sort_by_logit(passages: Sequence[Passage], logits: Sequence[float | None]) -> list[Passage]:
    """The passages with their logits, best first; those without a number follow in the given order."""
    scored = []
    unscored = []
    for passage, logit in zip(passages, logits, strict=True):
        if logit is None or math.isnan(logit):
            unscored.append(passage)
            continue
        # Added last: `Passage.score` is the score of the last step.
        scores = {**passage.scores, SCORE_NAME: logit}
        scored.append(replace(passage, scores=scores))

    scored.sort(key=lambda passage: -passage.scores[SCORE_NAME])
    return scored + unscored


def _report_unscored(logits: Sequence[float | None]) -> list[str]:
    """Sentences about passages that ran out of time or got no number."""
    events = []
    in_time = [logit for logit in logits if logit is not None]
    if len(in_time) < len(logits):
        events.append(f"reranking stopped at the clock: {len(in_time)} of {len(logits)} passages were scored")

    nan_count = sum(math.isnan(logit) for logit in in_time)  # a float16 overflow, for example
    if nan_count:
        events.append(f"the cross-encoder gave no number for {nan_count} of {len(in_time)} passages")
    return events
