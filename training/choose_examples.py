"""Choose the call writer's fixed examples by its remaining errors (db3 section 3.2).

    python -m training.choose_examples --preset db3_task23 --out DIR [--set KEY=VALUE] [--resume]

A domain starts with a few examples. In each round the preset's untuned writer, shown the examples so far, is asked
labelled questions. Its calls are executed on the graph; if they give other values than the labelled calls, an example
is added, for the most frequent kinds of failing calls first. By default this is the most similar example of the same
kind from our own bank, so that the list can be published; with --pool questions it is the question itself, as in the
paper. A domain is done when its list is full, nothing fails, or no candidate is left.

DIR gets a file of examples for each domain, which a preset names as knowledge_graph.writer.fixed_examples, and
run_card.json: data with sha256, settings, and the failures of each round. The model's output is kept in --work, so that
--resume continues after a kill.
"""

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from agents.common.console import end_with
from agents.common.deadline import Deadline
from agents.common.files import append_rows, lock_folder, read_growing, write_json
from agents.common.queries import parse_query_time
from agents.kg.trainable import (
    Average,
    CallRequest,
    CallWriter,
    Domain,
    Example,
    ExampleIndex,
    Program,
    Sort,
    Task,
    load_bank,
    render,
    write_examples,
)
from agents.llm import LanguageModel, load_language_model
from agents.settings import KgWriterSettings, KnowledgeGraphSettings, Settings, load_settings
from evaluation.datasets import Split
from evaluation.signature import settings_hash
from training.api_pairs import (
    QUESTIONS,
    Bench,
    Pair,
    bank_version,
    bench_of,
    company_names,
    graph_files,
    opened,
    real_pairs,
)
from training.command import CommandError, add_split_argument, check_data_file, exit_code, parser_of, positive
from training.run_card import run_card, write_card

REPOSITORY = Path(__file__).parents[1]
SECONDS_PER_QUESTION = 600.0
"""This only ends a hang: the choice must not depend on the machine's speed."""
ASKED_FILE, RUN_FILE, CURRENT = "asked.jsonl", "run.json", "current"
_DEFAULT_KEYS = {"summary", "value"}


class ProgramKind(NamedTuple):
    """The tables that a program calls and the keys that it selects."""

    tables: frozenset[str]
    keys: frozenset[str]


def kind_of(program: Program) -> ProgramKind:
    """The kind of a program; ignores default keys."""
    tables = (getattr(each, "table", None) for each in program.statements)
    keys = set()
    for place, each in enumerate(program.statements):
        following = program.statements[place + 1 : place + 2]
        if not isinstance(each, Average) and not (following and isinstance(following[0], Sort)):
            keys.add("len" if each.count else each.select)
    return ProgramKind(
        frozenset(name for name in tables if name), frozenset(key for key in keys if key) - _DEFAULT_KEYS
    )


class ExampleTrial:
    """Asks the writer with a list of examples and checks whether its calls give the right values.

    The work folder keeps all results: no question is asked twice with the same examples.
    """

    def __init__(self, work: Path, writer: KgWriterSettings, model: LanguageModel, bench: Bench, batch: int) -> None:
        self._work = work
        self._writer = writer
        self._model = model
        self._bench = bench
        self._batch = batch
        rows = [row.data for row in read_growing(work / ASKED_FILE)]
        self._known: dict[tuple[str, int, str], bool] = {
            (row["domain"], row["round"], row["query"]): row["right"] for row in rows
        }

    def right(self, domain: Domain, number: int, pairs: Sequence[Pair], examples: Sequence[Example]) -> list[bool]:
        """Whether the writer's calls for each question of this round are right."""
        missing = [pair for pair in pairs if (domain, number, pair.query) not in self._known]
        if missing:
            writer = self._shown(domain, examples)
            for start in tqdm(range(0, len(missing), self._batch), f"{domain} {number}", disable=None, unit="batch"):
                self._ask(writer, domain, number, missing[start : start + self._batch])
        return [self._known[domain, number, pair.query] for pair in pairs]

    def _shown(self, domain: Domain, examples: Sequence[Example]) -> CallWriter:
        """The preset's writer with these examples, as in use."""
        folder = self._work / CURRENT
        folder.mkdir(exist_ok=True)
        for each in Domain:
            write_examples(folder / f"{each}.toml", "of this round", examples if each is domain else ())
        changes = {"selection": "fixed", "fixed_examples": str(folder.resolve()), "examples": len(examples)}
        return CallWriter(self._writer.model_copy(update=changes), self._model, None)

    def _ask(self, writer: CallWriter, domain: Domain, number: int, pairs: Sequence[Pair]) -> None:
        questions = [CallRequest(pair.query, pair.query_time, domain) for pair in pairs]
        written = writer.write(questions, Deadline(SECONDS_PER_QUESTION * len(pairs)))
        programs = [each.program for each in written]
        right = same_values(pairs, programs, self._bench)
        for pair, each, found in zip(pairs, written, right, strict=True):
            row = {"domain": str(domain), "round": number, "query": pair.query, "right": found}
            append_rows(self._work / ASKED_FILE, [row | {"labelled": pair.calls, "written": each.text}])
            self._known[domain, number, pair.query] = found


def same_values(pairs: Sequence[Pair], programs: Sequence[Program | None], bench: Bench) -> list[bool]:
    """Whether each program has the same calls as the labelled one, or gives the same values from the graph."""
    doubtful = [
        place
        for place, (pair, program) in enumerate(zip(pairs, programs, strict=True))
        if program is not None and program.statements and pair.values and render(program) != render(pair.program)
    ]
    tasks = [Task(pairs[p].domain, programs[p] or Program(), parse_query_time(pairs[p].query_time)) for p in doubtful]
    values = dict(zip(doubtful, (_plain(done.values) for done in bench.run(tasks)), strict=True))
    return [
        values[place] == _plain(pair.values)
        if place in values
        else program is not None and render(program) == render(pair.program)
        for place, (pair, program) in enumerate(zip(pairs, programs, strict=True))
    ]


def _plain(values: Sequence[object]) -> list[str]:
    return sorted(map(str, values))


def grow(
    domain: Domain, pairs: Sequence[Pair], pool: Sequence[Example], options: argparse.Namespace, trial: ExampleTrial
) -> tuple[list[Example], list[dict[str, int]]]:
    """The examples of one domain, in the order of their addition, and the counts of each round."""
    chance = random.Random(f"{options.seed} {domain}")  # noqa: S311 - reproducible chance
    index = ExampleIndex(pool, None)
    examples = chance.sample(list(pool), min(options.start, options.count, len(pool)))
    rounds: list[dict[str, int]] = []
    for number in range(1, options.rounds + 1):
        shown = {example.question for example in examples}
        others = [pair for pair in pairs if pair.query not in shown]
        free = [example for example in pool if example.question not in shown]
        if len(examples) >= options.count or not others or not free:
            break
        sample = chance.sample(others, min(options.asked, len(others)))
        right = trial.right(domain, number, sample, examples)
        wrong = [pair for pair, found in zip(sample, right, strict=True) if not found]
        joined = lessons(wrong, free, index, min(options.added, options.count - len(examples)))
        rounds.append({"asked": len(sample), "wrong": len(wrong), "added": len(joined)})
        sys.stdout.write(
            f"{domain}, round {number}: {len(wrong)} of {len(sample)} wrong, {len(joined)} examples added\n"
        )
        sys.stdout.flush()
        if not joined:
            break
        examples += joined
    return examples, rounds


def lessons(wrong: Sequence[Pair], free: Sequence[Example], index: ExampleIndex, most: int) -> list[Example]:
    """Examples of the kinds of calls that failed: each kind in turn, the most frequent one first.

    Args:
        wrong: Questions whose calls were wrong.
        free: Examples that are not shown yet.
        index: The whole pool.
        most: Most examples to choose.
    """
    kinds: dict[ProgramKind, list[Pair]] = defaultdict(list)
    for pair in wrong:
        kinds[kind_of(pair.program)].append(pair)
    turns = sorted(kinds.values(), key=lambda own: -len(own))
    left = {example.question: example for example in free}
    chosen: list[Example] = []
    while len(chosen) < most and left and any(turns):
        for own in turns:
            if own and left and len(chosen) < most:
                chosen.append(left.pop(_nearest(own.pop(0), list(left.values()), index).question))
    return chosen


def _nearest(pair: Pair, free: Sequence[Example], index: ExampleIndex) -> Example:
    """The free example most similar to the question, of the same kind if there is one."""
    same = {example.question for example in free if kind_of(example.program) == kind_of(pair.program)}
    wanted = same or {example.question for example in free}
    (near,) = index.nearest([pair.query], [pair.domain], sys.maxsize)
    return next(example for example in reversed(near.examples) if example.question in wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the folder. Exit code: 1 if an input is missing or wrong."""
    parser = parser_of("training.choose_examples", __doc__)
    parser.add_argument("--preset", help="name, or path of a TOML file; default: the active preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of examples")
    add_split_argument(parser)
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of the graph that --questions were labelled on",
    )  # fmt: skip
    parser.add_argument(
        "--pool", choices=("bank", "questions"), default="bank", help="source of added examples (%(default)s)"
    )
    for name, default, meaning in (
        ("count", None, "examples per domain; default: the preset's number"),
        ("start", 5, "examples at the start (%(default)s)"),
        ("added", 5, "most examples added per round (%(default)s)"),
        ("asked", 100, "questions per round (%(default)s)"),
        ("rounds", 10, "most rounds (%(default)s)"),
    ):
        parser.add_argument(f"--{name}", type=positive, default=default, help=meaning)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first examples and each round (%(default)s)")
    parser.add_argument(
        "--work",
        type=Path,
        default=REPOSITORY / "results/training/choose_examples",
        help="folder for the model's output",
    )
    parser.add_argument("--resume", action="store_true", help="continue the run in --work")
    parser.add_argument("--overwrite", action="store_true", help="replace the examples in --out")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options), "the same command with --resume")


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    settings = load_settings(options.preset, [*options.set, "tuned = false"])
    writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
    options.count = options.count or writer.examples
    if any(options.out.glob("*.toml")) and not options.overwrite:
        raise CommandError(f"{options.out} holds examples: --out names another folder, --overwrite replaces them")
    check_data_file(options.questions, "--questions names the file")
    chosen = _chosen(options, settings, writer)
    grown = {}
    with ExitStack() as stack:
        stack.enter_context(lock_folder(options.work))
        _open_work(options.work, chosen, resume=options.resume)
        # The questions were labelled on the first graph; the others are for sampling.
        graphs = stack.enter_context(opened(options.graph))
        bench = stack.enter_context(bench_of(graphs[:1]))
        real = real_pairs(options.questions, bench, company_names(graphs), split=options.split)
        pairs = list({pair.query: pair for pair in reversed(real)}.values())[::-1]
        model = load_language_model(settings.language_model)
        stack.callback(model.close)
        model.warm_up()
        trial = ExampleTrial(options.work, writer, model, bench, settings.batch_size)
        for domain in Domain:
            own = [pair for pair in pairs if pair.domain is domain]
            pool = [example for example in load_bank() if example.domain is domain]
            if options.pool == "questions":
                pool = [Example(pair.domain, pair.query, render(pair.program), pair.program) for pair in own]
            grown[domain] = grow(domain, own, pool, options, trial)
    options.out.mkdir(parents=True, exist_ok=True)
    for domain, (examples, _) in grown.items():
        comment = "Made by python -m training.choose_examples, in the order in which they joined; see run_card.json."
        write_examples(options.out / f"{domain}.toml", comment, examples)
    metrics = {str(domain): {"examples": len(found), "rounds": rounds} for domain, (found, rounds) in grown.items()}
    graph = {name: path for name, path in graph_files(options.graph).items() if name.startswith("graph 1 ")}
    data = {"questions": options.questions, **graph}
    seconds = time.monotonic() - started
    card = write_card(options.out, run_card(data, chosen, seconds, metrics, ("torch", "transformers")))
    count = sum(len(examples) for examples, _ in grown.values())
    sys.stdout.write(f"wrote {count} examples to {options.out}; the run card is {card}\n")
    options.split.report()
    return 0


def _chosen(options: argparse.Namespace, settings: Settings, writer: KgWriterSettings) -> dict[str, Any]:
    """The settings of the run card."""
    shown = ("form", "schema_in_prompt", "schema_detail", "grammar", "repair")
    plan = ("count", "start", "added", "asked", "rounds", "seed", "pool")
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "model": getattr(settings.language_model, "model", settings.language_model.engine),
        "writer": {name: getattr(writer, name) for name in shown},
        "plan": {name: getattr(options, name) for name in plan},
        "bank": bank_version(),
        Split.FIELD: options.split.wanted,
    }


def _open_work(work: Path, chosen: Mapping[str, Any], *, resume: bool) -> None:
    """Start a work folder, or continue the same run in it."""
    path = work / RUN_FILE
    if path.is_file() and (work / ASKED_FILE).is_file():
        if not resume:
            raise CommandError(f"{work} holds a run: --resume continues it, --work names another folder")
        if json.loads(path.read_text(encoding="utf-8")) != json.loads(json.dumps(chosen)):
            raise CommandError(f"{work} holds a run with other settings: --work names another folder, or remove it")
    write_json(path, chosen)


if __name__ == "__main__":
    end_with(main)
