"""How good are the calls that a preset's writer makes of real questions? None of them is in the example bank.

    python -m benchmarks.kg_writing --preset cpu --limit 60 [--examples similar|fixed|none]
                                    [--adapter NAME|FOLDER|none] [--set KEY=VALUE] [--pairs FILE --fold 1/5]
                                    [--against SAVED.jsonl]
    python -m benchmarks.kg_writing --preset cpu --nearest

The rows are those of `benchmarks.kg_execution`. Printed by domain, as shares with their 95 % intervals in percent:

parses    the output can be read;
values    the executed program gives the labelled values (`kg_execution.values_agree`); for a question that the graph
          cannot answer: the program is None;
none      of the questions that the graph cannot answer, those whose program is None;
over-none of the questions that it can answer, those whose program is None;
domain    the domain was chosen rightly (without --use-domain);
repaired  what could not be read was written anew.

With --fold only the questions are asked that this fold tests, by what the file of `training.api_pairs` says that they
are about: an adapter that was trained with the same fold never saw them. With --against the shares are compared with
those of an earlier run over the same questions, pair by pair; whole groups are drawn for the intervals.

``--nearest`` runs no language model: it asks how often the most similar example, and one of the first so many, calls
the same tables for the same keys, which is what choosing examples by similarity is worth; and how often the vote of the
examples finds the labelled domain of the questions of --domains.
"""

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from agents.answering import shown
from agents.deadline import Deadline
from agents.encoders import load_dense_encoder
from agents.files import write_rows
from agents.kg.language import Program, parse, render
from agents.kg.schema import Domain
from agents.kg.writing.bank import load_bank
from agents.kg.writing.choice import ExampleIndex
from agents.kg.writing.cli import (
    EXPECTED_ERRORS,
    add_writer_arguments,
    choose_adapter,
    chosen_settings,
    load_writer,
    writer_settings,
)
from agents.kg.writing.writer import CallRequest, Written
from benchmarks.held_out import check_held_out, fold_argument, read_pairs, tested_in, unseen
from benchmarks.kg_execution import QUESTIONS, graph_server, labelled_questions, run_rows, values_agree
from evaluation.datasets import DatasetError, read_records
from training.calibrate.expected_score import difference
from training.choose_examples import kind_of
from training.folds import Fold
from training.pictures import wilson_interval

CROWD = Path(__file__).parent.parent.parent / "shared/data/crag/questions_split0.jsonl"
COLUMNS = ("parses", "values", "none", "over-none", "domain", "repaired")
SECONDS_PER_QUESTION = 120.0
"""The benchmark measures the writing, not the clock."""

Row = dict[str, Any]
Judged = Mapping[str, bool]
"""What is said of a question in each column that is about it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one measurement and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kg_writing", description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--limit", type=int, help="so many questions, the domains in equal numbers; default: all")
    parser.add_argument("--seed", type=int, default=0, help="which questions --limit takes")
    parser.add_argument("--use-domain", action="store_true", help="give the writer the labelled domain")
    parser.add_argument("--data", type=Path, help="folder of graph tables (default: the packed real graph)")
    parser.add_argument("--kg-url", help="execute against this server instead")
    parser.add_argument("--save", type=Path, help="JSON lines of every question's prompt, output and calls")
    parser.add_argument("--pairs", type=Path, nargs="+", help="what training.api_pairs wrote: its groups make folds")
    parser.add_argument("--fold", type=fold_argument, metavar="K/N", help="only what this fold of --pairs tests")
    parser.add_argument("--against", type=Path, metavar="SAVED", help="compare with what --save wrote before")
    parser.add_argument("--nearest", action="store_true", help="measure the choice of examples alone")
    parser.add_argument("--domains", type=Path, default=CROWD, help="with --nearest: questions with `domain`")
    add_writer_arguments(parser)
    options = parser.parse_args(arguments)
    if options.fold and not options.pairs:
        parser.error("--fold needs --pairs, which says what each question is about")
    try:
        settings = chosen_settings(options)
        chosen = choose_adapter(settings.language_model, options.adapter) if options.adapter else None
        check_held_out(
            chosen.language_model if chosen else settings.language_model,
            writer_settings(settings, options).adapter,
            options.fold,
        )
        rows = labelled_questions(options.questions)
        if options.pairs:
            rows = _in_fold(rows, options.pairs, options.fold)
        rows = stratified(rows, options.limit, options.seed) if options.limit else rows
        return _measure_nearest(rows, options) if options.nearest else _measure_writing(rows, options)
    except EXPECTED_ERRORS as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


def _in_fold(rows: Sequence[Row], paths: Sequence[Path], fold: Fold | None) -> list[Row]:
    pairs = read_pairs(paths)
    grouped, chosen = tested_in(rows, pairs, None), tested_in(rows, pairs, fold)
    if not chosen:
        raise DatasetError(f"{paths[0]}: none of the {len(rows)} questions is tested in fold {fold or 'all'}")
    sys.stdout.write(f"{len(rows) - len(grouped)} of {len(rows)} questions have no groups in --pairs: left out\n")
    if fold:
        new = len(unseen(chosen, pairs, fold))
        sys.stdout.write(f"fold {fold}: {len(chosen)} questions, {new} of them about nothing that is in the training\n")
    return chosen


def stratified(rows: Sequence[dict[str, Any]], limit: int, seed: int) -> list[dict[str, Any]]:
    """At most `limit` rows, the domains in turn, in random order within each."""
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["domain"]].append(row)
    for group in groups.values():
        chance.shuffle(group)
    chosen: list[dict[str, Any]] = []
    while len(chosen) < min(limit, len(rows)):
        chosen += [group.pop() for _, group in sorted(groups.items()) if group]
    return chosen[:limit]


def _measure_writing(rows: Sequence[dict[str, Any]], options: argparse.Namespace) -> int:
    before = read_saved(options.against) if options.against else {}
    if options.against and before.keys().isdisjoint(row["query"] for row in rows):
        raise DatasetError(f"{options.against}: holds none of these {len(rows)} questions")
    settings = chosen_settings(options)
    writer = load_writer(settings, options)
    writer.warm_up()
    written: list[Written] = []
    started = time.perf_counter()
    with tqdm(total=len(rows), unit="question", disable=None) as progress:
        size = options.batch_size or settings.batch_size
        for batch in (rows[start : start + size] for start in range(0, len(rows), size)):
            questions = [
                CallRequest(row["query"], row["query_time"], Domain(row["domain"]) if options.use_domain else None)
                for row in batch
            ]
            written += writer.write(questions, Deadline(SECONDS_PER_QUESTION * len(batch)))
            progress.update(len(batch))
    seconds = time.perf_counter() - started
    with graph_server(options.data, options.kg_url) as address:
        agrees = _agreement(rows, written, address)
    judged = [_judged(*parts) for parts in zip(rows, written, agrees, strict=True)]
    if options.save:
        saved = zip(rows, written, judged, strict=True)
        write_rows(options.save, (_saved(row, each, found) for row, each, found in saved))
    _print_table(rows, judged)
    if options.against:
        sys.stdout.write("\n".join([f"less {options.against.name}:", *differences(rows, judged, before), ""]))
    tokens = sum(each.generation.prompt_tokens for each in written) / len(written)
    sys.stdout.write(f"{tokens:.0f} prompt tokens and {seconds / len(rows):.2f} s a question\n")
    return 0


def _agreement(rows: Sequence[Mapping[str, Any]], written: Sequence[Written], address: str) -> list[bool]:
    tasks = [
        dict(row) | {"domain": str(each.domain), "calls": [render(each.program or Program())]}
        for row, each in zip(rows, written, strict=True)
    ]
    outcomes = run_rows(tasks, address)
    return [
        each.program is not None
        # Nothing asked is not the values of a question that the graph can answer, whatever they are.
        and bool(outcome.results) == row["answerable"]
        and values_agree(row, outcome)
        for row, each, outcome in zip(rows, written, outcomes, strict=True)
    ]


def _judged(row: Row, each: Written, agrees: bool) -> Judged:
    return {
        "parses": each.program is not None,
        "values": agrees,
        "over-none" if row["answerable"] else "none": each.program is not None and not each.program.statements,
        "domain": each.domain == row["domain"],
        "repaired": each.repaired,
    }


def _saved(row: Row, each: Written, judged: Judged) -> Row:
    return {
        "query": row["query"],
        "domain": row["domain"],
        "labelled": row["calls"],
        "values": row["kg_values"],
        "judged": dict(judged),
        "written_domain": each.domain,
        "output": each.generation.text,
        "faults": [str(fault.message) for fault in each.faults],
        "prompt": shown(each.request),
    }


# --- tables -----------------------------------------------------------------------------------------------------------


def _print_table(rows: Sequence[Row], judged: Sequence[Judged]) -> None:
    sys.stdout.write(f"{'domain':9}{'n':>5}" + "".join(f"{name:>16}" for name in COLUMNS) + "\n")
    for domain, chosen in _by_domain([row["domain"] for row in rows]).items():
        cells = (_share([judged[place][name] for place in chosen if name in judged[place]]) for name in COLUMNS)
        sys.stdout.write(f"{domain:9}{len(chosen):5}" + "".join(f"{cell:>16}" for cell in cells) + "\n")


def _by_domain(domains: Sequence[str]) -> dict[str, list[int]]:
    """Places of the questions of each domain, and of all."""
    each = {name: [place for place, own in enumerate(domains) if own == name] for name in sorted(set(domains))}
    return {**each, "all": list(range(len(domains)))}


def _share(found: Sequence[bool]) -> str:
    if not found:
        return "-"
    share = sum(found) / len(found)
    low, high = (round(100 * end) for end in wilson_interval(share, len(found)))
    return f"{share:.3f} ({low}-{high})"


def read_saved(path: Path) -> dict[str, Judged]:
    """What --save wrote, by question.

    Raises:
        DatasetError: a row is something else.
    """
    saved: dict[str, Judged] = {}
    for record in read_records(path):
        judged = record.data.get("judged")
        if not isinstance(judged, dict) or not isinstance(record.data.get("query"), str):
            raise DatasetError(f'{record.place}: field "query" or "judged" is missing; a file of --save is expected')
        saved[record.data["query"]] = judged
    return saved


class Compared(NamedTuple):
    """A question of two runs."""

    domain: str
    group: str
    now: Judged
    before: Judged


def differences(rows: Sequence[Row], judged: Sequence[Judged], before: Mapping[str, Judged]) -> list[str]:
    """The shares less those of the earlier run, over the questions of both."""
    both = [
        Compared(row["domain"], (row.get("groups") or [row["query"]])[0], found, before[row["query"]])
        for row, found in zip(rows, judged, strict=True)
        if row["query"] in before
    ]
    lines = [f"{'domain':9}{'n':>5}" + "".join(f"{name:>25}" for name in COLUMNS)]
    for domain, chosen in _by_domain([pair.domain for pair in both]).items():
        cells = (_difference(name, [both[place] for place in chosen]) for name in COLUMNS)
        lines.append(f"{domain:9}{len(chosen):5}" + "".join(f"{cell:>25}" for cell in cells))
    gained = sum(pair.now["values"] and not pair.before["values"] for pair in both)
    lost = sum(pair.before["values"] and not pair.now["values"] for pair in both)
    lines.append(f"values right only now: {gained}, only before: {lost}; not asked before: {len(rows) - len(both)}")
    return lines


def _difference(name: str, pairs: Sequence[Compared]) -> str:
    known = [pair for pair in pairs if name in pair.now and name in pair.before]
    if not known:
        return "-"
    now = np.array([pair.now[name] for pair in known], dtype=np.float64)
    before = np.array([pair.before[name] for pair in known], dtype=np.float64)
    found = difference(now, before, [pair.group for pair in known])
    low, high = found["ci"]
    return f"{found['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"


# --- the choice of examples alone -------------------------------------------------------------------------------------


def _measure_nearest(rows: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> int:
    settings = chosen_settings(options)
    index = ExampleIndex(load_bank(), load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None)
    depths = (1, 4, 6, 10)
    near = index.nearest([row["query"] for row in rows], [Domain(row["domain"]) for row in rows], max(depths))
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for row, neighbourhood in zip(rows, near, strict=True):
        wanted = kind_of(parse("\n".join(row["calls"]), Domain(row["domain"])))
        best_first = [kind_of(example.program) for example in reversed(neighbourhood.examples)]
        for domain in (row["domain"], "all"):
            found[domain][0] += 1
            found[domain].update(depth for depth in depths if wanted in best_first[:depth])
    sys.stdout.write("same tables and keys as an example among the first\n")
    sys.stdout.write(f"{'domain':9}{'n':>5}" + "".join(f"{depth:>8}" for depth in depths) + "\n")
    for domain, counts in sorted(found.items(), key=lambda item: (item[0] == "all", item[0])):
        shares = "".join(f"{counts[depth] / counts[0]:8.3f}" for depth in depths)
        sys.stdout.write(f"{domain:9}{counts[0]:5}{shares}\n")
    if options.domains.is_file():
        _print_domains(index, [record.data for record in read_records(options.domains)])
    return 0


def _print_domains(index: ExampleIndex, rows: Sequence[Mapping[str, Any]]) -> None:
    chosen = index.nearest([row["query"] for row in rows], [None] * len(rows), 0)
    right: dict[str, list[bool]] = defaultdict(list)
    for row, neighbourhood in zip(rows, chosen, strict=True):
        for domain in (row["domain"], "all"):
            right[domain].append(neighbourhood.domain == row["domain"])
    shares = ", ".join(f"{domain} {sum(each) / len(each):.3f}" for domain, each in sorted(right.items()))
    sys.stdout.write(f"domain chosen as labelled, {len(rows)} questions: {shares}\n")


if __name__ == "__main__":
    sys.exit(main())
