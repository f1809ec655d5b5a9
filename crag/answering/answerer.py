"""Builds requests to the answering model and reads its replies into drafts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from crag.answering.normalise import normalise
from crag.answering.prompts import Prompt, PromptInputs, answer_prompt
from crag.answering.reasoned import read_reasoned
from crag.answering.second_look import Level, Review, split_assessment
from crag.core.contracts import Answer, Candidate, Decision, Query, abstain
from crag.core.model_marks import final_text
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModel
from crag.settings import AnsweringSettings, DomainName


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """An answer that no check has passed yet.

    Attributes:
        answer: The answer so far.
        context: What the model read; empty if no model wrote the answer.
        generation: The model's reply; None if no model wrote the answer.
        level: How sure the model says it is, if the prompt asks for it.
        review: The result of the second look.
        replies: The model's later replies, by the name of what a check asked for.
        candidate: The answer with its features and P(correct).
        withheld: Whether a check has replaced the answer.
    """

    answer: Answer
    context: str = ""
    generation: Generation | None = None
    level: Level | None = None
    review: Review | None = None
    replies: Mapping[str, Generation] = field(default_factory=dict)
    candidate: Candidate | None = None
    withheld: bool = False

    @property
    def abstains(self) -> bool:
        """Whether the draft is an abstention."""
        return self.answer.decision is Decision.ABSTAINED


class Answerer:
    """Fills the preset's prompt (db3 section 2.4) and reads the reply.

    Example:
        answerer = Answerer(settings.answering, model)
        request = answerer.request(query, context)
        [generation] = generate_all(model, [request], deadline)
        draft = answerer.read(generation, context, source="web")
    """

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self.model = model
        self._settings = settings
        self._prompt = answer_prompt(settings)

    def request(self, query: Query, context: str, domain: str | None = None) -> GenerationRequest:
        """The prompt for a question of the router's `domain`; adapters are tuned on the same prompt."""
        settings = self._settings
        hint = settings.hints.get(cast("DomainName", domain), "")

        # Gates and P(correct) read the log-probability, now or when fitted to these traces.
        return build_request(
            settings,
            self._prompt,
            PromptInputs(query, context, hint=hint, domain=domain),
            max_tokens=settings.most_tokens,
            adapter=settings.adapter,
            with_log_probability=True,
        )

    def read(self, generation: Generation, context: str, source: str) -> Draft:
        """The draft that a reply gives. A failed or unfinished one is an abstention; partial text is not trusted."""
        if generation.finish_reason == "error":
            failure = abstain(f"the language model failed: {generation.error}", source)
            return Draft(failure, context, generation)

        text = generation.text
        level = None
        if self._prompt.assesses:
            text, level = split_assessment(final_text(text))

        if generation.finish_reason == "deadline":
            progress = "finished" if generation.completion_tokens else "began"
            limit = "deadline.seconds_per_query is the time for a question"
            out_of_time = abstain(f"time ran out before the language model {progress} ({limit})", source)
            return Draft(out_of_time, context, generation, level)

        if self._prompt.reasons:
            answer = read_reasoned(text, source, self._settings.word_limit)
        else:
            answer = normalise(text, source)
        return Draft(answer, context, generation, level)


def build_request(
    settings: AnsweringSettings,
    prompt: Prompt,
    inputs: PromptInputs,
    *,
    max_tokens: int,
    adapter: str | None,
    with_log_probability: bool = False,
) -> GenerationRequest:
    """Fill in the prompt in the preset's form: a chat, or plain text for a base model."""
    messages = prompt.render(inputs, settings.word_limit)
    is_chat = settings.form == "chat"
    plain_text = "\n\n".join(message.content for message in messages)

    return GenerationRequest(
        messages=messages if is_chat else (),
        prompt=None if is_chat else plain_text,
        adapter=adapter,
        max_tokens=max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        shared_prefix=prompt.shared_prefix(settings.word_limit),
        with_log_probability=with_log_probability,
    )
