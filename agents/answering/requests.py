"""How the answering model is asked: requests in the preset's form, and one generation for each, whatever happens."""

from collections.abc import Sequence

from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel, Message
from agents.settings import AnsweringSettings


def shown(request: GenerationRequest) -> object:
    """The prompt as a trace holds it: turns of a chat, or the text."""
    turns = [{"role": message.role, "content": message.content} for message in request.messages]
    return turns or request.prompt


def request_of(
    messages: tuple[Message, ...],
    settings: AnsweringSettings,
    max_tokens: int,
    adapter: str | None,
    grammar: str | None = None,
) -> GenerationRequest:
    """The request in the preset's form: a chat, or plain text for a base model."""
    text = "\n\n".join(message.content for message in messages)
    return GenerationRequest(
        messages=messages if settings.form == "chat" else (),
        prompt=None if settings.form == "chat" else text,
        adapter=adapter,
        grammar=grammar,
        max_tokens=max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
    )


def generate_all(model: LanguageModel, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
    """One generation per request, in order, also where an engine returns too few."""
    generations = list(model.generate(requests, deadline))[: len(requests)]
    missing = len(requests) - len(generations)
    return generations + [Generation.failed("the engine returned no generation for this request")] * missing
