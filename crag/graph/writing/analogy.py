"""The calls that a question probably has: those of the most similar example, with names from the question.

    example:    who directed rear window?       get_movie_person_crew("rear window",None,eq(job,"director"))["name"]
    question:   who directed the film jaws?
    analogy:    get_movie_person_crew("the film jaws",None,eq(job,"director"))["name"]

Only a guess, which makes the same calls faster (`GenerationRequest.similar_text`): a tuned writer does not read it.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from crag.graph.schema import Domain
from crag.graph.writing.bank import Example
from crag.graph.writing.choice import ExampleIndex
from crag.graph.writing.question_form import domain_and_calls

_WORD = re.compile(r"\w+|[^\w\s]")
_KEY_OR_NAME = re.compile(r'\["[^"]*"\]|"([^"]*)"')
"""A key in brackets, or a name or value, which is the group."""


class Analogies:
    """Guesses the calls of questions from a bank of examples."""

    def __init__(self, bank: Sequence[Example]) -> None:
        # Words say enough for a guess, and take half a millisecond instead of an encoder's pass
        self._index = ExampleIndex(bank, dense=None)

    def guess(self, question: str, domain: Domain | None) -> str:
        """What a tuned writer probably writes: the domain, chosen by the nearest examples if None, and the calls."""
        [neighbourhood] = self._index.nearest([question], [domain], 1)
        [example] = neighbourhood.examples
        return with_names_of(question, example)


def with_names_of(question: str, example: Example) -> str:
    """The domain and calls of an example, with what stands in the question where the example has its names.

    Example:
        >>> from crag.graph.language import parse
        >>> calls = 'get_movie("rear window")["release_date"]'
        >>> example = Example(Domain.MOVIE, "when did rear window premiere?", calls, parse(calls, Domain.MOVIE))
        >>> print(with_names_of("when did jaws premiere?", example))
        movie
        get_movie("jaws")["release_date"]
    """
    text = question.lower()
    words = list(_WORD.finditer(text))
    example_words = _split(example.question)
    matcher = SequenceMatcher(None, example_words, _split(text), autojunk=False)
    *shared_runs, _ = matcher.get_matching_blocks()  # the last one is empty

    def replace(match: re.Match[str]) -> str:
        name = _split(match[1] or "")
        start = _find(name, example_words)
        if start is None:
            return match[0]

        # In place of the name stands what both questions' shared words leave between them, before and behind it.
        end = start + len(name)
        first = max((run.b + min(run.size, start - run.a) for run in shared_runs if run.a < start), default=0)
        last = min((run.b + max(0, end - run.a) for run in shared_runs if run.a + run.size > end), default=len(words))
        return f'"{text[words[first].start() : words[last - 1].end()]}"' if first < last else match[0]

    return _KEY_OR_NAME.sub(replace, domain_and_calls(example.domain, example.program))


def _split(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _find(part: Sequence[str], words: Sequence[str]) -> int | None:
    """Where the words of `part` stand in `words` for the first time; None for none."""
    for start in range(len(words) - len(part) + 1):
        if part and words[start : start + len(part)] == part:
            return start
    return None
