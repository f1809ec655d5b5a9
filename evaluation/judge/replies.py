"""A judging model's reply as a verdict: read liberally, but never guessed."""

import re

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(
    r"[\"'{,\s](?:accuracy|score)[\"']?\s*[:=]\s*[\"']?(?P<value>true|false|[01](?:\.0)?)[\"']?\s*"
    r"(?:,(?!\d)|[}\n]|\Z)",  # the value must end there: "true or false" repeats the form, "1/5" is no verdict
    re.IGNORECASE,
)
_BARE = re.compile(r"\W*(?P<value>true|false|[01])\W*", re.IGNORECASE)
_RIGHT = frozenset({"true", "1", "1.0"})


def read_verdict(reply: str) -> bool | None:
    """True or False as the reply's ``accuracy`` or ``score`` says, or None where it says neither or both.

    Accepted besides plain JSON: Python's ``True``, quoted values, single quotes, text or a code fence around the
    object, a missing last brace, a thought before it, and a reply that is the bare value.
    """
    text = _THOUGHT.sub(" ", reply)
    values = [match["value"] for match in _FIELD.finditer(f" {text}")]
    if not values and (bare := _BARE.fullmatch(text)):
        values = [bare["value"]]
    verdicts = {value.lower() in _RIGHT for value in values}
    return verdicts.pop() if len(verdicts) == 1 else None
