"""Label questions with calls: python -m training.api_pairs label --questions FILE --out calls.jsonl.

FILE is a question file of CRAG (JSON lines, bz2, archives, split or whole): `query`, `query_time`, `domain`, `answer`.
A model proposes calls with the preset's prompt. They are executed against a graph, and kept if the judge accepts the
answer of their values. training.api_pairs and training.adapters read the output as --questions. calls/attempts.jsonl
has the result of every question, calls/run_card.json the counts.

    python -m training.api_pairs label --questions FILE --graph DIR --preset cpu --out calls.jsonl
    python -m training.api_pairs label ... --url http://HOST:8000/v1 --model NAME     # a stronger model is asked first

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version and corrected it by hand. The model
at --url is asked once; questions without kept calls go to the preset's own model, --attempts times: greedily, then at
--temperature. calls/rejected.jsonl has what is left, with all that was tried: write right calls, or ["None"], into the
field `calls` of a row, and run the same command with --resume. They are kept if the graph has values for them.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.common.deadline import Deadline
from agents.common.files import UserError, append_rows, lock_folder, read_growing, read_jsonl, write_rows
from agents.common.queries import parse_query_time
from agents.encoders import load_dense_encoder
from agents.kg.derive import derived_answer, direct_answer
from agents.kg.executor import Executor, ProgramResult, Task
from agents.kg.language import Program, parse, render
from agents.kg.results import Status
from agents.kg.schema import Domain
from agents.kg.writing import CallRequest, CallWriter, Written
from agents.llm import LanguageModelDiedError, load_language_model
from agents.settings import KgWriterSettings, OpenAIEngine, Settings, load_settings
from crag.command import add_preset_arguments, add_split_argument, command, end_with, number, parser_of, server, whole
from evaluation.batches import golds_of
from evaluation.datasets import LABEL_FIELDS, DatasetError, Split, read_rows
from evaluation.judge import Claim, Judge, Verdict, add_judge_arguments, judge_claims, judge_from
from evaluation.signature import settings_hash
from mock_api import GraphError
from training.api_pairs import (
    add_graph_argument,
    execute,
    executor_of,
    graph_files,
    is_late,
    opened,
    pair_of,
    values_of,
)
from training.files import RunCard, count_table, file_hash

JOURNAL, REJECTED = "attempts.jsonl", "rejected.jsonl"
OUTCOMES = ("kept", "other answer", "not found", "no reply", "none", "unreadable", "failed")
UNHURRIED_SECONDS = 600.0
"""Per question; ample on any machine."""
_MOST_VALUES = 8
"""A longer list of values does not answer a question."""


@dataclass
class LabelledQuestion:
    """A question with the results of its attempts.

    `outcomes` counts its attempts: ``failed`` (the engine gave nothing), ``unreadable``, ``none`` (the model says that
    the graph has no answer), ``no reply`` (the graph took too long), ``not found``, ``other answer``, ``kept``. `kept`
    has the calls whose values gave the answer, as fields of an output row; `tried` the others, with their outcome.
    """

    row: dict[str, Any]
    outcomes: Counter[str] = field(default_factory=Counter)
    tried: list[dict[str, str]] = field(default_factory=list)
    kept: dict[str, Any] | None = None

    @property
    def time(self) -> str:
        """The time of asking."""
        return str(self.row.get("query_time", ""))

    @property
    def domain(self) -> Domain | None:
        """The domain, if it is one of the graph's."""
        return Domain(self.row["domain"]) if self.row.get("domain") in list(Domain) else None

    def note(self, outcome: str, calls: str) -> None:
        """An attempt ended so."""
        self.outcomes[outcome] += 1
        if outcome != "kept":
            self.tried.append({"calls": calls, "why": outcome})

    def to_entry(self) -> dict[str, Any]:
        """A line of the journal; `failed` if the engine gave nothing at all, `kept` what the output has besides."""
        fields = ("interaction_id", "query", "query_time", "split", *LABEL_FIELDS, "answer", "alt_ans")
        return {
            "interaction_id": self.row.get("interaction_id"),
            "domain": self.row.get("domain", "unknown"),
            "outcomes": dict(self.outcomes),
            "failed": self.kept is None and self.outcomes.total() == self.outcomes["failed"],
            "kept": self.kept,
            "asked": {name: self.row[name] for name in fields if name in self.row},
            "tried": self.tried,
        }


Proposal = tuple[LabelledQuestion, Domain, Program]


@dataclass(frozen=True)
class Labeller:
    """Proposes calls; executes them with `executor`; judges what their values give.

    Each of the `attempts`, a writer with its temperature, is for the questions without kept calls.
    """

    attempts: Sequence[tuple[CallWriter, float]]
    executor: Executor
    judge: Judge

    def label(self, rows: Sequence[dict[str, Any]]) -> list[LabelledQuestion]:
        """One result per question, in order; raises LanguageModelDiedError."""
        questions = [LabelledQuestion(row) for row in rows]
        for question in questions:
            if calls := question.row.get("by_hand"):
                self._correct(question, calls)
        for attempt, (writer, temperature) in enumerate(self.attempts, start=1):
            pending = [question for question in questions if question.kept is None]
            requests = [CallRequest(each.row["query"], each.time, each.domain) for each in pending]
            deadline = Deadline(UNHURRIED_SECONDS * len(requests))
            self._check(attempt, pending, writer.write(requests, deadline, temperature) if pending else [])
        return questions

    def _correct(self, question: LabelledQuestion, calls: Sequence[str]) -> None:
        """Keep a person's calls if the graph has values for all of them, or if they are none."""
        domain = question.domain or Domain.OPEN
        program = parse("\n".join(calls), domain)
        answered = self._execute([(question, domain, program)] if program.statements else [])
        if answered or not program.statements:
            question.kept = {"domain": str(domain), "calls": list(calls), "label": {"attempt": "by hand"}}

    def _check(self, attempt: int, pending: Sequence[LabelledQuestion], written: Sequence[Written]) -> None:
        """Keep what gives the right answer."""
        proposals = []
        for question, answer in zip(pending, written, strict=True):
            if answer.program is not None and answer.program.statements:
                proposals.append((question, answer.domain, answer.program))
            else:
                failed = answer.generation.finish_reason in {"error", "deadline"}
                reason = "none" if answer.program is not None else "failed" if failed else "unreadable"
                question.note(reason, answer.text)
        answered = self._execute(proposals)
        claims = [Claim(each[0].row["query"], golds_of(each[0].row), _answer(*each)) for each in answered]
        judged = zip(answered, claims, judge_claims(self.judge, claims, str), strict=True)
        for (question, domain, program, executed), claim, judgement in judged:
            calls = {"domain": str(domain), "calls": render(program).split("\n"), "kg_values": values_of(executed)}
            if judgement.verdict is Verdict.CORRECT:
                label = {"attempt": attempt, "answer_of_values": claim.prediction, "reason": judgement.reason}
                question.kept = {**calls, "label": label}
            question.note("kept" if question.kept else "other answer", render(program))

    def _execute(self, proposals: Sequence[Proposal]) -> list[tuple[LabelledQuestion, Domain, Program, ProgramResult]]:
        """The proposals whose calls all have values."""
        tasks = [Task(domain, program, parse_query_time(each.time)) for each, domain, program in proposals]
        answered = []
        # Once: a proposal that asks for too much is a bad label.
        for (question, domain, program), executed in zip(
            proposals, execute(self.executor, tasks, attempts=1), strict=True
        ):
            if executed.results and all(each.status is Status.OK and not each.partial for each in executed.results):
                answered.append((question, domain, program, executed))
            else:
                question.note("no reply" if is_late(executed) else "not found", render(program))
        return answered


def _answer(question: LabelledQuestion, domain: Domain, program: Program, executed: ProgramResult) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    query, asked_at = question.row["query"], parse_query_time(question.time)
    direct = direct_answer(query, domain, program, executed.results)
    if direct is not None:
        return direct
    derived = derived_answer(query, domain, program, executed.results, asked_at.date() if asked_at else None)
    if derived is not None:
        return derived.text
    values = values_of(executed)
    return ", ".join(map(str, values)) if len(values) <= _MOST_VALUES else I_DONT_KNOW


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Label. Exit code: 0 all questions were asked, 1 the engine failed on some, 2 an input is missing or wrong."""
    parser = parser_of("python -m training.api_pairs label", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions with right answers")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    add_split_argument(parser)
    parser.add_argument("--limit", type=whole(1), metavar="N", help="label at most N questions")
    add_preset_arguments(parser, "cpu")
    address = "a server that speaks OpenAI's protocol, with a stronger model (key: $OPENAI_API_KEY)"
    parser.add_argument("--url", type=server, metavar="URL", help=address)
    parser.add_argument("--model", default="", metavar="NAME", help="its name there (default: the server's only one)")
    several = "of the preset's own model per question; 0 with --url: none (default: %(default)s)"
    parser.add_argument("--attempts", type=whole(0), default=4, metavar="N", help=several)
    later = "for its attempts after the first, which is greedy (default: %(default)s)"
    parser.add_argument("--temperature", type=number(0.01), default=0.7, help=later)
    add_graph_argument(parser)
    add_judge_arguments(parser.add_argument_group("the judge of the values"))
    parser.add_argument("--resume", action="store_true", help="continue an unfinished run")
    return _label(parser.parse_args(arguments))


def _label(options: argparse.Namespace) -> int:
    card = RunCard.beside(options.out)
    journal, rejected = card.folder / JOURNAL, card.folder / REJECTED
    there = next((path for path in (options.out, journal) if path.exists()), None)
    if there and not options.resume:
        raise UserError(f"{there} exists already: pass --resume to continue it, or remove it")
    settings = load_settings(options.preset, options.set)
    if settings.knowledge_graph is None:
        raise UserError(f"the preset {settings.name} uses no graph: pass --preset cpu, or another with a graph")
    writer = settings.knowledge_graph.writer
    if not (options.attempts or options.url):
        raise UserError("--attempts 0 leaves nobody to ask: pass --url")
    judge = judge_from(options)
    identity = {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "asked_first": f"{options.model} at {options.url}" if options.url else None,
        "attempts": options.attempts,
        "temperature": options.temperature if options.attempts > 1 else 0.0,
        "judge": f"{judge.name}@{judge.version}",
        "graph": str(options.graph),
        Split.FIELD: str(options.split),
    }
    corrected = _corrected(rejected)
    rows, left_out = _questions(options, identity, corrected)
    with lock_folder(card.folder), ExitStack() as stack:
        done = {row.data["key"]: row.data for row in read_growing(journal) if row.data.get("key") in rows}
        missing = [row for key, row in rows.items() if key not in done]
        executor = stack.enter_context(executor_of(stack.enter_context(opened(options.graph))))
        labeller = Labeller(list(_attempts(options, settings, writer, stack)) if missing else (), executor, judge)
        with tqdm(total=len(rows), initial=len(done), unit="question", disable=None) as bar:
            for start in range(0, len(missing), settings.batch_size):
                try:
                    batch = labeller.label(missing[start : start + settings.batch_size])
                except LanguageModelDiedError as error:
                    error.add_note("finished questions are kept: --resume continues")
                    raise
                made = [{"key": _key(question.row, identity), **question.to_entry()} for question in batch]
                append_rows(journal, [entry for entry in made if not entry["failed"]])
                done |= {entry["key"]: entry for entry in made}
                bar.update(len(made))
        entries = [done[key] for key in rows]
        write_rows(options.out, (entry["asked"] | entry["kept"] for entry in entries if entry["kept"]))
        for_hands = _write_rejected(rejected, corrected, entries)
    domains = {"all": entries}
    for entry in entries:
        domains.setdefault(entry["domain"], []).append(entry)
    counts = {name: _counts(found) for name, found in domains.items()}
    figures = {"domains": counts, "left_out": dict(left_out), "sha256": file_hash(options.out)}
    data = {"questions": options.questions, **graph_files(options.graph)}
    written = card.write(data, identity, figures)
    sys.stdout.write(count_table(counts) + "\n")
    for reason, count in left_out.items():
        sys.stdout.write(f"left out: {count:,} {reason}\n")
    sys.stdout.write(f"wrote {options.out} ({counts['all']['questions kept']} questions) and {written}\n")
    if for_hands:
        sys.stdout.write(f"{for_hands} questions for correction by hand: {rejected} (--help)\n")
    if failed := sum(entry["failed"] for entry in entries):
        sys.stderr.write(f"error: the engine failed on {failed} questions: --resume asks them again\n")
    return int(failed > 0)


def _attempts(
    options: argparse.Namespace, settings: Settings, writer: KgWriterSettings, stack: ExitStack
) -> Iterator[tuple[CallWriter, float]]:
    """Whom to ask one after another, with the temperature: the stronger model once, in a chat, then the preset's."""
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    used = {name: path for name, path in settings.language_model.adapters.items() if name == writer.adapter}
    engines = [(writer, settings.language_model.model_copy(update={"adapters": used}), options.attempts)]
    if options.url:
        stronger = OpenAIEngine(engine="openai", model=options.model, base_url=options.url, base_url_variable="")
        chat = writer.model_copy(update={"form": "chat", "adapter": None, "grammar": False})
        engines.insert(0, (chat, stronger, 1))
    for form, engine, attempts in engines:
        if attempts:
            model = load_language_model(engine)
            stack.callback(model.close)
            asked = CallWriter(form, model, dense)
            asked.warm_up()
            yield from ((asked, options.temperature if later else 0.0) for later in range(attempts))


def _corrected(rejected: Path) -> dict[str, dict[str, Any]]:
    """The rows of the file in which a person wrote calls, by their questions; raises DatasetError."""
    written = [record for record in read_jsonl(rejected) if record.data.get("calls")] if rejected.is_file() else []
    return {_asked(record.data): record.data | {"calls": list(pair_of(record).calls)} for record in written}


def _write_rejected(rejected: Path, corrected: Mapping[str, Any], entries: Sequence[dict[str, Any]]) -> int:
    """Write the questions without kept calls, and all that a person wrote; returns how many have none."""
    left = {_asked(each["asked"]): each for each in entries if not each["failed"] and each["kept"] is None}
    calls = {key: row["calls"] for key, row in corrected.items()}
    rows = {k: each["asked"] | {"calls": calls.get(k, []), "tried": each["tried"]} for k, each in left.items()}
    write_rows(rejected, {**corrected, **rows}.values())
    return len(left)


def _questions(
    options: argparse.Namespace, identity: Mapping[str, Any], corrected: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], Counter[str]]:
    """The questions that graph values can answer, by their keys, with calls by hand; counts of the others by reason."""
    left_out: Counter[str] = Counter()
    rows: dict[str, dict[str, Any]] = {}
    for row in read_rows(options.questions, split=options.split):
        row["by_hand"] = corrected.get(_asked(row), {}).get("calls", [])
        answer = str(row.get("answer") or "").strip().lower().rstrip(".")
        if not answer or answer in {I_DONT_KNOW, INVALID_QUESTION}:
            left_out["without an answer that values could give"] += 1
        elif (key := _key(row, identity)) in rows:
            left_out["asked twice"] += 1
        elif options.limit is None or len(rows) < options.limit:
            rows[key] = {name: value for name, value in row.items() if name != "search_results"}  # gigabytes
    left_out.update({f"of split {split}": count for split, count in options.split.left_out.items()})
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise DatasetError(f"{options.questions}: no question to label ({reasons})")
    return rows, left_out


def _asked(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get(name, "") for name in ("interaction_id", "query", "query_time")])


def _key(row: Mapping[str, Any], identity: Mapping[str, Any]) -> str:
    """The question and all that can change its label: what another preset, judge or graph gave is not used."""
    return hashlib.sha256(f"{json.dumps(identity)}{_asked(row)}{row['by_hand'] or ''}".encode()).hexdigest()[:24]


def _counts(entries: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Questions asked and kept, attempts and their outcomes."""
    outcomes = sum((Counter(entry["outcomes"]) for entry in entries), Counter())
    kept = sum(entry["kept"] is not None for entry in entries)
    asked = {"questions": len(entries), "questions kept": kept, "attempts": outcomes.total()}
    return asked | {name: outcomes[name] for name in OUTCOMES}


if __name__ == "__main__":
    end_with(main)
