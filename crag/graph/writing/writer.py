"""Questions -> programs of calls: one language-model call per batch, and one more to repair unreadable calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModel, generate_all
from crag.graph.language import Fault, KgQueryError, Program, parse
from crag.graph.schema import Domain
from crag.graph.writing import question_form
from crag.graph.writing.analogy import Analogies
from crag.graph.writing.bank import Example, load_bank
from crag.graph.writing.choice import ExampleChoice, Neighbourhood
from crag.graph.writing.prompt import STOP, output_grammar, write_prompt, write_repair_prompt
from crag.settings import KgWriterSettings

_MAX_CACHED = 4_096
"""Generations; the cache is emptied when it holds more."""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A question; if `domain` is None, the nearest examples choose it, or a tuned writer does."""

    text: str
    query_time: str = ""
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """The writer's result for a question; `faults` holds the parse error of each failed round.

    `program` None: no readable calls. A program without statements: the model says that the graph cannot answer.
    In the form ``question`` the neighbourhood has no examples, and the domain is the one that the model wrote; if it
    wrote none, that of the request or ``open``, that of general knowledge.
    """

    neighbourhood: Neighbourhood
    request: GenerationRequest
    generation: Generation
    program: Program | None
    faults: tuple[Fault, ...] = ()

    @property
    def domain(self) -> Domain:
        """The domain of the tables."""
        return self.neighbourhood.domain

    @property
    def repaired(self) -> bool:
        """Whether the second round was readable."""
        return self.program is not None and bool(self.faults)

    @property
    def text(self) -> str:
        """The program at the start of the model's last text, up to an empty line or the next question."""
        any_stop = "|".join(STOP)
        parts = re.split(any_stop, self.generation.text.strip(), maxsplit=1)
        return parts[0].strip()


class CallWriter:
    """db3's API generation (section 3.2); raises `BankError` if the folder of fixed examples cannot be used.

    `bank`: the examples to choose from; None: the shipped ones.
    """

    def __init__(
        self,
        settings: KgWriterSettings,
        model: LanguageModel,
        dense: DenseEncoder | None,
        bank: Sequence[Example] | None = None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._reads_question_alone = settings.form == "question"
        # A tuned writer needs neither examples nor their encoder, only guesses of its text
        self._choice = None if self._reads_question_alone else ExampleChoice(settings, dense, bank)
        self._analogies = Analogies(load_bank() if bank is None else bank) if self._reads_question_alone else None
        self._cache: dict[GenerationRequest, Generation] = {}

    def warm_up(self) -> None:
        """Load the model and, for a writer that reads examples, encode the bank."""
        if self._choice is not None:
            self._choice.warm_up()
        self._model.warm_up()

    def write(
        self,
        questions: Sequence[CallRequest],
        deadline: Deadline,
        temperature: float = 0.0,
    ) -> list[WrittenCalls]:
        """One result per question, in order, within the deadline; a failure costs its own question only.
        Raises LanguageModelDiedError: the engine is gone.
        """
        # All questions at once: one pass of the encoder, then one generation for the batch
        neighbourhoods = self._choose_examples(questions)
        requests: list[GenerationRequest] = []
        for question, neighbourhood in zip(questions, neighbourhoods, strict=True):
            request = self._request(question, neighbourhood, temperature)
            requests.append(request)

        generations = self._generate(requests, deadline)
        first_round = list(map(self._read, neighbourhoods, requests, generations))
        return self._repair(first_round, deadline)

    def _choose_examples(self, questions: Sequence[CallRequest]) -> list[Neighbourhood]:
        """For each question its domain and examples; without examples the domain is preliminary."""
        if self._choice is None:
            return [Neighbourhood(question.domain or Domain.OPEN, ()) for question in questions]

        texts = [question.text for question in questions]
        domains = [question.domain for question in questions]
        return self._choice.choose(texts, domains)

    def _request(
        self,
        question: CallRequest,
        neighbourhood: Neighbourhood,
        temperature: float,
    ) -> GenerationRequest:
        prompt = write_prompt(self._settings, neighbourhood, question.text)
        if self._analogies is not None:  # a prompt with examples is likely text itself
            prompt = replace(
                prompt,
                likely_texts=question_form.shipped_completions(),
                similar_text=self._analogies.guess(question.text, question.domain),
            )
        return replace(
            prompt,
            adapter=self._settings.adapter,
            grammar=self._grammar(question, neighbourhood.domain) if self._settings.grammar else None,
            max_tokens=self._settings.max_new_tokens,
            temperature=temperature,
            stop=STOP,
            with_log_probability=True,
        )

    def _grammar(self, question: CallRequest, domain: Domain) -> str:
        """What may be written: calls of the domain; a tuned writer may choose it if the request has none."""
        if self._reads_question_alone:
            return question_form.output_grammar(question.domain)
        copies_names = domain in self._settings.names_from_question
        return output_grammar(domain, question.text if copies_names else None)

    def _generate(
        self,
        requests: Sequence[GenerationRequest],
        deadline: Deadline,
    ) -> list[Generation]:
        """One generation per request. Earlier requests are cached: greedy decoding repeats itself."""
        # Sampling: the same request is meant to give different texts
        if any(request.temperature > 0 for request in requests):
            return generate_all(self._model, requests, deadline)

        # Each new request once.
        generation_of = {request: self._cache[request] for request in requests if request in self._cache}
        new_requests = [request for request in dict.fromkeys(requests) if request not in generation_of]
        if new_requests:
            new_generations = generate_all(self._model, new_requests, deadline)
            generation_of.update(zip(new_requests, new_generations, strict=True))

        if len(self._cache) > _MAX_CACHED:
            self._cache.clear()
        for request in new_requests:
            # A generation that failed or ran out of time is worth another try.
            if generation_of[request].finish_reason in {"stop", "length"}:
                self._cache[request] = generation_of[request]

        return [generation_of[request] for request in requests]

    def _repair(self, first_round: list[WrittenCalls], deadline: Deadline) -> list[WrittenCalls]:
        """Ask again for unreadable calls, if there is time. A text that the deadline cut off is not asked again."""
        if not self._settings.repair or deadline.expired:
            return first_round

        faulty_indices: list[int] = []
        requests: list[GenerationRequest] = []
        for index, written in enumerate(first_round):
            if written.faults and written.generation.finish_reason != "deadline":
                request = write_repair_prompt(written.request, written.text, written.faults[0])
                faulty_indices.append(index)
                requests.append(request)
        if not requests:
            return first_round

        generations = self._generate(requests, deadline)
        results = list(first_round)
        for index, request, generation in zip(faulty_indices, requests, generations, strict=True):
            first = first_round[index]
            second = self._read(first.neighbourhood, request, generation)
            # Both faults are kept: `repaired` depends on them
            results[index] = replace(second, faults=first.faults + second.faults)
        return results

    def _read(
        self,
        neighbourhood: Neighbourhood,
        request: GenerationRequest,
        generation: Generation,
    ) -> WrittenCalls:
        """Parse what the model wrote; text that cannot be parsed is recorded as a fault."""
        result = WrittenCalls(
            neighbourhood,
            request,
            generation,
            None,
        )
        # Nothing was written, so there is nothing to repair
        if generation.finish_reason == "error" or not result.text:
            return result

        calls = result.text
        if self._reads_question_alone:
            written_domain, calls = question_form.split_domain(calls)
            domain = written_domain or neighbourhood.domain
            result = replace(result, neighbourhood=neighbourhood._replace(domain=domain))
        try:
            return replace(result, program=parse(calls, result.domain))
        except KgQueryError as error:
            return replace(result, faults=(error.fault,))
