"""Questions -> programs of calls: one language-model call for the whole batch, and one more for what cannot be read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.kg.language import Fault, KgQueryError, Program, parse
from agents.kg.schema import Domain
from agents.kg.writing.bank import Example
from agents.kg.writing.choice import ExampleChoice, Neighbourhood
from agents.kg.writing.prompt import STOP, CallPrompt, output_grammar, write_prompt, write_repair_prompt
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import KgWriterSettings


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A question; `domain` None: the nearest examples choose it."""

    text: str
    query_time: str = ""
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What the writer made of a question.

    `program` None: nothing readable was written. A program without statements: the model says that the graph does not
    know. `faults` holds the reading error of each failed round.
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
        """What the model wrote last, up to the end of the program."""
        return trim(self.generation.text)


class CallWriter:
    """db3's API generation (section 3.2): form, schema, choice of examples, grammar and repair as the settings say.

    Raises:
        BankError: the folder of fixed examples cannot be used.
    """

    def __init__(self, settings: KgWriterSettings, model: LanguageModel, dense: DenseEncoder | None) -> None:
        self._settings = settings
        self._model = model
        self._choice = ExampleChoice(settings, dense)

    def warm_up(self) -> None:
        """Encode the bank and load the model; raises `models.manifest.WeightsMissingError`."""
        self._choice.warm_up()
        self._model.warm_up()

    def write(self, questions: Sequence[CallRequest], deadline: Deadline) -> list[Written]:
        """One result per question, in order, within the deadline; what fails costs its own question only.

        Raises:
            LanguageModelDiedError: the engine is gone.
        """
        texts, domains = [question.text for question in questions], [question.domain for question in questions]
        shown = self._choice.choose(texts, domains, self._settings.examples)
        requests = [self._request(question, near) for question, near in zip(questions, shown, strict=True)]
        generations = self._generate(requests, deadline)
        written = [_read(*parts) for parts in zip(shown, requests, generations, strict=True)]
        return self._repair(written, deadline)

    def _request(self, question: CallRequest, near: Neighbourhood) -> GenerationRequest:
        names_from = question.text if near.domain in self._settings.names_from_question else None
        prompt = write_prompt(self._settings, near.domain, near.examples, question.text)
        return GenerationRequest(
            messages=prompt.messages,
            prompt=prompt.text,
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
        """Ask again for what could not be read, if there is time."""
        places = [
            place for place, each in enumerate(written) if each.faults and each.generation.finish_reason != "deadline"
        ]
        if not (places and self._settings.repair) or deadline.expired:
            return written
        requests = [_asked_again(written[place]) for place in places]
        for place, request, generation in zip(places, requests, self._generate(requests, deadline), strict=True):
            first = written[place]
            second = _read(Neighbourhood(first.domain, first.examples), request, generation)
            written[place] = replace(second, faults=first.faults + second.faults, repaired=second.program is not None)
        return written


def trim(text: str) -> str:
    """The program at the beginning of a text, up to an empty line or the next question."""
    text = text.strip()
    for stop in STOP:
        text = text.split(stop, 1)[0]
    return text.strip()


def _asked_again(each: Written) -> GenerationRequest:
    first = CallPrompt(each.request.messages, each.request.prompt)
    second = write_repair_prompt(first, each.text, each.faults[0])
    return replace(each.request, messages=second.messages, prompt=second.text)


def _read(near: Neighbourhood, request: GenerationRequest, generation: Generation) -> Written:
    result = Written(near.domain, near.examples, request, generation, None)
    if generation.finish_reason == "error" or not (text := trim(generation.text)):
        return result
    try:
        return replace(result, program=parse(text, near.domain))
    except KgQueryError as error:
        return replace(result, faults=(error.fault,))
