"""Measure the calls of a preset's writer for real questions. None of them is in the example bank.

    crag bench kg-writing --preset cpu --limit 60 [--set KEY=VALUE]

The rows are those of `crag.benchmarks.kg_execution`. It prints shares by domain, with 95 % intervals in percent:

parses    the output can be read;
values    the executed program gives the labelled values (`kg_execution.values_agree`); for a question that the graph
          cannot answer: the program is None;
none      of the questions that the graph cannot answer, those whose program is None;
over-none of the questions that it can answer, those whose program is None;
domain    the right domain was chosen (without --use-domain);
repaired  an unreadable output was written again.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from crag.benchmarks.common import UNHURRIED_SECONDS, Row
from crag.benchmarks.kg_execution import graph_server, labelled_questions, run_rows, values_agree
from crag.benchmarks.kg_writing import Judged, shares, stratified
from crag.commands.bench.kg_execution import add_graph_arguments
from crag.commands.command_line import add_preset_arguments, command, parser_of, whole
from crag.core.deadline import Deadline
from crag.core.progress import in_batches
from crag.engines.encoders import load_dense_encoder
from crag.engines.llm import LanguageModelDiedError, load_language_model
from crag.graph.language import Program, render
from crag.graph.schema import Domain
from crag.graph.writing.writer import CallRequest, CallWriter, WrittenCalls
from crag.mock_api import GraphError
from crag.settings import KgWriterSettings, load_settings


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write calls, execute them, print the tables. Exit code: 0 done, 2 a file, preset or model cannot be used."""
    parser = parser_of("crag bench kg-writing", __doc__)
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
    written: list[WrittenCalls] = []
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


def _judged(rows: Sequence[Row], written: Sequence[WrittenCalls], options: argparse.Namespace) -> list[Judged]:
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
