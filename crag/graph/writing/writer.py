"""Questions -> programs of calls: one language-model call per batch, and one more to repair unreadable calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from crag.core.deadline import Deadline
from crag.core.queries import pacific_now
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModel, generate_all
from crag.graph.language import Average, Call, Fault, KgQueryError, Program, parse
from crag.graph.schema import Domain, Table, Type, load_schema
from crag.graph.writing import question_form
from crag.graph.writing.choice import ExampleChoice, Neighbourhood
from crag.graph.writing.prompt import STOP, output_grammar, write_prompt, write_repair_prompt
from crag.settings import KgWriterSettings
from crag.text.dates import Calendar, DateRange, find_dates, resolve_date

_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")
_DIGITS = re.compile(r"\d+")
_PRESENT = frozenset({"latest", "now", "today", "current", "most recent"})
"""Dates that a question may omit."""
_MAX_CACHED = 4096


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
    """db3's API generation (section 3.2); raises `BankError` if the folder of fixed examples cannot be used."""

    def __init__(
        self,
        settings: KgWriterSettings,
        model: LanguageModel,
        dense: DenseEncoder | None,
    ) -> None:
        self._settings = settings
        self._model = model
        # A tuned writer needs no examples: neither bank nor encoder is loaded
        self._choice = None if settings.form == "question" else ExampleChoice(settings, dense)
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
        # A prompt with examples is likely text itself
        reads_question_alone = self._settings.form == "question"
        return replace(
            prompt,
            likely_texts=question_form.shipped_completions() if reads_question_alone else (),
            adapter=self._settings.adapter,
            grammar=self._grammar(question, neighbourhood.domain) if self._settings.grammar else None,
            max_tokens=self._settings.max_new_tokens,
            temperature=temperature,
            stop=STOP,
            with_log_probability=True,
        )

    def _grammar(self, question: CallRequest, domain: Domain) -> str:
        """What may be written: calls of the domain; a tuned writer may choose it if the request has none."""
        if self._settings.form == "question":
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
        if self._settings.form == "question":
            written_domain, calls = question_form.split_domain(calls)
            domain = written_domain or neighbourhood.domain
            result = replace(result, neighbourhood=neighbourhood._replace(domain=domain))
        try:
            return replace(result, program=parse(calls, result.domain))
        except KgQueryError as error:
            return replace(result, faults=(error.fault,))


def invented_dates(
    question: str,
    domain: Domain,
    program: Program,
    asked_at: datetime | None,
) -> list[str]:
    """The dates and years of a program that have no basis in the question: small models copy them from examples.

    A call about another day answers another question, and a day without a game would look like a false premise.
    """
    calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
    moment = asked_at or pacific_now()
    text = f" {' '.join(question.lower().split())} "
    question_days = [date.range for date in find_dates(question, moment, calendar) if date.range]

    invented: list[str] = []
    for date in _dates(domain, program):
        if _has_words_for(date, text):
            continue
        resolved = resolve_date(date, moment, calendar)
        if resolved is None or resolved.range is None:
            continue  # not a date, or the present: the executor decides
        if not _overlaps_any(resolved.range, question_days):
            invented.append(date)
    return invented


def _dates(domain: Domain, program: Program) -> list[str]:
    """The dates and years in arguments and conditions."""
    tables = load_schema(domain).tables
    dates: list[str] = []
    table: Table | None = None
    for statement in program.statements:
        if isinstance(statement, Call):
            table = tables[statement.table]
            for parameter, argument in zip(table.parameters, statement.arguments, strict=False):
                if not parameter.kind.is_entity and isinstance(argument, str):
                    dates.append(argument)

        if isinstance(statement, Average) or table is None:
            continue
        # The conditions of a sort are on the table of the call before.
        for condition in statement.conditions:
            value = condition.value
            if isinstance(value, str) and _is_time_key(table, condition.key):
                dates.append(value)
    return dates


def _is_time_key(table: Table, key: str) -> bool:
    column = table.column(key)
    if column is None:
        return key.endswith(("date", "year"))
    return column.type in {Type.DATE, Type.YEAR}


def _has_words_for(date: str, text: str) -> bool:
    """Whether the question has the words of a date, a year near it, or an ordinal number.

    "The 56th grammy awards" mean the year of the ceremony. Award years and film years differ by one.
    """
    # In the question's words: "last friday"
    if date.lower() in _PRESENT or f" {date.lower()}" in text:
        return True
    if not date.isdigit() or len(date) != 4:
        return False

    # "The 56th grammy awards": the year follows from knowledge, not from the text
    if _ORDINAL.search(text) is not None:
        return True
    years = [int(number) for number in _DIGITS.findall(text) if len(number) == 4]
    if not years:
        return False
    return min(years) - 1 <= int(date) <= max(years) + 1


def _overlaps_any(span: DateRange, date_ranges: Sequence[DateRange]) -> bool:
    return any(span.first <= days.last and span.last >= days.first for days in date_ranges)
