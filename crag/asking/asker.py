"""The agent in Python: `with Asker() as asker: print(asker.ask("who ...?", pages=["reports/"]))`."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from crag.answering import find_evidence
from crag.asking.chosen_pages import settings_for_chosen_pages
from crag.asking.index import PageIndex, open_index
from crag.asking.parts import split_address
from crag.core.contracts import I_DONT_KNOW, Decision, Evidence, Trace
from crag.core.files import UserError, shorten_repr
from crag.core.queries import TIME_FORMS, format_query_time, normalise_query_time
from crag.engines.encoders import load_dense_encoder
from crag.settings import OpenAIEngine, graph_address, inherited_changes, load_settings, usual_preset

if TYPE_CHECKING:
    from crag.pipeline.agent import CragAgent


Places: TypeAlias = str | Path | Sequence[str | Path]
"""A path or an address, or several."""


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer, for people.

    Attributes:
        text: The answer, or "i don't know".
        sentence: The sentence that holds it; None if none was found.
        source: The title and address of the sentence's page, with the page, sheet, slide or rows; or the call that
            gave the fact.
        probability: P(correct); None without a model for it.
        withheld: An answer of which the agent was not sure enough. The three fields above are then about it.
        withheld_by: The checks and gates that withheld it, with their reasons; None if nothing did.
        trace: All that happened to the question.
    """

    text: str
    sentence: str | None
    source: str | None
    probability: float | None
    withheld: str | None
    trace: Trace
    withheld_by: str | None = None

    @classmethod
    def from_trace(cls, trace: Trace) -> Self:
        """The answer that a trace ends with."""
        text = trace.answer.text if trace.answer else I_DONT_KNOW
        withheld = _withheld_answer(trace) if text == I_DONT_KNOW else None

        evidence = trace.evidence
        if withheld and trace.answer:
            # The trace has no evidence for "i don't know", so look for that of the withheld answer.
            withheld_answer = replace(trace.answer, text=withheld, decision=Decision.ANSWERED)
            evidence = find_evidence(replace(trace, answer=withheld_answer))

        return cls(
            text=text,
            sentence=evidence.sentence if evidence else None,
            source=_describe_source(evidence) if evidence else None,
            probability=_last_probability(trace, withheld or text),
            withheld=withheld,
            trace=trace,
            withheld_by=_describe_gates(trace) if withheld else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data: the fields of the answer, then those of the trace."""
        fields = {
            "text": self.text,
            "sentence": self.sentence,
            "source": self.source,
            "probability": self.probability,
            "withheld": self.withheld,
            "withheld_by": self.withheld_by,
        }
        return fields | self.trace.to_dict()

    def __str__(self) -> str:
        """The answer; below it what it rests on, or why there is none."""
        lines = [self.text]
        if self.text == I_DONT_KNOW and not self.withheld:
            lines.append(self.trace.answer.reason if self.trace.answer else "")
            if self.trace.lost:
                lines.append(f"lost to the {self.trace.lost}")
        else:
            lines += self._evidence_lines()
        return "\n    ".join(" ".join(line.split()) for line in lines)

    def _evidence_lines(self) -> list[str]:
        """The withheld answer, if there is one, and the evidence with its source."""
        lines = []
        if self.withheld:
            certainty = "" if self.probability is None else f" ({self.probability:.2f})"
            lines.append(f"not sure enough{certainty}: {self.withheld}")
            lines.append(f"withheld by {self.withheld_by}")
        elif self.probability is not None:
            lines.append(f"P(correct): {self.probability:.2f}")

        if self.sentence:
            lines += [f'"{self.sentence}"', str(self.source)]
        else:
            lines.append("evidence: none found")
        return lines


def _withheld_answer(trace: Trace) -> str | None:
    """The answer that the last gate withheld; None if all gates stayed open."""
    for gate in reversed(trace.gates):
        if gate.withheld not in {None, I_DONT_KNOW}:
            return gate.withheld
    return None


def _describe_gates(trace: Trace) -> str:
    """The gates that withheld an answer, each with its reason; a fault in a check has one too."""
    firings = [gate for gate in trace.gates if gate.withheld not in {None, I_DONT_KNOW}]
    return "; ".join(dict.fromkeys(f"{gate.name} ({gate.reason})" for gate in firings))


def _describe_source(evidence: Evidence) -> str:
    """Title and address of a page with the part of its file, or the call of a fact; what is equal only once."""
    location, part = split_address(evidence.url)
    return ", ".join(filter(None, dict.fromkeys([evidence.source, location, part])))


def _last_probability(trace: Trace, text: str) -> float | None:
    """P(correct) of an answer, as the last check saw it."""
    for candidate in reversed(trace.candidates):
        if candidate.text == text:
            return candidate.probability
    return None


def _check_questions(questions: Iterable[str]) -> list[str]:
    """The questions as a list. Raises UserError: one is empty, or it is a single text."""
    if isinstance(questions, str):
        raise UserError("ask_all takes a list of questions; ask takes one")
    checked = list(questions)
    for question in checked:
        # A cell of a table that is missing may be None or a number
        if not isinstance(question, str) or not question.strip():
            raise UserError(f"a question is empty or no text: {shorten_repr(question)}")
    return checked


def _as_places(pages: object) -> tuple[str, ...]:
    """One or several places as text. Raises UserError: one is no path and no URL."""
    places = [pages] if isinstance(pages, str | Path) or not isinstance(pages, Iterable) else list(pages)
    for place in places:
        if not isinstance(place, str | Path):
            raise UserError(f"pages: expected a path, a URL or a list of them, found {shorten_repr(pages)}")
    return tuple(map(str, places))


def _query_time(at: object) -> str:
    """The time of a question in CRAG's form; None: now. Raises UserError: not a time."""
    if at is None or isinstance(at, datetime):
        return format_query_time(at)
    asked_at = normalise_query_time(at) if isinstance(at, str) else None
    if asked_at is None:
        raise UserError(f"at: {at!r} is no datetime and not a time such as {TIME_FORMS}")
    return asked_at


def _warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class Asker:
    """An agent for questions about your pages, a knowledge graph, or both. Models are loaded once, pages read once.

    Args:
        preset: A name or a TOML file; by default that of the commands.
        kg_url: The address of a knowledge graph; by default that of the environment variable.
        changes: TOML lines such as ``answering.word_limit=30``.
        threshold: P(correct) must be above it for an answer to be given: 0 gives all, 1 none. By default that of the
            preset for chosen pages.
        index: Keep what is read of many pages for later starts (docs/own_data.md).

    Raises crag.settings.SettingsError: the preset cannot be used, or `kg_url` is no address.

    Example:
        with Asker() as asker:
            answer = asker.ask("who founded the club?", pages=["reports/", "https://example.org/history"])
            print(answer.text, answer.probability, answer.source)
    """

    def __init__(
        self,
        preset: str | Path | None = None,
        *,
        kg_url: str | None = None,
        changes: Sequence[str] | None = None,
        threshold: float | None = None,
        index: bool = True,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:
            raise UserError(f"threshold: must be 0 to 1, found {threshold}")
        if isinstance(changes, str):
            raise UserError("changes takes a list of lines")
        if changes is None:
            changes = inherited_changes()
        self._kg_url = graph_address(kg_url)
        settings = load_settings(preset or usual_preset(), changes)
        if threshold is not None and settings.answering.confidence is None:
            raise UserError(f"threshold: preset {settings.name} has no model of P(correct); preset cpu has one")

        settings = settings.model_copy(update={"deadline": settings.deadline.for_a_person()})
        self.settings = settings_for_chosen_pages(settings, changes, threshold)
        self._keeps_index = index
        self._indexes: dict[tuple[str, ...], PageIndex] = {}
        self._encoder = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
        self._agent: CragAgent | None = None

    def ask(self, question: str, pages: Places = (), at: str | datetime | None = None) -> CitedAnswer:
        """The answer to a question: see `ask_all`."""
        return next(self.ask_all([question], pages, at))

    def ask_all(
        self,
        questions: Iterable[str],
        pages: Places = (),
        at: str | datetime | None = None,
    ) -> Iterator[CitedAnswer]:
        """The answers in order, a batch at a time.

        `pages` are files (docs/own_data.md lists the kinds), folders and URLs, one or several; what cannot be read is
        named on stderr.
        `at` is the query time, by default now: ``03/05/2024, 23:18:31 PT``, a time of ISO 8601 (Pacific time if it has
        no zone), or a datetime (the machine's time if it has no zone).
        Raises UserError: an empty question, an unreadable time, no page that can be read; WeightsMissingError.
        """
        all_questions = _check_questions(questions)
        asked_at = _query_time(at)

        # Pages before models: a wrong path is reported at once.
        index = self.read(pages)
        is_first_call = self._agent is None
        if index is None and not self._kg_url and is_first_call:
            _warn("no pages and no knowledge graph are given: hardly any question can be answered")
        agent = self.warm_up()

        batch_size = self._batch_size()
        for start in range(0, len(all_questions), batch_size):
            batch = all_questions[start : start + batch_size]
            _, traces = agent.answer_batch(
                {
                    "interaction_id": ["asked"] * len(batch),
                    "query": batch,
                    "search_results": [index.search(question) if index else [] for question in batch],
                    "query_time": [asked_at] * len(batch),
                }
            )
            for trace in traces:
                yield CitedAnswer.from_trace(trace)

    def _batch_size(self) -> int:
        """How many questions are asked together: a server gets no more than it answers at the same time.

        The answers of a batch come at its end, so those of a larger batch would come later.
        """
        model = self.settings.language_model
        if isinstance(model, OpenAIEngine):
            return min(self.settings.batch_size, model.concurrency)
        return self.settings.batch_size

    def read(self, pages: Places) -> PageIndex | None:
        """Read pages ahead of the first question, each list of places once; None without any place.

        Raises UserError: no page can be read; WeightsMissingError: many pages are searched by their meaning too.
        """
        places = _as_places(pages)
        if not places:
            return None
        if places not in self._indexes:
            index = open_index(places, self.settings, self._encoder, _warn, keep=self._keeps_index)
            self._indexes[places] = index

        index = self._indexes[places]
        if not index.page_count:
            raise UserError(f"no readable page: {', '.join(places)}")
        return index

    def warm_up(self) -> "CragAgent":
        """Load the models, once; raises crag.weights.manifest.WeightsMissingError."""
        if self._agent is None:
            # Imported here: `import crag` stays light without the engines.
            from crag.pipeline.agent import CragAgent

            self._agent = CragAgent.from_settings(self.settings, kg_url=self._kg_url, dense_encoder=self._encoder)
            self._agent.warm_up()
        return self._agent

    def close(self) -> None:
        """Stop workers and release memory."""
        if self._agent is not None:
            self._agent.close()
            self._agent = None
        while self._indexes:
            _, index = self._indexes.popitem()
            index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
