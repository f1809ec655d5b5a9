"""From a draft to a decision: answer, abstain or call the question invalid, always with a reason for the trace."""

from agents.answering.answerer import Draft
from agents.answering.normalise import normalise
from agents.contracts import I_DONT_KNOW, Answer, Decision


def abstain(reason: str, source: str = "none") -> Answer:
    """The answer that costs nothing."""
    return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, reason)


def low_relevance(top_probability: float | None, minimum: float | None) -> str | None:
    """Why the retrieved passages do not allow an answer, or None where they do (NEC 2.1, step 5).

    `top_probability` is the sigmoid of the best passage's cross-encoder logit. Without a number (nothing was retrieved,
    or there was no time to rerank) a preset that asks for a minimum abstains.
    """
    if minimum is None or (top_probability is not None and top_probability > minimum):
        return None
    found = "no passage was scored" if top_probability is None else f"the best passage scores {top_probability:.2f}"
    return f"{found}, which is not above the minimum of {minimum:g}"


def decide(draft: Draft, source: str) -> Answer:
    """The draft's answer. A generation that failed or never began is an abstention; partial text is not trusted."""
    generation = draft.generation
    if generation.finish_reason == "error":
        return abstain(f"the language model failed: {generation.error}", source)
    if generation.finish_reason == "deadline":
        return abstain("time ran out before the language model finished", source)
    return normalise(generation.text, source)
