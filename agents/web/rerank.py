"""The cross-encoder's part: all questions of a batch in one call, each question's most promising passages first."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts import Passage
from agents.deadline import Deadline
from agents.encoders.base import CrossEncoder
from agents.settings import RerankSettings
from agents.web.ranking import in_turns, with_heading

SCORE_NAME = "cross_encoder"
_NOT_WORD = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best passages of one question, and how much of the work behind them was done.

    `scored` of `pairs` passages went through the cross-encoder before the clock cut it off; for `without_number` of
    those it gave no usable logit (a float16 overflow, for example).
    """

    passages: list[Passage]
    pairs: int
    scored: int
    without_number: int = 0


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
) -> list[Reranked]:
    """The `top_k` passages of each question, best first.

    Passages that the deadline did not allow to be scored follow in their order of retrieval.
    """
    chosen = {owner: list(own)[: settings.max_pairs] for owner, own in enumerate(candidates)}
    turns = in_turns(chosen)
    pairs = [(queries[owner], with_heading(passage.heading, passage.text)) for owner, passage in turns]
    logits = encoder.score(pairs, deadline)
    found: dict[int, list[tuple[Passage, float | None]]] = {owner: [] for owner in chosen}
    for (owner, passage), logit in zip(turns, logits, strict=True):
        found[owner].append((passage, logit))
    return [_ranked(found[owner], settings.top_k) for owner in chosen]


def _ranked(found: Sequence[tuple[Passage, float | None]], top_k: int) -> Reranked:
    """One question's passages by logit; None stands for a passage that was not scored."""
    scored, unscored = [], []
    for passage, logit in found:
        if logit is None or math.isnan(logit):
            unscored.append(passage)
        else:
            scored.append(replace(passage, scores={**passage.scores, SCORE_NAME: logit}))
    scored.sort(key=lambda passage: -passage.scores[SCORE_NAME])
    reached = sum(logit is not None for _, logit in found)
    return Reranked([*scored, *unscored][:top_k], len(found), reached, reached - len(scored))
