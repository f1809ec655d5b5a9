"""Reranks passages with the cross-encoder: one call per batch, each question's best candidates first."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.common.contracts import Passage
from agents.common.deadline import Deadline
from agents.encoders import CrossEncoder
from agents.settings import RerankSettings
from agents.web.ranking import cross_encoder_logits, with_heading

SCORE_NAME = "cross_encoder"


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best passages of one question, and how much of the work was done.

    `scored` of `pairs` passages were scored before the deadline; `without_number` of those have no usable logit (a
    float16 overflow, for example).
    """

    passages: list[Passage]
    pairs: int
    scored: int
    without_number: int = 0


def probability(logit: float) -> float:
    """The logistic function: turns a cross-encoder's raw logit into a probability of relevance."""
    return 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1.0 + math.exp(logit))


def reading_key(text: str) -> str:
    """A key that ignores case, punctuation and blanks."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def distinct(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without later ones with the same words: pages repeat themselves and each other."""
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(reading_key(passage.text), passage)
    found.pop("", None)
    return list(found.values())


def rerank(
    encoder: CrossEncoder | None,
    queries: Sequence[str],
    candidates: Sequence[Sequence[Passage]],
    settings: RerankSettings,
    deadline: Deadline,
) -> list[Reranked]:
    """The `top_k` passages of each question, best first.

    Passages that ran out of time follow in their retrieval order.
    """
    chosen = [own[: settings.max_pairs] for own in candidates]
    texts = {owner: [with_heading(each.heading, each.text) for each in own] for owner, own in enumerate(chosen)}
    logits = cross_encoder_logits(encoder, queries, texts, deadline)
    return [_by_logit(own, logits[owner], settings.top_k) for owner, own in enumerate(chosen)]


def _by_logit(passages: Sequence[Passage], logits: Sequence[float | None], top_k: int) -> Reranked:
    scored, unscored = [], []
    for passage, logit in zip(passages, logits, strict=True):
        if logit is None or math.isnan(logit):
            unscored.append(passage)
        else:
            scored.append(replace(passage, scores={**passage.scores, SCORE_NAME: logit}))
    scored.sort(key=lambda passage: -passage.scores[SCORE_NAME])
    reached = sum(logit is not None for logit in logits)
    return Reranked([*scored, *unscored][:top_k], len(passages), reached, reached - len(scored))
