"""One question on its way through the agent, with all that is known about it so far."""

from dataclasses import dataclass, field

from agents.contracts import Answer, GateFiring, Query, Stage, Trace
from agents.kg import Lookup
from agents.plan import PAGES_ONLY, Plan
from agents.web import WebEvidence


@dataclass(eq=False, slots=True)
class Case:
    """A question: what the sources found, which of them may answer, and the answer once there is one.

    `evidence` is None where the pages could not be read. `gate` is the gate that closed for the question; in an audit
    the question goes on all the same, to learn what the gate withholds. `fault` is the last failure of a stage.
    """

    query: Query
    trace: Trace
    lookup: Lookup = field(default_factory=Lookup)
    evidence: WebEvidence | None = None
    plan: Plan = PAGES_ONLY
    answer: Answer | None = None
    gate: GateFiring | None = None
    fault: str = ""

    def is_last(self, turn: Stage) -> bool:
        """Whether no turn follows this one."""
        return self.plan.turns[-1] is turn

    def note(self, event: str) -> None:
        """Keep an event for the reader of the trace, once: a stage that failed for the batch runs again."""
        if event not in self.trace.events:
            self.trace.events.append(event)
