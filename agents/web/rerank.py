"""The cross-encoder's part: all questions of a batch in one call, each question's most promising passages first."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from agents.contracts import Passage
from agents.deadline import Deadline
from agents.encoders.base import CrossEncoder
from agents.settings import RerankSettings
from agents.web.ranking import in_turns

SCORE_NAME = "cross_encoder"
_NOT_WORD = re.compile(r"\W+")


def probability(logit: float) -> float:
    """The logistic function: what a cross-encoder's raw logit says as a probability of relevance."""
    return 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1.0 + math.exp(logit))


def reading_key(text: str) -> str:
    """The same for texts that differ only in capitals, punctuation and blanks."""
    return _NOT_WORD.sub(" ", text.lower()).strip()


def distinct(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without later ones that read the same: pages repeat themselves and each other."""
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(reading_key(passage.text), passage)
    found.pop("", None)
    return list(found.values())


def rerank(
    encoder: CrossEncoder,
    queries: Sequence[str],
    candidates: Sequence[Sequence[Passage]],
    settings: RerankSettings,
    deadline: Deadline,
) -> list[list[Passage]]:
    """The `top_k` passages of each question, best first.

    Passages that the deadline did not allow to be scored follow in their order of retrieval.
    """
    chosen = {owner: list(own)[: settings.max_pairs] for owner, own in enumerate(candidates)}
    turns = in_turns(chosen)
    logits = encoder.score([(queries[owner], _shown(passage, settings)) for owner, passage in turns], deadline)
    scored: dict[int, list[Passage]] = {owner: [] for owner in chosen}
    unscored: dict[int, list[Passage]] = {owner: [] for owner in chosen}
    for (owner, passage), logit in zip(turns, logits, strict=True):
        if logit is None or math.isnan(logit):
            unscored[owner].append(passage)
        else:
            scored[owner].append(replace(passage, scores={**passage.scores, SCORE_NAME: logit}))
    return [
        [*sorted(scored[owner], key=lambda passage: -passage.scores[SCORE_NAME]), *unscored[owner]][: settings.top_k]
        for owner in chosen
    ]


def _shown(passage: Passage, settings: RerankSettings) -> str:
    return f"{passage.page_name}\n{passage.text}" if settings.with_page_name and passage.page_name else passage.text
