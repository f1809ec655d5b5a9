"""A source of facts of your own: a table of capitals.

crag evaluate --agent examples/own_source.py:CapitalsAgent --limit 4 --output results/own-source
"""

from collections.abc import Sequence

from crag import UserAgent
from crag.core.contracts import Fact, Query
from crag.core.deadline import Deadline
from crag.facts import PublicData
from crag.pipeline.agent import CragAgent
from crag.settings import Settings

CAPITALS = {"france": "Paris", "kenya": "Nairobi"}


class Capitals(PublicData):
    """Facts from a table."""

    def warm_up(self) -> None:
        """Read the table here, if it is large."""

    def facts(
        self,
        queries: Sequence[Query],
        domains: Sequence[str | None],
        deadline: Deadline,
    ) -> list[tuple[Fact, ...]]:
        """The facts of each question, in the order of the questions."""
        return [self._facts_about(query.text.lower()) for query in queries]

    def _facts_about(self, question: str) -> tuple[Fact, ...]:
        facts: list[Fact] = []
        for country, capital in CAPITALS.items():
            if country in question:
                facts.append(Fact(f"The capital of {country} is {capital}.", "table of capitals"))
        return tuple(facts)


class CapitalsAgent(UserAgent):
    """The preset's agent with this source."""

    def build_agent(self, settings: Settings) -> CragAgent:
        """The parts of the preset, and the own one."""
        return CragAgent.from_settings(settings, more_facts=[Capitals()])
