"""What every engine does with a request in the same way."""

from collections.abc import Collection, Sequence

from agents.llm.base import Generation, GenerationRequest


def refuse_unknown_adapter(request: GenerationRequest, adapters: Collection[str]) -> Generation | None:
    """A failed generation that names the known adapters if the request names another one, else None."""
    if request.adapter is None or request.adapter in adapters:
        return None
    known = ", ".join(sorted(adapters)) or "none"
    return Generation.failed(f"there is no adapter {request.adapter!r}; adapters of this engine: {known}")


def end_before_stop(text: str, stop: Sequence[str]) -> str:
    """The text up to the first of the stop strings in it; empty stop strings mean nothing."""
    places = [text.find(string) for string in stop if string]
    found = [place for place in places if place >= 0]
    return text[: min(found)] if found else text
