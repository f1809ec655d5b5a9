"""Builds requests to the answering model and reads its replies into drafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from crag.answering.normalise import normalise
from crag.answering.prompts import Prompt, answer_prompt
from crag.answering.second_look import Level, Review, assessed
from crag.core.contracts import Answer, Candidate, Decision, Query, abstain
from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModel
from crag.settings import AnsweringSettings, DomainName


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """An answer that no check has passed yet.

    `generation` is None if no model wrote the answer. `replies` are the model's later replies, by check. `review` is
    the second look's. `candidate` holds the answer with its features and P(correct).
    """

    answer: Answer
    evidence: str = ""
    generation: Generation | None = None
    level: Level | None = None
    review: Review | None = None
    replies: Mapping[str, Generation] = field(default_factory=dict)
    candidate: Candidate | None = None
    alone: tuple[str, ...] = ()
    """What pages say, each read alone."""
    withheld: bool = False
    """Whether a check has replaced the answer."""

    @property
    def abstains(self) -> bool:
        """Whether the draft is an abstention."""
        return self.answer.decision is Decision.ABSTAINED


class Answerer:
    """Fills the preset's prompt (db3 section 2.4) and reads the reply."""

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self.model = model
        self._settings = settings
        self._prompt = answer_prompt(settings)

    def request(self, query: Query, context: str, domain: str | None = None) -> GenerationRequest:
        """The prompt for a question of the router's `domain`; adapters are tuned on the same prompt."""
        own = self._settings
        # Gates and P(correct) read the log-probability, now or when fitted to these traces.
        return request_of(
            own,
            self._prompt,
            query,
            context,
            hint=own.hints.get(cast("DomainName", domain), ""),
            max_tokens=own.max_new_tokens,
            adapter=own.adapter,
            log_probability=True,
        )

    def read(self, generation: Generation, context: str, source: str) -> Draft:
        """The draft that a reply gives. A failed or unfinished one is an abstention; partial text is not trusted."""
        text, level = assessed(generation.text) if self._prompt.assesses else (generation.text, None)
        answer = normalise(text, source)
        if generation.finish_reason == "error":
            answer, level = abstain(f"the language model failed: {generation.error}", source), None
        if generation.finish_reason == "deadline":
            when = "finished" if generation.completion_tokens else "began"
            answer, level = abstain(f"time ran out before the language model {when}", source), None
        return Draft(answer, context, generation, level)


def shown(request: GenerationRequest) -> object:
    """The prompt as the trace stores it: chat turns or plain text."""
    turns = [{"role": message.role, "content": message.content} for message in request.messages]
    return turns or request.prompt


def request_of(
    settings: AnsweringSettings,
    prompt: Prompt,
    query: Query,
    context: str,
    answer: str = "",
    hint: str = "",
    *,
    max_tokens: int,
    adapter: str | None,
    log_probability: bool = False,
) -> GenerationRequest:
    """Fill in the prompt in the preset's form: a chat, or plain text for a base model."""
    limit, asked_at = settings.word_limit, query.query_time
    places = {"query_time": asked_at, "context": context, "query": query.text, "answer": answer, "hint": hint}
    messages = prompt.render(token_limit=limit, **places)
    text = "\n\n".join(message.content for message in messages)
    return GenerationRequest(
        messages=messages if settings.form == "chat" else (),
        prompt=None if settings.form == "chat" else text,
        adapter=adapter,
        max_tokens=max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        with_log_probability=log_probability,
    )


def generate_all(model: LanguageModel, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
    """One generation per request, in order, even if the engine returns too few."""
    generations = list(model.generate(requests, deadline))[: len(requests)]
    missing = len(requests) - len(generations)
    return generations + [Generation.failed("the engine returned no generation for this request")] * missing
