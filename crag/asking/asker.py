"""The agent in Python: `with Asker() as asker: print(asker.ask("who ...?", pages=["reports/"]))`."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from crag.answering import find_evidence
from crag.asking.documents import Document, read_documents, split_address
from crag.asking.search_results import search_results
from crag.core.contracts import I_DONT_KNOW, Decision, Evidence, Trace
from crag.core.files import UserError
from crag.core.queries import TIME_FORMS, format_query_time, normalise_query_time
from crag.settings import load_settings, usual_preset

if TYPE_CHECKING:
    from crag.pipeline.agent import CragAgent


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer, for people.

    Attributes:
        text: The answer, or "i don't know".
        sentence: The sentence that holds it; None if none was found.
        source: The title and address of the sentence's page, with its number in a PDF, or the call that gave the fact.
        probability: P(correct); None without a model for it.
        withheld: An answer of which the agent was not sure enough. The three fields above are then about it.
        trace: All that happened to the question.
    """

    text: str
    sentence: str | None
    source: str | None
    probability: float | None
    withheld: str | None
    trace: Trace

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
        )

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


def _describe_source(evidence: Evidence) -> str:
    """Title, address and page number of a page, or the call of a fact; what is equal only once."""
    location, page = split_address(evidence.url)
    parts = dict.fromkeys([evidence.source, location, "" if page is None else f"page {page}"])
    return ", ".join(part for part in parts if part)


def _last_probability(trace: Trace, text: str) -> float | None:
    """P(correct) of an answer, as the last check saw it."""
    for candidate in reversed(trace.candidates):
        if candidate.text == text:
            return candidate.probability
    return None


def _warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class Asker:
    """An agent for questions about your pages, a knowledge graph, or both. Models are loaded once, pages read once.

    Args:
        preset: A name or a TOML file; by default that of the commands.
        kg_url: The address of a knowledge graph; by default that of the environment variable.
        changes: TOML lines such as ``answering.word_limit=30``.

    Raises crag.settings.SettingsError: the preset cannot be used.

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
    ) -> None:
        settings = load_settings(preset or usual_preset(), changes)
        # People may see what a gate withholds; and their pages are no strangers that could speak against each other.
        audited = settings.answering.model_copy(update={"audit": True, "other_sites": False})
        # Nobody plants pages that the user chose.
        trusted = settings.web.model_copy(update={"largest_question_share": None})
        self.settings = settings.model_copy(update={"answering": audited, "web": trusted})
        self._kg_url = kg_url
        self._documents: dict[str, list[Document]] = {}
        self._agent: CragAgent | None = None
        self.settings = self.settings.model_copy(update={"deadline": self.settings.deadline.for_a_person()})

    def ask(self, question: str, pages: Sequence[str | Path] = (), at: str | datetime | None = None) -> CitedAnswer:
        """The answer to a question: see `ask_all`."""
        return next(self.ask_all([question], pages, at))

    def ask_all(
        self,
        questions: Sequence[str],
        pages: Sequence[str | Path] = (),
        at: str | datetime | None = None,
    ) -> Iterator[CitedAnswer]:
        """The answers in order, a batch at a time.

        `pages` are files (HTML, plain text, PDF), folders and URLs; unreadable ones are named on stderr.
        `at` is the query time, by default now: ``03/05/2024, 23:18:31 PT``, a time of ISO 8601 (Pacific time if it has
        no zone), or a datetime (the machine's time if it has no zone).
        Raises UserError: an empty question, an unreadable time, no page that can be read; WeightsMissingError.
        """
        asked_at = normalise_query_time(at) if isinstance(at, str) else format_query_time(at)
        if asked_at is None:
            raise UserError(f"at: {at!r} is no time such as {TIME_FORMS}")
        if not all(map(str.strip, questions)):
            raise UserError("a question is empty")

        # Pages before models: a wrong path is reported at once.
        documents = self.read(pages)
        agent = self.warm_up()

        batch_size = self.settings.batch_size
        for start in range(0, len(questions), batch_size):
            batch = questions[start : start + batch_size]
            _, traces = agent.answer_batch(
                {
                    "interaction_id": ["asked"] * len(batch),
                    "query": batch,
                    "search_results": [search_results(question, documents) for question in batch],
                    "query_time": [asked_at] * len(batch),
                }
            )
            for trace in traces:
                yield CitedAnswer.from_trace(trace)

    def read(self, pages: Sequence[str | Path]) -> list[Document]:
        """Read pages ahead of the first question; each path or address once.

        Raises UserError: no page can be read.
        """
        documents: list[Document] = []
        for location in map(str, pages):
            if location not in self._documents:
                self._documents[location] = read_documents(location, self.settings.web.extract, _warn)
            documents += self._documents[location]

        if pages and not documents:
            raise UserError(f"no readable page: {', '.join(map(str, pages))}")
        return documents

    def warm_up(self) -> "CragAgent":
        """Load the models, once; raises crag.weights.manifest.WeightsMissingError."""
        if self._agent is None:
            # Imported here: `import crag` stays light without the engines.
            from crag.pipeline.agent import CragAgent

            self._agent = CragAgent.from_settings(self.settings, kg_url=self._kg_url or "")
            self._agent.warm_up()
        return self._agent

    def close(self) -> None:
        """Stop workers and release memory."""
        if self._agent is not None:
            self._agent.close()
            self._agent = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
