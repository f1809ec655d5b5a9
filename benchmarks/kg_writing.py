"""Measure the calls of a preset's writer for real questions. None of them is in the example bank.

    python -m benchmarks.kg_writing --preset cpu --limit 60 [--set KEY=VALUE]

The rows are those of `benchmarks.kg_execution`. It prints shares by domain, with 95 % intervals in percent:

parses    the output can be read;
values    the executed program gives the labelled values (`kg_execution.values_agree`); for a question that the graph
          cannot answer: the program is None;
none      of the questions that the graph cannot answer, those whose program is None;
over-none of the questions that it can answer, those whose program is None;
domain    the right domain was chosen (without --use-domain);
repaired  an unreadable output was written again.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.common.deadline import Deadline
from agents.encoders import load_dense_encoder
from agents.kg.language import Program, render
from agents.kg.schema import Domain
from agents.kg.writing.writer import CallRequest, CallWriter, Written
from agents.llm import LanguageModelDiedError, load_language_model
from agents.settings import KgWriterSettings, load_settings
from agents.web.ranking import in_turns
from benchmarks.common import UNHURRIED_SECONDS, Row, by_label, table
from benchmarks.kg_execution import add_graph_arguments, graph_server, labelled_questions, run_rows, values_agree
from crag.command import add_preset_arguments, command, end_with, in_batches, parser_of, whole
from evaluation.metrics import wilson_interval
from mock_api import GraphError

COLUMNS = ("parses", "values", "none", "over-none", "domain", "repaired")

Judged = Mapping[str, bool]
"""The verdict on a question in each column that applies to it."""


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write calls, execute them, print the tables. Exit code: 0 done, 2 a file, preset or model cannot be used."""
    parser = parser_of("benchmarks.kg_writing", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="docs/results.md describes them")
    parser.add_argument("--limit", type=whole(1), help="at most N questions, equally many per domain; default: all")
    parser.add_argument("--use-domain", action="store_true", help="give the writer the labelled domain")
    add_graph_arguments(parser)
    add_preset_arguments(parser)
    options = parser.parse_args(arguments)
    settings = load_settings(options.preset, options.set)
    engine, graph = settings.language_model, settings.knowledge_graph
    writing = graph.writer if graph else KgWriterSettings()
    rows = labelled_questions(options.questions)
    rows = stratified(rows, options.limit) if options.limit else rows

    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    writer = CallWriter(writing, load_language_model(engine), dense)
    writer.warm_up()
    written: list[Written] = []
    started = time.perf_counter()
    for batch in in_batches(rows, settings.batch_size):
        questions = [
            CallRequest(row["query"], row["query_time"], Domain(row["domain"]) if options.use_domain else None)
            for row in batch
        ]
        written += writer.write(questions, Deadline(float(UNHURRIED_SECONDS * len(batch))))
    seconds = time.perf_counter() - started
    judged = _judged(rows, written, options)
    print(shares([row["domain"] for row in rows], judged))
    tokens = sum(each.generation.prompt_tokens for each in written) / len(written)
    print(f"\n{tokens:.0f} prompt tokens and {seconds / len(rows):.2f} s per question")


def stratified(rows: Sequence[Row], limit: int) -> list[Row]:
    """At most `limit` rows, the domains in turn, in random order within each, the same in every run."""
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["domain"]].append(row)
    for group in groups.values():
        chance.shuffle(group)
    return [row for _, row in in_turns([groups[name][::-1] for name in sorted(groups)])][:limit]


def _judged(rows: Sequence[Row], written: Sequence[Written], options: argparse.Namespace) -> list[Judged]:
    tasks = [
        row | {"domain": str(each.domain), "calls": [render(each.program or Program())]}
        for row, each in zip(rows, written, strict=True)
    ]
    with graph_server(options.data, options.kg_url) as address:
        outcomes = run_rows(tasks, address)
    return [
        {
            "parses": each.program is not None,
            # An empty program is wrong for an answerable question, even if that has no values.
            "values": each.program is not None
            and bool(outcome.results) == row["answerable"]
            and values_agree(row, outcome),
            "over-none" if row["answerable"] else "none": each.program is not None and not each.program.statements,
            "domain": each.domain == row["domain"],
            "repaired": each.repaired,
        }
        for row, each, outcome in zip(rows, written, outcomes, strict=True)
    ]


def shares(domains: Sequence[str], judged: Sequence[Judged]) -> str:
    """The share in each column that applies, by domain, with its interval (Wilson 1927) in percent."""

    def cell(some: Sequence[Judged], name: str) -> str:
        right = [verdicts[name] for verdicts in some if name in verdicts]
        if not right:
            return "-"
        low, high = wilson_interval(sum(right), len(right))
        return f"{sum(right) / len(right):.3f} ({100 * low:.0f}-{100 * high:.0f})"

    groups = by_label(list(zip(domains, judged, strict=True)), lambda pair: pair[0])
    rows = [
        [name, len(some), *(cell([own for _, own in some], key) for key in COLUMNS)] for name, some in groups.items()
    ]
    return table(["domain", "n", *COLUMNS], rows)


if __name__ == "__main__":
    end_with(main)
