"""The agent in Python: `with Asker() as asker: print(asker.ask("who ...?", pages=["reports/"]))`."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from crag.answering import evidence_of
from crag.asking.documents import OwnPage, read_pages, search_results
from crag.core.contracts import I_DONT_KNOW, Decision, Trace
from crag.core.files import UserError
from crag.core.queries import TIME_FORMS, normalise_query_time, query_time_of
from crag.settings import load_settings, usual_preset

if TYPE_CHECKING:
    from crag.pipeline.agent import CragAgent


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, for people.

    `sentence` holds it, and `source` is the title and address of its page, or its call; None: none was found.
    `probability` is P(correct), None without a model for it. `withheld`: an answer of which the agent was not sure
    enough; the other fields are then about it.
    """

    text: str
    sentence: str | None
    source: str | None
    probability: float | None
    withheld: str | None
    trace: Trace

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """The answer that a trace ends with."""
        text, evidence = trace.answer.text if trace.answer else I_DONT_KNOW, trace.evidence
        closed = [gate.withheld for gate in trace.gates if gate.withheld not in {None, text}]
        withheld = closed[-1] if closed and text == I_DONT_KNOW else None
        if withheld and trace.answer:
            said = replace(trace.answer, text=withheld, decision=Decision.ANSWERED)
            evidence = evidence_of(replace(trace, answer=said))
        likely = [one.probability for one in trace.candidates if one.text == (withheld or text)]
        sentence = evidence.sentence if evidence else None
        source = ", ".join(dict.fromkeys(filter(None, (evidence.source, evidence.url)))) if evidence else None
        return cls(text, sentence, source, likely[-1] if likely else None, withheld, trace)

    def __str__(self) -> str:
        """The answer; below it what it rests on, or why there is none."""
        sure = "" if self.probability is None else f" ({self.probability:.2f})"
        reason = self.trace.answer.reason if self.trace.answer else ""
        below = [f'"{self.sentence}"', self.source] if self.sentence else ["evidence: none found"]
        if self.withheld:
            below.insert(0, f"not sure enough{sure}: {self.withheld}")
        elif self.text == I_DONT_KNOW:
            below = [reason, *([f"lost to the {self.trace.lost}"] if self.trace.lost else [])]
        return "\n    ".join(" ".join(str(line).split()) for line in (self.text, *below))


def _warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class Asker:
    """An agent for questions about your pages, a knowledge graph, or both. Models are loaded once, pages read once.

    `preset` is a name or a TOML file, by default that of the commands. `kg_url` is the address of a knowledge graph, by
    default that of the environment variable. `changes` are TOML lines such as ``answering.word_limit=30``.
    Raises crag.settings.SettingsError: the preset cannot be used.
    """

    def __init__(
        self, preset: str | Path | None = None, *, kg_url: str | None = None, changes: Sequence[str] | None = None
    ) -> None:
        settings = load_settings(preset or usual_preset(), changes)
        audited = settings.answering.model_copy(update={"audit": True})  # people may see what a gate withholds
        self.settings = settings.model_copy(update={"answering": audited})
        self._kg_url = kg_url
        self._pages: dict[str, list[OwnPage]] = {}
        self._agent: CragAgent | None = None

    def ask(self, question: str, pages: Sequence[str | Path] = (), at: str | datetime | None = None) -> Answer:
        """The answer to a question: see `ask_all`."""
        return next(self.ask_all([question], pages, at))

    def ask_all(
        self, questions: Sequence[str], pages: Sequence[str | Path] = (), at: str | datetime | None = None
    ) -> Iterator[Answer]:
        """The answers in order, a batch at a time.

        `pages` are files (HTML, plain text, PDF), folders and URLs; unreadable ones are named on stderr.
        `at` is the query time, by default now: ``03/05/2024, 23:18:31 PT``, a time of ISO 8601 (Pacific time if it has
        no zone), or a datetime (the machine's time if it has no zone).
        Raises UserError: an empty question, an unreadable time, no page that can be read; WeightsMissingError.
        """
        asked_at = normalise_query_time(at) if isinstance(at, str) else query_time_of(at)
        if asked_at is None:
            raise UserError(f"at: {at!r} is no time such as {TIME_FORMS}")
        if not all(map(str.strip, questions)):
            raise UserError("a question is empty")
        own, agent, size = self.read(pages), self.warm_up(), self.settings.batch_size
        for batch in (questions[start : start + size] for start in range(0, len(questions), size)):
            results = [search_results(question, own) for question in batch]
            rows = {"interaction_id": ["asked"] * len(batch), "query": batch, "search_results": results}
            _, traces = agent.answer_batch({**rows, "query_time": [asked_at] * len(batch)})
            yield from map(Answer.of, traces)

    def read(self, pages: Sequence[str | Path]) -> list[OwnPage]:
        """Read pages ahead of the first question. Raises UserError: no page can be read."""
        for place in set(map(str, pages)) - self._pages.keys():
            self._pages[place] = read_pages(place, self.settings.web.extract, _warn)
        found = [page for place in map(str, pages) for page in self._pages[place]]
        if pages and not found:
            raise UserError(f"no readable page: {', '.join(map(str, pages))}")
        return found

    def warm_up(self) -> "CragAgent":
        """Load the models, once; raises crag.weights.manifest.WeightsMissingError."""
        if self._agent is None:
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
