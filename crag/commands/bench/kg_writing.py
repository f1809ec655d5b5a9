"""Measure the calls of a preset's writer for labelled questions. The shipped example bank holds none of CRAG's.

    crag bench kg-writing --questions FILE [--preset cpu] [--limit 60] [--set KEY=VALUE]

The rows are those of `crag bench kg-execution`, or your own with query, domain and calls, as for `crag train adapters
kg_writer`: their values are what the calls return. It prints shares by domain, with 95 % intervals in percent:

parses    the output can be read;
values    the executed program gives the labelled values (`kg_execution.values_agree`), or, if your calls return
          nothing, is the labelled one; for a question that the graph cannot answer: the program is None;
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
from crag.benchmarks.kg_execution import labelled_by_calls, open_graph, run_rows, values_agree
from crag.benchmarks.kg_writing import Judged, questions_with_calls, shares, stratified
from crag.commands.argument_types import argument_type, whole_number
from crag.commands.bench.kg_execution import add_graph_source_arguments
from crag.commands.call_writer import load_call_writer
from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.core.deadline import Deadline
from crag.core.progress import batches_with_progress
from crag.engines.llm import LanguageModelDiedError
from crag.graph.executor import ProgramResult
from crag.graph.language import Program, parse, render
from crag.graph.schema import Domain
from crag.graph.writing import Example, load_bank
from crag.graph.writing.question_form import domain_and_calls
from crag.graph.writing.writer import CallRequest, WrittenCalls
from crag.mock_api import GraphError
from crag.settings import load_settings
from crag.training.api_pairs.pairs import call_group
from crag.training.folds import Fold, may_train, parse_fold


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write calls, execute them, print the tables."""
    options = _parse(arguments)
    settings = load_settings(options.preset, options.set)
    rows = questions_with_calls(options.questions)
    if options.limit:
        rows = stratified(rows, options.limit)

    bank = None if options.hold_out is None else _examples_without(options.hold_out)
    writer = load_call_writer(settings, bank)
    written: list[WrittenCalls] = []
    started = time.perf_counter()
    for batch in batches_with_progress(rows, settings.batch_size):
        requests = [_request(row, use_domain=options.use_domain) for row in batch]
        limit = float(UNHURRIED_SECONDS * len(batch))
        written += writer.write(requests, Deadline(limit))
    seconds = time.perf_counter() - started

    judged = _judge(rows, written, options)
    print(shares([row["domain"] for row in rows], judged))
    tokens = sum(calls.generation.prompt_tokens for calls in written) / len(written)
    print(f"\n{tokens:.0f} prompt tokens and {seconds / len(rows):.2f} s per question")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag bench kg-writing", __doc__, "Exit code: 0 done; 2 a file, a preset or a model cannot be used."
    )
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="docs/results.md describes them",
    )

    parser.add_argument(
        "--limit",
        type=whole_number(1),
        help="at most N questions, equally many per domain; default: all",
    )

    parser.add_argument(
        "--use-domain",
        action="store_true",
        help="give the writer the labelled domain",
    )

    parser.add_argument(
        "--hold-out",
        metavar="NUMBER/TOTAL",
        type=argument_type(parse_fold),
        help="a writer that reads examples gets none that asks for the tables and keys of this fold: those that "
        "HOLD_OUT=NUMBER/TOTAL SPLIT=any of crag train adapters leaves out",
    )
    add_graph_source_arguments(parser)
    add_preset_arguments(parser)

    return parser.parse_args(arguments)


def _examples_without(fold: Fold) -> list[Example]:
    """The shipped examples of the other folds."""
    examples = []
    for example in load_bank():
        group = call_group(example.program, example.question)
        if may_train([group], fold):
            examples.append(example)
    return examples


def _request(row: Row, *, use_domain: bool) -> CallRequest:
    domain = Domain(row["domain"]) if use_domain else None
    return CallRequest(row["query"], row["query_time"], domain)


def _judge(
    rows: Sequence[Row],
    written: Sequence[WrittenCalls],
    options: argparse.Namespace,
) -> list[Judged]:
    """Run what was written and compare it with the labels."""
    tasks: list[Row] = []
    for row, calls in zip(rows, written, strict=True):
        lines = render(calls.program or Program())  # an unreadable output runs nothing
        # Run in the domain that the writer chose, even if it is the wrong one
        tasks.append(row | {"domain": str(calls.domain), "calls": [lines]})

    with open_graph(options.data, options.kg_url) as address:
        outcomes = run_rows(tasks, address)
        labelled = _with_values(rows, address)
    return [_verdicts(*triple) for triple in zip(labelled, written, outcomes, strict=True)]


def _with_values(rows: Sequence[Row], address: str) -> list[Row]:
    """The rows, those without values with what their own calls return."""
    without_values = [row for row in rows if "kg_values" not in row]
    outcomes = iter(run_rows(without_values, address))
    return [row if "kg_values" in row else labelled_by_calls(row, next(outcomes)) for row in rows]


def _verdicts(row: Row, calls: WrittenCalls, outcome: ProgramResult) -> Judged:
    is_readable = calls.program is not None
    is_none = calls.program is not None and not calls.program.statements
    # An empty program is wrong for an answerable question, even if that has no values.
    is_answered_as_labelled = is_readable and bool(outcome.results) == row["answerable"]
    if row["answerable"] and row["kg_values"] is None:
        has_values = _is_labelled_program(row, calls)
    else:
        has_values = is_answered_as_labelled and values_agree(row, outcome)
    return {
        "parses": is_readable,
        "values": has_values,
        "over-none" if row["answerable"] else "none": is_none,
        "domain": calls.domain == row["domain"],
        "repaired": calls.repaired,
    }


def _is_labelled_program(row: Row, calls: WrittenCalls) -> bool:
    """Whether the program is the labelled one, but for upper and lower case."""
    if calls.program is None:
        return False
    domain = Domain(row["domain"])
    labelled = domain_and_calls(domain, parse("\n".join(row["calls"]), domain))
    return domain_and_calls(calls.domain, calls.program) == labelled
