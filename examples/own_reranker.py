"""A reranker of your own: ranks passages by the number of words that they share with the question.

crag evaluate --agent examples/own_reranker.py:SharedWordsAgent --limit 4 --output results/own-reranker
"""

from collections.abc import Sequence

from crag import UserAgent
from crag.core.deadline import Deadline
from crag.pipeline.agent import CragAgent
from crag.settings import Settings


class SharedWords:
    """A cross-encoder that needs no weights."""

    def warm_up(self) -> None:
        """Load weights here, not in the constructor."""

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        """The score of each pair of question and passage; higher is better, None: not scored before the deadline."""
        scores: list[float | None] = []
        for query, text in pairs:
            shared = set(query.lower().split()) & set(text.lower().split())
            scores.append(float(len(shared)))
        return scores


class SharedWordsAgent(UserAgent):
    """The preset's agent with this reranker."""

    def build_agent(self, settings: Settings) -> CragAgent:
        """The parts of the preset, and the own one."""
        return CragAgent.from_settings(settings, cross_encoder=SharedWords())
