"""How answers are generated, checked and withheld; the clock."""

from string import Template
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from agents.settings.base import StrictModel

AnswerPromptName = Literal["basic", "controlled", "reader", "graph", "facts", "nec", "assessed"]
"""A key of `agents.answering.prompts.PROMPTS` that asks for an answer."""

ReviewPromptName = Literal["nec_refine", "refine"]
"""A key of `PROMPTS` that asks for a verdict on an answer."""

ROUTE_CLASSES = {
    "domain": ("finance", "movie", "music", "open", "sports"),
    "question_type": (
        "aggregation", "comparison", "false_premise", "multi-hop", "post-processing", "set", "simple",
        "simple_w_condition",
    ),
    "static_or_dynamic": ("fast-changing", "real-time", "slow-changing", "static"),
}  # fmt: skip
"""The classes of CRAG's questions, by the fields of a route."""


class ClassGate(StrictModel):
    """Withholds answers to questions of certain classes, by the router (NEC 2.1 step 1, 3.3.2)."""

    gate: Literal["class"]
    field: Literal["domain", "question_type", "static_or_dynamic"]
    classes: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    above: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Close if the classes' probabilities sum to more; None: close if the likeliest class is one of them."""
    answer: Literal["i don't know", "invalid question"] = "i don't know"
    source: Literal["any", "web"] = "any"
    """``web``: the knowledge graph may still answer."""

    @property
    def name(self) -> str:
        """The gate's name in traces and results; different gates have different names."""
        above = "" if self.above is None else f" > {self.above:g}"
        answer = "" if self.answer == "i don't know" else f" -> {self.answer}"
        source = "" if self.source == "any" else f" ({self.source})"
        return f"{self.field} {'/'.join(self.classes)}{above}{answer}{source}"

    @model_validator(mode="after")
    def _classes_exist(self) -> "ClassGate":
        unknown = [name for name in self.classes if name not in ROUTE_CLASSES[self.field]]
        if unknown:
            allowed = ", ".join(ROUTE_CLASSES[self.field])
            raise ValueError(f"{self.field} has no class {', '.join(unknown)}; allowed: {allowed}")
        return self


class ScoreGate(StrictModel):
    """Withholds answers from pages whose best passage is not good enough, before generation (NEC 2.1 step 5: 0.8)."""

    gate: Literal["score"]
    score: Literal["top_passage"]
    minimum: Annotated[float, Field(ge=0, lt=1)]
    """The best passage's cross-encoder probability must be above this."""

    @property
    def name(self) -> str:
        """The gate's name in traces and results."""
        return f"{self.score} above {self.minimum:g}"


GateSettings = Annotated[ClassGate | ScoreGate, Field(discriminator="gate")]


class OwnPrompt(StrictModel):
    """A prompt of one's own: a user turn, and a system turn unless it is empty."""

    system: str = ""
    user: str
    """Has ``$context`` and ``$query``; both turns may have ``$query_time`` and ``$token_limit``. ``$$`` is a dollar."""

    @model_validator(mode="after")
    def _has_the_places(self) -> "OwnPrompt":
        found: set[str] = set()
        for turn in (Template(self.system), Template(self.user)):
            if not turn.is_valid():
                raise ValueError("a dollar stands before something else than a name; write $$ for a dollar")
            found.update(turn.get_identifiers())
        if unknown := sorted(found - {"context", "query", "query_time", "token_limit"}):
            allowed = "$context, $query, $query_time, $token_limit"
            raise ValueError(f"there is no place ${', $'.join(unknown)}; allowed: {allowed}")
        if missing := sorted({"context", "query"} - set(Template(self.user).get_identifiers())):
            raise ValueError(f"the user turn needs ${' and $'.join(missing)}")
        return self


class RefineSettings(StrictModel):
    """A second pass over the answer, which confirms, withdraws or corrects it (NEC 2.1 step 7, 2.4)."""

    prompt: ReviewPromptName = "refine"
    max_new_tokens: PositiveInt = 50
    abstentions: bool = False
    """Also refine "i don't know" (NEC refines every initial answer)."""


class SelfAssessmentSettings(StrictModel):
    """The model rates its answer, by the prompt ``assessed`` (WeKnow-RAG, "Answer Generation with Self-Assessment")."""

    accepted: Annotated[tuple[Literal["high", "medium", "low"], ...], Field(min_length=1, strict=False)] = ("high",)
    """Answers with another level, or without one, are withheld."""


class ConfidenceSettings(StrictModel):
    """Answers if the expected score is positive: a right answer scores 1, a wrong one -1."""

    model: str
    """A file written by `python -m training.calibrate`: a name under `models/calibration/`, or a path to a .json."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """P(correct) must be above this; at 0.5 answering and abstaining score the same."""
    invalid_needs_graph: bool = False
    """Whether a question is called invalid only where the knowledge graph was asked: its style alone proves nothing."""


class AnsweringSettings(StrictModel):
    """The prompt and decoding of the answer, and the checks on it."""

    prompt: AnswerPromptName = "controlled"
    own_prompt: OwnPrompt | None = None
    """Instead of `prompt`, for answers from pages; not with `self_assessment`."""
    form: Literal["chat", "completion"] = "chat"
    """``completion``: plain text without a chat template, for base models such as NEC's Llama-2-70B."""
    word_limit: Annotated[int, Field(ge=1, le=75)] = 50
    """db3's token_limit, named in the prompt."""
    max_new_tokens: Annotated[int, Field(ge=1, le=1024)] = 75
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    adapter: str | None = None
    gates: Annotated[tuple[GateSettings, ...], Field(strict=False)] = ()
    refine: RefineSettings | None = None
    self_assessment: SelfAssessmentSettings | None = None
    distrust_repeated_question: bool = False
    """Withhold an answer that stands only in passages which repeat the question: `checks.RepeatedQuestion`."""
    compute: bool = False
    """Replace a formula by its value (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    confidence: ConfidenceSettings | None = None
    audit: bool = False
    """Also generate the answers that gates withhold, to measure them; the gates' answers are still given."""

    @model_validator(mode="after")
    def _assessment_is_asked_for(self) -> "AnsweringSettings":
        if (self.self_assessment is not None) != (self.prompt == "assessed"):
            raise ValueError("self_assessment and the prompt that asks for it, assessed, go together")
        if self.self_assessment and self.own_prompt is not None:
            raise ValueError("self_assessment reads what the prompt assessed asks for, not own_prompt")
        return self


_SHARES_OF_THE_WEB = {"select_pages": 2.0, "extract": 4.0, "retrieve": 3.0, "rerank": 6.0, "generate": 12.0}
"""Constants: a preset makes the stages before them longer or shorter, and these divide what is left."""


class DeadlineSettings(StrictModel):
    """The clock of a batch of n questions: n times `seconds_per_query`, less a reserve, divided by relative shares.

    Only the stages whose work depends on the preset have a key: a router that asks the model, and writing calls.
    """

    seconds_per_query: Annotated[float, Field(gt=0)] = 30.0
    reserve_seconds: Annotated[float, Field(ge=0)] = 4.0
    route: Annotated[float, Field(gt=0)] = 1.0
    knowledge_graph: Annotated[float, Field(gt=0)] = 8.0
    answer_from_graph: Annotated[float, Field(gt=0)] = 6.0

    def shares(self, *, review: bool = True) -> dict[str, float]:
        """Relative weights of the stages in order; without `review` no second looks at answers."""
        own = {name: getattr(self, name) for name in ("route", "knowledge_graph", "answer_from_graph")}
        shares = own | {"review_graph": 3.0, "public_data": 1.0} | _SHARES_OF_THE_WEB | {"review": 6.0}
        return {name: share for name, share in shares.items() if review or not name.startswith("review")}
