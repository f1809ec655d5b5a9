"""One question and all that the agent knows about it so far."""

from dataclasses import dataclass, field

from agents.contracts import Answer, GateFiring, Lost, Query, Stage, Trace
from agents.kg import Lookup
from agents.plan import PAGES_ONLY, Plan
from agents.web import WebEvidence


@dataclass(eq=False, slots=True)
class Case:
    """A question: what the sources found, its plan, and its answer.

    `evidence` is None if the pages could not be read. `gate` is the gate that closed; in an audit the question
    continues, to learn what the gate withholds. `fault` is the last failure of a stage, `lost` its kind.
    """

    query: Query
    trace: Trace
    lookup: Lookup = field(default_factory=Lookup)
    evidence: WebEvidence | None = None
    plan: Plan = PAGES_ONLY
    answer: Answer | None = None
    gate: GateFiring | None = None
    fault: str = ""
    lost: Lost | None = None

    def is_last(self, turn: Stage) -> bool:
        """Whether this is the last turn."""
        return self.plan.turns[-1] is turn

    def note(self, event: str) -> None:
        """Add an event to the trace, once: a stage that failed for the batch runs again."""
        if event not in self.trace.events:
            self.trace.events.append(event)
