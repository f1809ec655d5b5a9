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
from crag.graph.language import Average, Program, Sort, render
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, Example, ExampleIndex, write_examples
from crag.settings import KgWriterSettings
from crag.training.api_pairs import (
    Pair,
    execute,
    values_of,
)

SECONDS_PER_QUESTION = 600.0
"""This only ends a hang: the choice must not depend on the machine's speed."""
ASKED_FILE, RUN_FILE, CURRENT = "asked.jsonl", "run.json", "current"
_DEFAULT_KEYS = {"summary", "value"}
_TEXT = re.compile(r'"(?!len")[^"]*"')
_PARTS = re.compile(r'get_\w+|sort|average|\b(?:eq|neq|ge|le)(?=\()|ALL|"len"|\[:|\*|\(\[""|^None$')
"""In canonical calls without their texts; ``([""`` is a list of names."""


class Growth(NamedTuple):
    """How a list grows: to `examples` from `start`, by at most `added` in a round of `asked` questions."""

    examples: int
    start: int = 5
    added: int = 5
    asked: int = 100
    rounds: int = 10


Kind = tuple[frozenset[str], frozenset[str]]
"""The tables that a program calls and the keys that it selects, without default keys."""


def kind_of(program: Program) -> Kind:
    """The kind of a program."""
    keys = {
        "len" if each.count else each.select
        for each, following in zip_longest(program.statements, program.statements[1:])
        if not isinstance(each, Average) and not isinstance(following, Sort)
    }
    tables = {getattr(each, "table", None) for each in program.statements}
    return frozenset(filter(None, tables)), frozenset(filter(None, keys - _DEFAULT_KEYS))


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

    def right(self, domain: Domain, number: int, pairs: Sequence[Pair], examples: Sequence[Example]) -> list[bool]:
        """Whether the writer's calls for each question of this round are right."""
        turn = {"domain": str(domain), "round": number}
        rows = [row.data for row in read_growing(self.work / ASKED_FILE)]
        known = {row["query"]: row["right"] for row in rows if turn.items() <= row.items()}
        missing = [pair for pair in pairs if pair.query not in known]
        writer = self._shown(domain, examples)
        for start in tqdm(range(0, len(missing), self.batch), f"{domain} {number}", disable=None, unit="batch"):
            asked = missing[start : start + self.batch]
            questions = [CallRequest(pair.query, pair.query_time, domain) for pair in asked]
            written = writer.write(questions, Deadline(SECONDS_PER_QUESTION * len(asked)))
            rows = [
                turn | {"query": pair.query, "right": right, "labelled": pair.calls, "written": each.text}
                for pair, each in zip(asked, written, strict=True)
                for right in [same_values(pair, each.program, self.executor)]
            ]
            append_rows(self.work / ASKED_FILE, rows)
            known |= {row["query"]: row["right"] for row in rows}
        return [known[pair.query] for pair in pairs]

    def _shown(self, domain: Domain, examples: Sequence[Example]) -> CallWriter:
        """The preset's writer with these examples, as in use."""
        folder = self.work / CURRENT
        folder.mkdir(exist_ok=True)
        for each in Domain:
            write_examples(folder / f"{each}.toml", "of this round", examples if each is domain else ())
        changes = {"selection": "fixed", "fixed_examples": str(folder.resolve()), "examples": len(examples)}
        return CallWriter(self.writer.model_copy(update=changes), self.model, None)


def same_values(pair: Pair, program: Program | None, executor: Executor) -> bool:
    """Whether a program has the same calls as the labelled one, or gives the same values from the graph."""
    if program is None or render(program) == render(pair.program):
        return program is not None
    if not program.statements or not pair.program.statements:
        return False
    time_asked = parse_query_time(pair.query_time)
    done = execute(executor, [Task(pair.domain, each, time_asked) for each in (program, pair.program)])
    written, labelled = (sorted(map(str, values_of(each))) for each in done)
    return bool(labelled) and written == labelled


def grow(
    domain: Domain, pairs: Sequence[Pair], pool: Sequence[Example], plan: Growth, trial: ExampleTrial
) -> tuple[list[Example], list[dict[str, int]]]:
    """The examples of one domain, in the order of their addition, and the counts of each round."""
    chance = random.Random(f"0 {domain}")  # noqa: S311 - reproducible chance
    index = ExampleIndex(pool, None)
    examples = covering(chance.sample(list(pool), len(pool)), min(plan.start, plan.examples))
    rounds: list[dict[str, int]] = []
    for number in range(1, plan.rounds + 1):
        shown = {example.question for example in examples}
        others = [pair for pair in pairs if pair.query not in shown]
        free = [example for example in pool if example.question not in shown]
        if len(examples) >= plan.examples or not others or not free:
            break
        sample = chance.sample(others, min(plan.asked, len(others)))
        right = trial.right(domain, number, sample, examples)
        wrong = [pair for pair, found in zip(sample, right, strict=True) if not found]
        joined = lessons(wrong, free, index, min(plan.added, plan.examples - len(examples)))
        rounds.append({"asked": len(sample), "wrong": len(wrong), "added": len(joined)})
        figures = f"{len(wrong)} of {len(sample)} wrong, {len(joined)} examples added"
        sys.stdout.write(f"{domain}, round {number}: {figures}\n")
        if not joined:
            break
        examples += joined
    return examples, rounds


def parts_of(calls: str) -> set[str]:
    """The tables and operators in a canonical program; ``None`` for the empty one."""
    return set(_PARTS.findall(_TEXT.sub('""', calls)))


def covering(pool: Sequence[Example], count: int) -> list[Example]:
    """The first `count` examples of an order in which every table and operator of the pool soon stands in two."""
    common = Counter(part for example in pool for part in parts_of(example.calls))
    wanted = {part: min(2, number) for part, number in common.items()}
    left, chosen = list(pool), list[Example]()
    while left and len(chosen) < count:
        best = max(left, key=lambda example: sum(1 / common[p] for p in parts_of(example.calls) if wanted[p] > 0))
        left.remove(best)
        chosen.append(best)
        for part in parts_of(best.calls):
            wanted[part] -= 1
    return chosen


def lessons(wrong: Sequence[Pair], free: Sequence[Example], index: ExampleIndex, most: int) -> list[Example]:
    """At most `most` of the free examples, of the kinds of calls that failed: in turn, the most frequent kind first."""
    kinds: dict[Kind, list[Pair]] = defaultdict(list)
    for pair in wrong:
        kinds[kind_of(pair.program)].append(pair)
    turns = zip_longest(*sorted(kinds.values(), key=len, reverse=True))
    left = {example.question: example for example in free}
    ordered = [pair for turn in turns for pair in turn if pair]
    return [left.pop(_nearest(pair, left, index)) for pair in ordered[: min(most, len(left))]]


def _nearest(pair: Pair, free: Mapping[str, Example], index: ExampleIndex) -> str:
    """The question of the most similar free example, of the same kind if there is one."""
    kind = kind_of(pair.program)
    same = {question for question, example in free.items() if kind_of(example.program) == kind}
    (near,) = index.nearest([pair.query], [pair.domain], sys.maxsize)
    return next(example.question for example in reversed(near.examples) if example.question in (same or free))
