"""Choose the call writer's fixed examples by its remaining errors (db3 section 3.2).

    python -m training.choose_examples --preset db3_task23 --out DIR [--set KEY=VALUE] [--resume]

A domain starts with --start examples, chosen so that each table and operator of our bank stands in two of them, rare
ones first. In each of --rounds rounds the preset's untuned writer, shown the examples so far, is asked --asked labelled
questions. Its calls are executed on the graph; if they give other values than the
labelled calls, at most --added examples are added, for the most frequent kinds of failing calls first. By default this
is the most similar example of the same kind from our own bank, so that the list can be published; with --pool questions
it is the question itself, as in the paper. A domain is done when its list has the preset's number of examples
(knowledge_graph.writer.examples), nothing fails, or no candidate is left.

DIR gets a file of examples for each domain, which a preset names as knowledge_graph.writer.fixed_examples, and
run_card.json: data with sha256, settings, and the failures of each round. The model's output is kept in --work, so that
--resume continues after a kill.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from agents.common.deadline import Deadline
from agents.common.files import UserError, append_rows, lock_folder, read_growing, write_json
from agents.common.queries import parse_query_time
from agents.kg.executor import Executor, Task
from agents.kg.language import Average, Program, Sort, render
from agents.kg.schema import Domain
from agents.kg.writing import CallRequest, CallWriter, Example, ExampleIndex, load_bank, write_examples
from agents.llm import LanguageModel, load_language_model
from agents.settings import KgWriterSettings, KnowledgeGraphSettings, load_settings
from crag.command import add_preset_arguments, add_split_argument, command, end_with, form, parser_of, whole
from evaluation.datasets import Split
from evaluation.signature import settings_hash
from mock_api import GraphError
from training.api_pairs import (
    QUESTIONS,
    Pair,
    add_graph_argument,
    bank_version,
    company_names,
    execute,
    executor_of,
    graph_files,
    opened,
    real_pairs,
    values_of,
)
from training.files import RunCard
from training.folds import may_train, parse_fold

REPOSITORY = Path(__file__).parents[1]
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


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder. Exit code: 2 if an input is missing or wrong."""
    parser = parser_of("python -m training.choose_examples", __doc__)
    add_preset_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of examples")
    add_split_argument(parser)
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    add_graph_argument(parser)
    source = "source of added examples (%(default)s)"
    parser.add_argument("--pool", choices=("bank", "questions"), default="bank", help=source)
    for name, default in Growth._field_defaults.items():
        parser.add_argument(f"--{name}", type=whole(1), default=default, help="see above (default: %(default)s)")
    work = REPOSITORY / "results/training/choose_examples"
    parser.add_argument("--work", type=Path, default=work, help="folder for the model's output")
    parser.add_argument("--resume", action="store_true", help="continue the run in --work")
    fold = "do not ask the questions that this fold tests, such as 1/3"
    parser.add_argument("--hold-out", type=form(parse_fold), metavar="NUMBER/TOTAL", help=fold)
    _choose(parser.parse_args(arguments))


def _choose(options: argparse.Namespace) -> None:
    card = RunCard(options.out)
    settings = load_settings(options.preset, [*options.set, "tuned = false"])
    writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
    plan = Growth(writer.examples, options.start, options.added, options.asked, options.rounds)
    if any(options.out.glob("*.toml")):
        raise UserError(f"{options.out} holds examples: remove them, or --out names another folder")
    chosen = {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "model": getattr(settings.language_model, "model", settings.language_model.engine),
        "writer": writer.model_dump(include={"form", "schema_in_prompt", "schema_detail", "grammar", "repair"}),
        "plan": plan._asdict() | {"pool": options.pool},
        "bank": bank_version(),
        "hold_out": str(options.hold_out) if options.hold_out else None,
        Split.FIELD: options.split.wanted,
    }
    grown = {}
    with ExitStack() as stack:
        stack.enter_context(lock_folder(options.work))
        run_file = options.work / RUN_FILE
        if run_file.is_file() and (options.work / ASKED_FILE).is_file():
            if not options.resume:
                raise UserError(f"{options.work} holds a run: --resume continues it, --work names another folder")
            if json.loads(run_file.read_text(encoding="utf-8")) != json.loads(json.dumps(chosen)):
                raise UserError(f"{options.work} holds a run with other settings: --work names another folder")
        write_json(run_file, chosen)
        graph = stack.enter_context(opened(options.graph))
        executor = stack.enter_context(executor_of(graph))
        labelled = real_pairs(options.questions, company_names(graph), options.split)
        pairs = [pair for pair in labelled if may_train(pair.groups, options.hold_out)]
        model = load_language_model(settings.language_model)
        stack.callback(model.close)
        model.warm_up()
        trial = ExampleTrial(options.work, writer, model, executor, settings.batch_size)
        for domain in Domain:
            asked = [pair for pair in pairs if pair.domain is domain]
            pool = [example for example in load_bank() if example.domain is domain]
            if options.pool == "questions":
                pool = [Example(pair.domain, pair.query, "\n".join(pair.calls), pair.program) for pair in asked]
            grown[domain] = grow(domain, asked, pool, plan, trial)
    options.out.mkdir(parents=True, exist_ok=True)
    for domain, (examples, _) in grown.items():
        comment = "Made by python -m training.choose_examples, in the order in which they joined; see run_card.json."
        write_examples(options.out / f"{domain}.toml", comment, examples)
    metrics = {str(domain): {"examples": len(found), "rounds": rounds} for domain, (found, rounds) in grown.items()}
    data = {"questions": options.questions, **graph_files(options.graph)}
    written = card.write(data, chosen, metrics, ("torch", "transformers"))
    count = sum(len(examples) for examples, _ in grown.values())
    sys.stdout.write(f"wrote {count} examples to {options.out}; the run card is {written}\n")
    options.split.report()


if __name__ == "__main__":
    end_with(main)
