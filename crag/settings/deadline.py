"""Settings of the clock: how the time of a batch is shared among its stages."""

from typing import Annotated, Self

from pydantic import Field

from crag.settings.base import StrictModel

SECONDS_FOR_A_PERSON = 300.0
"""Per question, for somebody who waits for an answer; the contest's 30 are too few for a model server on a laptop."""

_FIXED_SHARES = {
    "review_graph": 3.0,
    "public_data": 1.0,
    "select_pages": 2.0,
    "extract": 4.0,
    "retrieve": 3.0,
    "rerank": 6.0,
    "generate": 12.0,
    "review": 6.0,
}
"""Stage -> the relative share that it has in every preset."""


class DeadlineSettings(StrictModel):
    """The clock of a batch of n questions: n times `seconds_per_query`, less a reserve, divided by relative shares.

    Only the stages whose work depends on the preset have a key: a router that asks the model, writing calls, and
    reading the graph's facts.
    """

    seconds_per_query: Annotated[float, Field(gt=0)] = 30.0
    reserve_seconds: Annotated[float, Field(ge=0)] = 4.0
    route: Annotated[float, Field(gt=0)] = 1.0
    knowledge_graph: Annotated[float, Field(gt=0)] = 8.0
    answer_from_graph: Annotated[float, Field(gt=0)] = 6.0

    def for_a_person(self) -> Self:
        """With more time for each question, unless the preset or a change names it."""
        if "seconds_per_query" in self.model_fields_set:
            return self
        return self.model_copy(update={"seconds_per_query": SECONDS_FOR_A_PERSON})

    def shares(self, *, review: bool = True) -> dict[str, float]:
        """Stage -> its relative share, in the stages' order; without `review` no second looks at answers."""
        shares = {
            "route": self.route,
            "knowledge_graph": self.knowledge_graph,
            "answer_from_graph": self.answer_from_graph,
            **_FIXED_SHARES,
        }
        if not review:
            del shares["review_graph"]
            del shares["review"]
        return shares
