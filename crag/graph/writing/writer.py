"""Questions -> programs of calls: one language-model call per batch, and one more to repair unreadable calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModel
from crag.graph.language import Call, Fault, KgQueryError, Program, Sort, parse
from crag.graph.schema import Domain, ParameterKind, Type, load_schema
from crag.graph.writing.choice import ExampleChoice, Neighbourhood
from crag.graph.writing.prompt import STOP, output_grammar, write_prompt, write_repair_prompt
from crag.settings import KgWriterSettings
from crag.text.dates import Calendar, DateRange, find_dates, resolve_date

_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")
_DIGITS = re.compile(r"\d+")
_PRESENT = frozenset({"latest", "now", "today", "current", "most recent"})
"""Dates that a question may omit."""
_MOST_CACHED = 4096


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A question; if `domain` is None, the nearest examples choose it."""

    text: str
    query_time: str = ""
    domain: Domain | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The writer's result for a question; `faults` holds the parse error of each failed round.

    `program` None: no readable calls. A program without statements: the model says that the graph cannot answer.
    """

    near: Neighbourhood
    request: GenerationRequest
    generation: Generation
    program: Program | None
    faults: tuple[Fault, ...] = ()

    @property
    def domain(self) -> Domain:
        """The domain of the tables."""
        return self.near.domain

    @property
    def repaired(self) -> bool:
        """Whether the second round was readable."""
        return self.program is not None and bool(self.faults)

    @property
    def text(self) -> str:
        """The program at the start of the model's last text, up to an empty line or the next question."""
        return re.split("|".join(STOP), self.generation.text.strip(), maxsplit=1)[0].strip()


class CallWriter:
    """db3's API generation (section 3.2); raises `BankError` if the folder of fixed examples cannot be used."""

    def __init__(self, settings: KgWriterSettings, model: LanguageModel, dense: DenseEncoder | None) -> None:
        self._settings = settings
        self._model = model
        self._choice = ExampleChoice(settings, dense)
        self._known: dict[GenerationRequest, Generation] = {}

    def warm_up(self) -> None:
        """Encode the bank and load the model."""
        self._choice.warm_up()
        self._model.warm_up()

    def write(self, questions: Sequence[CallRequest], deadline: Deadline, temperature: float = 0.0) -> list[Written]:
        """One result per question, in order, within the deadline; a failure costs its own question only.
        Raises LanguageModelDiedError: the engine is gone.
        """
        texts, domains = [each.text for each in questions], [each.domain for each in questions]
        shown = self._choice.choose(texts, domains)
        requests = [self._request(question, near, temperature) for question, near in zip(questions, shown, strict=True)]
        generations = self._generate(requests, deadline)
        written = [_read(*parts) for parts in zip(shown, requests, generations, strict=True)]
        return self._repair(written, deadline)

    def _request(self, question: CallRequest, near: Neighbourhood, temperature: float) -> GenerationRequest:
        names_from = question.text if near.domain in self._settings.names_from_question else None
        prompt = write_prompt(self._settings, near, question.text)
        return replace(
            prompt,
            adapter=self._settings.adapter,
            grammar=output_grammar(near.domain, names_from) if self._settings.grammar else None,
            max_tokens=self._settings.max_new_tokens,
            temperature=temperature,
            stop=STOP,
            with_log_probability=True,
        )

    def _generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """One generation per request. Earlier requests are cached: greedy decoding repeats itself."""
        if any(request.temperature > 0 for request in requests):
            return self._model.generate(requests, deadline)
        new = [request for request in dict.fromkeys(requests) if request not in self._known]
        found = dict(zip(new, self._model.generate(new, deadline) if new else [], strict=False))
        if len(self._known) > _MOST_CACHED:
            self._known.clear()
        self._known |= {request: said for request, said in found.items() if said.finish_reason in {"stop", "length"}}
        missing = Generation.failed("the engine returned no generation for this request")
        return [self._known.get(request) or found.get(request, missing) for request in requests]

    def _repair(self, written: list[Written], deadline: Deadline) -> list[Written]:
        """Ask again for unreadable calls, if there is time."""
        late = {place for place, each in enumerate(written) if each.generation.finish_reason == "deadline"}
        places = [place for place, each in enumerate(written) if each.faults and place not in late]
        if not (places and self._settings.repair) or deadline.expired:
            return written
        faulty = [written[place] for place in places]
        requests = [write_repair_prompt(each.request, each.text, each.faults[0]) for each in faulty]
        for place, request, generation in zip(places, requests, self._generate(requests, deadline), strict=True):
            first, second = written[place], _read(written[place].near, request, generation)
            written[place] = replace(second, faults=first.faults + second.faults)
        return written


def _read(near: Neighbourhood, request: GenerationRequest, generation: Generation) -> Written:
    result = Written(near, request, generation, None)
    if generation.finish_reason == "error" or not result.text:
        return result
    try:
        return replace(result, program=parse(result.text, near.domain))
    except KgQueryError as error:
        return replace(result, faults=(error.fault,))


def invented_dates(question: str, domain: Domain, program: Program, asked_at: datetime | None) -> list[str]:
    """The dates and years of a program that have no basis in the question: small models copy them from examples.

    A call about another day answers another question, and a day without a game would look like a false premise.
    """
    calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
    moment = asked_at or datetime.now()
    named = [found.range for found in find_dates(question, moment, calendar) if found.range]
    text = f" {' '.join(question.lower().split())} "
    return [date for date in _dates(domain, program) if not _reason_for(date, text, named, moment, calendar)]


def _dates(domain: Domain, program: Program) -> list[str]:
    tables = load_schema(domain).tables
    found: list[str] = []
    table = None
    for statement in program.statements:
        if isinstance(statement, Call):
            table = tables[statement.table]
            pairs = zip(table.parameters, statement.arguments, strict=False)
            times = {ParameterKind.DATE, ParameterKind.YEAR}
            found += [value for parameter, value in pairs if parameter.kind in times and isinstance(value, str)]
        if isinstance(statement, Call | Sort) and table is not None:
            for condition in statement.conditions:
                column = table.column(condition.key)
                timely = column.type in {Type.DATE, Type.YEAR} if column else condition.key.endswith(("date", "year"))
                if timely and isinstance(condition.value, str):
                    found.append(condition.value)
    return found


def _reason_for(date: str, text: str, named: list[DateRange], moment: datetime, calendar: Calendar) -> bool:
    """Whether the question has the words, a near year, an ordinal number, or an overlapping date.

    "The 56th grammy awards" mean the year of the ceremony. Award years and film years differ by one.
    """
    if date.lower() in _PRESENT or f" {date.lower()}" in text:
        return True
    if date.isdigit() and len(date) == 4:
        years = [int(number) for number in _DIGITS.findall(text) if len(number) == 4]
        if _ORDINAL.search(text) or (years and min(years) - 1 <= int(date) <= max(years) + 1):
            return True
    resolved = resolve_date(date, moment, calendar)
    if resolved is None or (span := resolved.range) is None:
        return True  # not a date, or the present: the executor decides
    return any(span.first <= other.last and span.last >= other.first for other in named)
