"""Chooses the examples that the call writer's prompt always shows."""

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from crag.core.deadline import Deadline
from crag.core.files import append_rows, read_growing
from crag.core.queries import parse_query_time
from crag.engines.llm import LanguageModel
from crag.graph.executor import Executor, Task
from crag.graph.language import Program, render
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, Example, ExampleIndex, write_examples
from crag.settings import KgWriterSettings
from crag.training.api_pairs.graph import execute, values_of
from crag.training.api_pairs.pairs import CallPair
from crag.training.program_kind import Kind, program_kind

SECONDS_PER_QUESTION = 600.0
"""This only ends a hang: the choice must not depend on the machine's speed."""
ASKED_FILE = "asked.jsonl"
"""The questions of each round, with the written and the labelled calls."""
RUN_FILE = "run.json"
"""The settings of the run."""
CURRENT = "current"
"""Folder of the examples of the current round."""
_STRING = re.compile(r'"(?!len")[^"]*"')
"""A string in canonical calls; not the key ``"len"``, which is an operator."""
_PARTS = re.compile(
    r"""
    get_\w+                      # tables
    | sort | average
    | \b(?:eq|neq|ge|le)(?=\()  # conditions; not these letters within a name
    | ALL
    | "len"
    | \[:                        # a slice
    | \*
    | \(\[""                     # a list of names
    | ^None$                     # the empty program
    """,
    re.VERBOSE,
)
"""Tables and operators in canonical calls whose strings are empty."""


class GrowthPlan(NamedTuple):
    """How a list grows: to `examples` from `start`, by at most `added` in a round of `asked` questions."""

    examples: int
    start: int = 5
    added: int = 5
    asked: int = 100
    rounds: int = 10


class GrownList(NamedTuple):
    """The examples of a domain in the order of their addition, and how many were asked, wrong and added each round."""

    examples: Sequence[Example]
    rounds: Sequence[Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ExampleTrial:
    """Asks the writer with a list of examples and checks whether its calls give the right values.

    The work folder keeps all results: no question is asked twice with the same examples.
    """

    work: Path
    writer: KgWriterSettings
    model: LanguageModel
    executor: Executor
    batch: int

    def check(
        self,
        domain: Domain,
        number: int,
        pairs: Sequence[CallPair],
        examples: Sequence[Example],
    ) -> list[bool]:
        """Whether the writer's calls for each question of this round are right."""
        round_fields = {"domain": str(domain), "round": number}
        verdicts = self._earlier_verdicts(round_fields)
        missing = [pair for pair in pairs if pair.query not in verdicts]
        writer = self._writer_with(domain, examples)
        starts = range(0, len(missing), self.batch)
        for start in tqdm(starts, f"{domain} {number}", disable=None, unit="batch"):
            batch = missing[start : start + self.batch]
            requests = [CallRequest(pair.query, pair.query_time, domain) for pair in batch]
            written = writer.write(requests, Deadline(SECONDS_PER_QUESTION * len(batch)))

            rows: list[dict[str, object]] = []
            for pair, calls in zip(batch, written, strict=True):
                # The text of the calls may differ from the label: what counts is what the graph gives
                right = same_values(pair, calls.program, self.executor)
                verdicts[pair.query] = right
                rows.append(
                    {
                        **round_fields,
                        "query": pair.query,
                        "right": right,
                        "labelled": pair.calls,
                        "written": calls.text,
                    }
                )
            # After each batch, so that a kill loses one batch at most
            append_rows(self.work / ASKED_FILE, rows)
        return [verdicts[pair.query] for pair in pairs]

    def _earlier_verdicts(self, round_fields: Mapping[str, object]) -> dict[str, bool]:
        """What the work folder says about questions of this domain and round: in every other the examples differ."""
        verdicts: dict[str, bool] = {}
        for record in read_growing(self.work / ASKED_FILE):
            if round_fields.items() <= record.data.items():
                verdicts[record.data["query"]] = record.data["right"]
        return verdicts

    def _writer_with(self, domain: Domain, examples: Sequence[Example]) -> CallWriter:
        """The preset's writer with these examples of the domain, as in use."""
        folder = self.work / CURRENT
        folder.mkdir(exist_ok=True)
        for name in Domain:
            # The writer expects a file for every domain
            domain_examples = examples if name is domain else ()
            write_examples(folder / f"{name}.toml", "of this round", domain_examples)

        changes = {
            "selection": "fixed",
            "fixed_examples": str(folder.resolve()),
            "examples": len(examples),
        }
        settings = self.writer.model_copy(update=changes)
        return CallWriter(settings, self.model, None)


def same_values(pair: CallPair, program: Program | None, executor: Executor) -> bool:
    """Whether a program has the same calls as the labelled one, or gives the same values from the graph."""
    if program is None:
        return False

    # No call to the graph is needed
    if render(program) == render(pair.program):
        return True
    # One of them is the empty program and the other is not
    if not program.statements or not pair.program.statements:
        return False

    asked_at = parse_query_time(pair.query_time)
    tasks = [Task(pair.domain, program, asked_at), Task(pair.domain, pair.program, asked_at)]
    written, labelled = execute(executor, tasks)

    # As text and in any order: numbers and strings do not compare with each other
    written_values = sorted(map(str, values_of(written)))
    labelled_values = sorted(map(str, values_of(labelled)))
    # Two empty results are equal for the wrong reason
    return bool(labelled_values) and written_values == labelled_values


def grow(
    domain: Domain,
    pairs: Sequence[CallPair],
    pool: Sequence[Example],
    plan: GrowthPlan,
    trial: ExampleTrial,
) -> GrownList:
    """Choose the examples of one domain: each round adds some for the kinds of calls that the writer got wrong."""
    # A seed for each domain, so that one domain's list does not depend on the others
    chance = random.Random(f"0 {domain}")  # noqa: S311 - reproducible chance
    index = ExampleIndex(pool, None)
    # The greedy choice takes the first of equal examples, so the order must not be the bank's
    shuffled = chance.sample(list(pool), len(pool))
    examples = _cover_parts(shuffled, min(plan.start, plan.examples))
    rounds: list[dict[str, int]] = []

    for number in range(1, plan.rounds + 1):
        used = {example.question for example in examples}
        # A question that the prompt shows with its calls would be answered by copying
        candidates = [pair for pair in pairs if pair.query not in used]
        free = [example for example in pool if example.question not in used]
        if len(examples) >= plan.examples or not candidates or not free:
            break

        sample = chance.sample(candidates, min(plan.asked, len(candidates)))
        verdicts = trial.check(domain, number, sample, examples)
        wrong = [pair for pair, right in zip(sample, verdicts, strict=True) if not right]

        # The examples that the failures of this round call for.
        limit = min(plan.added, plan.examples - len(examples))
        added = _examples_for_failures(wrong, free, index, limit)
        rounds.append({"asked": len(sample), "wrong": len(wrong), "added": len(added)})
        figures = f"{len(wrong)} of {len(sample)} wrong, {len(added)} examples added"
        sys.stdout.write(f"{domain}, round {number}: {figures}\n")
        # Nothing failed, or no example is left: further rounds would change nothing
        if not added:
            break
        examples += added
    return GrownList(examples, rounds)


def parts_of(calls: str) -> set[str]:
    """The tables and operators in a canonical program; ``None`` for the empty program."""
    # Names in strings are not operators: a film may be called "Average"
    return set(_PARTS.findall(_STRING.sub('""', calls)))


def _cover_parts(pool: Sequence[Example], count: int) -> list[Example]:
    """The first `count` examples of an order in which every table and operator of the pool soon occurs twice.

    Greedy: the next example is the one whose missing parts are rarest.
    """
    frequency: Counter[str] = Counter()
    for example in pool:
        frequency.update(parts_of(example.calls))
    # A part that the pool has once cannot occur twice
    missing = {part: min(2, number) for part, number in frequency.items()}

    def gain(example: Example) -> float:
        # A rare part counts more than a frequent one, since few examples can supply it
        missing_parts = [part for part in parts_of(example.calls) if missing[part] > 0]
        return sum(1 / frequency[part] for part in missing_parts)

    remaining = list(pool)
    selected: list[Example] = []
    while remaining and len(selected) < count:
        best = max(remaining, key=gain)
        remaining.remove(best)
        selected.append(best)
        for part in parts_of(best.calls):
            # May go below 0: such a part adds nothing to the gain
            missing[part] -= 1
    return selected


def _examples_for_failures(
    wrong: Sequence[CallPair],
    free: Sequence[Example],
    index: ExampleIndex,
    limit: int,
) -> list[Example]:
    """At most `limit` of the free examples, of the kinds of calls that failed.

    The kinds take turns, the most frequent kind first.
    """
    by_kind: dict[Kind, list[CallPair]] = defaultdict(list)
    for pair in wrong:
        by_kind[program_kind(pair.program)].append(pair)

    most_frequent_first = sorted(by_kind.values(), key=len, reverse=True)
    in_turns: list[CallPair] = []
    # One of each kind, then the next of each; shorter kinds run out
    for turn in zip_longest(*most_frequent_first):
        in_turns += [pair for pair in turn if pair]

    # An example is given once.
    remaining = {example.question: example for example in free}
    count = min(limit, len(remaining))
    examples: list[Example] = []
    for pair in in_turns[:count]:
        question = _nearest_question(pair, remaining, index)
        examples.append(remaining.pop(question))
    return examples


def _nearest_question(pair: CallPair, free: Mapping[str, Example], index: ExampleIndex) -> str:
    """The question of the most similar free example, of the same kind if there is one."""
    kind = program_kind(pair.program)
    same_kind: set[str] = set()
    for question, example in free.items():
        if program_kind(example.program) == kind:
            same_kind.add(question)
    candidates = same_kind or set(free)

    # The nearest example is the last of the ranking, which has all examples of the domain.
    (ranking,) = index.nearest([pair.query], [pair.domain], sys.maxsize)
    ranked = [example.question for example in reversed(ranking.examples)]
    return next(question for question in ranked if question in candidates)
