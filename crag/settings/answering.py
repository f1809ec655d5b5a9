"""Settings of answers: prompts, decoding, and the gates and checks that may withhold an answer."""

from string import Template
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, PositiveInt, model_validator

from crag.settings.base import StrictModel
from crag.settings.places import PathOrName

AnswerPromptName = Literal["basic", "controlled", "reader", "graph", "facts", "nec", "assessed", "reasoned"]
"""A key of `crag.answering.prompts.PROMPTS` that asks for an answer."""

ReviewPromptName = Literal["nec_refine", "refine"]
"""A key of `PROMPTS` that asks for a verdict on an answer."""

DomainName = Literal["movie", "finance", "music", "sports", "open"]

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


_PLACEHOLDERS = {"context", "query", "query_time", "word_limit"}
"""What a custom prompt may contain, each with a dollar in front."""
_OLDER_PLACEHOLDERS = {"token_limit"}
"""Still read: what is now ``$word_limit``."""
_REQUIRED_PLACEHOLDERS = {"context", "query"}
"""What its user turn must contain."""


class CustomPrompt(StrictModel):
    """A prompt that the preset writes itself: a user turn, and a system turn unless it is empty."""

    system: str = ""
    user: str
    """Has ``$context`` and ``$query``; both turns may have ``$query_time`` and ``$word_limit``. ``$$`` is a dollar."""

    @model_validator(mode="after")
    def _placeholders_are_known_and_complete(self) -> "CustomPrompt":
        in_system = _find_placeholders(self.system)
        in_user = _find_placeholders(self.user)

        unknown = sorted((in_system | in_user) - _PLACEHOLDERS - _OLDER_PLACEHOLDERS)
        if unknown:
            allowed = ", ".join(f"${name}" for name in sorted(_PLACEHOLDERS))
            raise ValueError(f"unknown placeholder ${', $'.join(unknown)}; allowed: {allowed}")
        missing = sorted(_REQUIRED_PLACEHOLDERS - in_user)
        if missing:
            raise ValueError(f"the user turn needs ${' and $'.join(missing)}")
        return self


def _find_placeholders(turn: str) -> set[str]:
    """Names of the placeholders of a turn. Raises ValueError: a dollar is not followed by a name."""
    template = Template(turn)
    if not template.is_valid():
        raise ValueError("a dollar sign is not followed by a name; write $$ for a dollar")
    return set(template.get_identifiers())


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

    model: PathOrName
    """A file written by `crag train calibrate`: a name under `models/calibration/` or, of a shipped one, under
    `crag/weights/calibration/`, or a path to a .json."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """P(correct) must be above this; at 0.5 answering and abstaining score the same."""
    log_odds: FiniteFloat = 0.0
    """Added to the log-odds of answers from pages, if they are right more often than where the model was fitted."""
    log_odds_on_chosen_pages: FiniteFloat | None = None
    """`log_odds` of `crag ask` and `Asker`: pages that a person chose hold the answer more often than those of a
    search. No gate on the best passage decides there. None: as for other pages."""


REASONING_TOKENS = 300
"""For what the prompt ``reasoned`` asks for before the answer. Three sentences take about 100."""


class AnsweringSettings(StrictModel):
    """The prompt and decoding of the answer, and the checks on it."""

    # What the model reads.
    prompt: AnswerPromptName = "controlled"
    own_prompt: CustomPrompt | None = None
    """Instead of `prompt`, for answers from pages; not with `self_assessment`."""
    form: Literal["chat", "completion"] = "chat"
    """``completion``: plain text without a chat template, for base models such as NEC's Llama-2-70B."""
    word_limit: Annotated[int, Field(ge=1, le=75)] = 50
    """Named in the prompt, as db3's token_limit is, but in words."""

    # How it writes.
    max_new_tokens: Annotated[int, Field(ge=1, le=1024)] = 75
    """Of the answer, without the reasoning of the prompt ``reasoned``."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    adapter: str | None = None

    # What may withhold or change the answer.
    gates: Annotated[tuple[GateSettings, ...], Field(strict=False)] = ()
    refine: RefineSettings | None = None
    self_assessment: SelfAssessmentSettings | None = None
    other_sites: bool = False
    """Where one site alone holds the answer, ask again without it: another answer withholds this one if its P(correct)
    is above the threshold too. So one site cannot speak against the others (after PoisonedRAG, Zou et al. 2024)."""
    hints: dict[DomainName, str] = Field(default_factory=dict)
    """What the prompt ``assessed`` adds before a question of the router's domain (WeKnow-RAG, "Main results")."""
    compute: bool = False
    """Replace a formula by its value (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    confidence: ConfidenceSettings | None = None
    audit: bool = False
    """Also generate the answers that gates withhold, to measure them. What is given stays the same."""

    @property
    def most_tokens(self) -> int:
        """The most tokens of a reply: those of the answer, and of what the prompt asks for before it."""
        reasons = self.prompt == "reasoned" and self.own_prompt is None
        return self.max_new_tokens + (REASONING_TOKENS if reasons else 0)

    @property
    def threshold(self) -> float:
        """What P(correct) of an answer must exceed; 0 for a preset without P(correct)."""
        return self.confidence.threshold if self.confidence else 0.0

    @property
    def asks_again(self) -> bool:
        """Whether a check asks the model a second time, so that the clock keeps time for it."""
        return bool(self.refine or self.other_sites)

    @model_validator(mode="after")
    def _assessment_and_its_prompt_go_together(self) -> "AnsweringSettings":
        if (self.self_assessment is not None) != (self.prompt == "assessed"):
            raise ValueError("self_assessment and the prompt that asks for it, assessed, go together")
        if self.self_assessment and self.own_prompt is not None:
            raise ValueError("self_assessment reads what the prompt assessed asks for, not own_prompt")
        return self

    @model_validator(mode="after")
    def _an_adapter_answers_as_it_was_tuned(self) -> "AnsweringSettings":
        if self.prompt == "reasoned" and self.adapter and self.own_prompt is None:
            raise ValueError(
                "the prompt reasoned is for a model without an adapter, which was tuned to answer at once: "
                "tuned = false runs without adapters"
            )
        return self

    @model_validator(mode="after")
    def _hints_have_their_prompt(self) -> "AnsweringSettings":
        if self.hints and (self.prompt != "assessed" or self.adapter):
            raise ValueError("hints go with the prompt assessed, without an adapter: training knows no router's domain")
        return self
