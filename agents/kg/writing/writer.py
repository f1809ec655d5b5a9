"""Questions -> programs of calls: one language-model call for the whole batch, and one more for what cannot be read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.kg.language import KgQueryError, parse
from agents.kg.language.errors import Fault
from agents.kg.language.program import Program
from agents.kg.schema import Domain
from agents.kg.writing.bank import Example, load_bank
from agents.kg.writing.prompt import STOP, output_grammar, write_prompt, write_repair_prompt
from agents.kg.writing.similar import ExampleIndex, Neighbourhood, fixed_examples
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import KgWriterSettings


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; `domain` None lets the nearest examples of all domains choose it."""

    text: str
    query_time: str = ""
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a question.

    `program` None means that nothing readable was written, and the question is dropped; a program without statements
    is the model's answer that the graph does not know. `faults` holds the reading error of each failed round.
    """

    domain: Domain
    examples: tuple[Example, ...]
    request: GenerationRequest
    generation: Generation
    program: Program | None
    faults: tuple[Fault, ...] = ()
    repaired: bool = False

    @property
    def text(self) -> str:
        """What the model wrote last, without what it added after the program."""
        return trim(self.generation.text)


class CallWriter:
    """db3's API generation (section 3.2) with examples chosen by similarity and the output held to the grammar."""

    def __init__(
        self,
        settings: KgWriterSettings,
        model: LanguageModel,
        dense: DenseEncoder | None,
        bank: Sequence[Example] | None = None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._bank = tuple(bank) if bank is not None else load_bank()
        self._index = ExampleIndex(self._bank, dense)

    def warm_up(self) -> None:
        """Encode the bank and load the model; raises `models.manifest.WeightsMissingError`."""
        self._index.warm_up()
        self._model.warm_up()

    def write(self, questions: Sequence[Question], deadline: Deadline) -> list[Written]:
        """One result per question, in order, within the deadline; what fails costs its own question only.

        Raises:
            LanguageModelDiedError: the engine is gone.
        """
        shown = self._choose(questions)
        requests = [self._request(question, near) for question, near in zip(questions, shown, strict=True)]
        generations = self._generate(requests, deadline)
        written = [_read(*parts) for parts in zip(shown, requests, generations, strict=True)]
        return self._repair(written, deadline)

    def _choose(self, questions: Sequence[Question]) -> list[Neighbourhood]:
        texts, domains = [question.text for question in questions], [question.domain for question in questions]
        if self._settings.selection == "similar":
            return self._index.nearest(texts, domains, self._settings.examples)
        near = self._index.nearest(texts, domains, 0) if None in domains else []
        chosen = [domain or near[place].domain for place, domain in enumerate(domains)]
        return [Neighbourhood(domain, fixed_examples(self._bank, domain, self._settings.examples)) for domain in chosen]

    def _request(self, question: Question, near: Neighbourhood) -> GenerationRequest:
        names_from = question.text if near.domain in self._settings.names_from_question else None
        prompt = write_prompt(near.domain, near.examples, question.text, with_schema=self._settings.schema_in_prompt)
        return GenerationRequest(
            prompt=prompt,
            adapter=self._settings.adapter,
            grammar=output_grammar(near.domain, names_from) if self._settings.grammar else None,
            max_tokens=self._settings.max_new_tokens,
            stop=STOP,
        )

    def _generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        generations = list(self._model.generate(requests, deadline))[: len(requests)] if requests else []
        missing = len(requests) - len(generations)
        return generations + [Generation.failed("the engine returned no generation for this request")] * missing

    def _repair(self, written: list[Written], deadline: Deadline) -> list[Written]:
        """Ask once more for what could not be read, while there is time."""
        places = [
            place for place, each in enumerate(written) if each.faults and each.generation.finish_reason != "deadline"
        ]
        if not (places and self._settings.repair) or deadline.expired:
            return written
        requests = [
            replace(each.request, prompt=write_repair_prompt(each.request.prompt or "", each.text, each.faults[0]))
            for each in (written[place] for place in places)
        ]
        for place, request, generation in zip(places, requests, self._generate(requests, deadline), strict=True):
            first = written[place]
            second = _read(Neighbourhood(first.domain, first.examples), request, generation)
            written[place] = replace(second, faults=first.faults + second.faults, repaired=second.program is not None)
        return written


def trim(text: str) -> str:
    """The program at the beginning of a text: what follows an empty line or a next question is not part of it."""
    text = text.strip()
    for stop in STOP:
        text = text.split(stop, 1)[0]
    return text.strip()


def _read(near: Neighbourhood, request: GenerationRequest, generation: Generation) -> Written:
    result = Written(near.domain, near.examples, request, generation, None)
    if generation.finish_reason == "error" or not (text := trim(generation.text)):
        return result
    try:
        return replace(result, program=parse(text, near.domain))
    except KgQueryError as error:
        return replace(result, faults=(error.fault,))
