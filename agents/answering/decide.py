"""From a draft to a decision: answer, abstain or call the question invalid, always with a reason for the trace."""

from agents.answering.answerer import Draft
from agents.answering.normalise import normalise
from agents.contracts import I_DONT_KNOW, Answer, Decision


def abstain(reason: str, source: str = "none") -> Answer:
    """The answer that costs nothing."""
    return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, reason)


def decide(draft: Draft, source: str) -> Answer:
    """The draft's answer. A generation that failed or never began is an abstention; partial text is not trusted."""
    generation = draft.generation
    if generation.finish_reason == "error":
        return abstain(f"the language model failed: {generation.error}", source)
    if generation.finish_reason == "deadline":
        when = "finished" if generation.completion_tokens else "began"
        return abstain(f"time ran out before the language model {when}", source)
    return normalise(draft.said.text, source)
