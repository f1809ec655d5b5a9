"""Another wording by a language model, kept only where it still names all that the program names."""

import re
from collections.abc import Iterator, Sequence

from agents.deadline import Deadline
from agents.kg.trainable import Average, Call, Program
from agents.llm import GenerationRequest, LanguageModel, Message
from training.api_pairs.pairs import Pair

BATCH = 8
SECONDS_PER_BATCH = 600.0
_LONGEST = 240
_INSTRUCTION = (
    "You rewrite questions. Write the question in other words, in lower case, as somebody would type it into a search "
    "box. Keep all names, numbers and dates exactly as they are. Reply with the new question alone."
)


def rephrased(pairs: Sequence[Pair], model: LanguageModel) -> Iterator[Pair]:
    """The pairs in their order, in another wording where the model found a faithful one."""
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        requests = [_request(pair) for pair in batch]
        said = model.generate(requests, Deadline(SECONDS_PER_BATCH))
        for pair, generation in zip(batch, said, strict=True):
            wording = cleaned(generation.text)
            yield pair.reworded(wording) if is_faithful(pair, wording) else pair


def _request(pair: Pair) -> GenerationRequest:
    return GenerationRequest(messages=(Message("system", _INSTRUCTION), Message("user", pair.query)), max_tokens=64)


def cleaned(text: str) -> str:
    """The first line of a reply, without quotes, in lower case."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[0].strip("\"'").lower().split()) if lines else ""


def is_faithful(pair: Pair, wording: str) -> bool:
    """Whether a wording is a new one and has every name, number and date that the old one shares with the program."""
    if not 8 < len(wording) <= _LONGEST or wording == pair.query:
        return False
    old, new = _plain(pair.query), _plain(wording)
    kept = [_plain(text) for text in texts_of(pair.program)]
    numbers = re.findall(r"\d+", old)
    return all(text in new for text in kept if text in old) and all(number in new for number in numbers)


def texts_of(program: Program) -> list[str]:
    """Every text that a program holds: names, dates and the values of conditions."""
    found: list[str] = []
    for statement in program.statements:
        if isinstance(statement, Average):
            continue
        if isinstance(statement, Call):
            for argument in statement.arguments:
                found += [argument] if isinstance(argument, str) else argument if isinstance(argument, tuple) else ()
        found += [condition.value for condition in statement.conditions if isinstance(condition.value, str)]
    return found


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
