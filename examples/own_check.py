"""A check of your own: withholds answers of more than eight words, since short answers are right more often.

crag evaluate --agent examples/own_check.py:ShortAnswersAgent --limit 4 --output results/own-check
"""

from crag import UserAgent
from crag.answering import Check, Draft
from crag.core.contracts import I_DONT_KNOW, GateFiring
from crag.pipeline.agent import CragAgent
from crag.settings import Settings

MOST_WORDS = 8


class NoLongAnswers(Check):
    """Withholds long answers."""

    name = "short answers"

    def __call__(self, case: object, draft: Draft) -> GateFiring | None:
        """None to let the answer pass, or what to say instead and why."""
        words = len(draft.answer.text.split())
        if words <= MOST_WORDS:
            return None
        return GateFiring(self.name, f"the answer has {words} words", I_DONT_KNOW)


class ShortAnswersAgent(UserAgent):
    """The preset's agent with this check after its own."""

    def build_agent(self, settings: Settings) -> CragAgent:
        """The parts of the preset, and the own one."""
        return CragAgent.from_settings(settings, more_checks=[NoLongAnswers()])
