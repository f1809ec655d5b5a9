"""How good are the calls that a preset's writer makes of real questions? None of them is in the example bank.

    python -m benchmarks.kg_writing --preset cpu --limit 60 [--examples similar|fixed|none] [--no-grammar] [--no-schema]
    python -m benchmarks.kg_writing --preset cpu --nearest

The rows are those of `benchmarks.kg_execution`. Printed by domain, as shares:

parses    the output can be read;
values    the executed program gives the labelled values (`kg_execution.values_agree`); for a question that the graph
          cannot answer: the program is None;
none      of the questions that the graph cannot answer, those whose program is None;
over-none of the questions that it can answer, those whose program is None;
domain    the domain was chosen rightly (without --use-domain).

``--nearest`` runs no language model: it asks how often the most similar example, and one of the first so many, calls
the same tables for the same keys, which is what choosing examples by similarity is worth; and how often the vote of the
examples finds the labelled domain of the questions of --domains.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.datasets import read_records
from agents.deadline import Deadline
from agents.encoders import load_dense_encoder
from agents.kg.language import Program, Sort, parse, render
from agents.kg.language.program import Average
from agents.kg.schema import Domain
from agents.kg.writing.bank import load_bank
from agents.kg.writing.cli import add_writer_arguments, load_writer
from agents.kg.writing.similar import ExampleIndex
from agents.kg.writing.writer import Question, Written
from agents.settings import load_settings
from benchmarks.kg_execution import QUESTIONS, graph_server, run_rows, values_agree

CROWD = Path(__file__).parent.parent.parent / "shared/data/crag/questions_split0.jsonl"
COLUMNS = ("parses", "values", "none", "over-none", "domain", "repaired")
SECONDS_PER_QUESTION = 120.0
"""The benchmark measures the writing, not the clock."""


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
    parser.add_argument("--nearest", action="store_true", help="measure the choice of examples alone")
    parser.add_argument("--domains", type=Path, default=CROWD, help="with --nearest: questions with `domain`")
    add_writer_arguments(parser)
    options = parser.parse_args(arguments)
    rows = [record.data for record in read_records(options.questions) if record.data["verified"]]
    rows = stratified(rows, options.limit, options.seed) if options.limit else rows
    return _measure_nearest(rows, options) if options.nearest else _measure_writing(rows, options)


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
    settings = load_settings(options.preset)
    writer = load_writer(settings, options)
    writer.warm_up()
    written: list[Written] = []
    started = time.perf_counter()
    with tqdm(total=len(rows), unit="question", disable=None) as progress:
        size = options.batch_size or settings.batch_size
        for batch in (rows[start : start + size] for start in range(0, len(rows), size)):
            questions = [
                Question(row["query"], row["query_time"], Domain(row["domain"]) if options.use_domain else None)
                for row in batch
            ]
            written += writer.write(questions, Deadline(SECONDS_PER_QUESTION * len(batch)))
            progress.update(len(batch))
    seconds = time.perf_counter() - started
    with graph_server(options.data, options.kg_url) as address:
        agrees = _agreement(rows, written, address)
    if options.save:
        _save(options.save, rows, written, agrees)
    _print_table(rows, written, agrees)
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
        each.program is not None and values_agree(row, outcome)
        for row, each, outcome in zip(rows, written, outcomes, strict=True)
    ]


def _print_table(rows: Sequence[Mapping[str, Any]], written: Sequence[Written], agrees: Sequence[bool]) -> None:
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row, each, agree in zip(rows, written, agrees, strict=True):
        says_none = each.program is not None and not each.program.statements
        for domain in (row["domain"], "all"):
            into = found[domain]
            into["parses"].append(each.program is not None)
            into["values"].append(agree)
            into["over-none" if row["answerable"] else "none"].append(says_none)
            into["domain"].append(each.domain == row["domain"])
            into["repaired"].append(each.repaired)
    sys.stdout.write(f"{'domain':9}{'n':>5}" + "".join(f"{name:>11}" for name in COLUMNS) + "\n")
    for domain in [*sorted(set(found) - {"all"}), "all"]:
        shares = [_share(found[domain][name]) for name in COLUMNS]
        sys.stdout.write(
            f"{domain:9}{len(found[domain]['values']):5}" + "".join(f"{each:>11}" for each in shares) + "\n"
        )


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.3f}" if found else "-"


def _save(path: Path, rows: Sequence[Mapping[str, Any]], written: Sequence[Written], agrees: Sequence[bool]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for row, each, agree in zip(rows, written, agrees, strict=True):
            record = {
                "query": row["query"],
                "domain": row["domain"],
                "labelled": row["calls"],
                "values": row["kg_values"],
                "agrees": agree,
                "written_domain": each.domain,
                "output": each.generation.text,
                "faults": [str(fault.message) for fault in each.faults],
                "prompt": each.request.prompt,
            }
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


# --- the choice of examples alone -------------------------------------------------------------------------------------


def _measure_nearest(rows: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> int:
    settings = load_settings(options.preset)
    index = ExampleIndex(load_bank(), load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None)
    depths = (1, 4, 6, 10)
    near = index.nearest([row["query"] for row in rows], [Domain(row["domain"]) for row in rows], max(depths))
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for row, neighbourhood in zip(rows, near, strict=True):
        wanted = shape(parse("\n".join(row["calls"]), Domain(row["domain"])))
        best_first = [shape(example.program) for example in reversed(neighbourhood.examples)]
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


def shape(program: Program) -> tuple[frozenset[str], frozenset[str]]:
    """Which tables a program calls and which keys it gives, default ones apart, without names, order and repetition."""
    tables = (getattr(each, "table", None) for each in program.statements)
    keys = ("len" if each.count else each.select for each in _selecting(program))
    return frozenset(table for table in tables if table), frozenset(key for key in keys if key) - {"summary", "value"}


def _selecting(program: Program) -> Iterable[Any]:
    for place, each in enumerate(program.statements):
        following = program.statements[place + 1 : place + 2]
        if not isinstance(each, Average) and not (following and isinstance(following[0], Sort)):
            yield each


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
