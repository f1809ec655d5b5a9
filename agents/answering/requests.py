"""Builds the requests to the answering model and returns one generation for each."""

from collections.abc import Sequence

from agents.answering.prompts import Prompt
from agents.common.contracts import Query
from agents.common.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import AnsweringSettings


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
    *,
    max_tokens: int,
    adapter: str | None,
    grammar: str | None = None,
    log_probability: bool = False,
) -> GenerationRequest:
    """Fill in the prompt in the preset's form: a chat, or plain text for a base model."""
    messages = prompt.render(
        token_limit=settings.word_limit,
        query_time=query.query_time,
        context=context,
        query=query.text,
        answer=answer,
    )
    text = "\n\n".join(message.content for message in messages)
    return GenerationRequest(
        messages=messages if settings.form == "chat" else (),
        prompt=None if settings.form == "chat" else text,
        adapter=adapter,
        grammar=grammar,
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
