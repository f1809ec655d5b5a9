"""Check whether the executor gets the labelled values from the labelled calls of real questions.

    crag bench kg-execution --questions FILE [--data DIR | --kg-url URL]

A row has query, query_time, domain, calls, kg_values (what the calls return), frame (table, filters, sort, select,
aggregate), answerable, verified, answer and alt_ans; only rows with "verified": true count. Without --kg-url `mock_api`
serves the graph of --data. "Equal" has two readings:

direct   the values of the statements are the labelled ones (numbers to 1e-6, texts without case, lists in any order
         unless the question sorts); an article holds the labelled passage;
derived  as direct, or equal after the frame's last step on the rows of the call: CRAG's labelled calls of games and
         prices return rows ("how many games did they win" is the list of results), the labelled values are the count,
         sum or average over them.

It also prints for how many questions the values alone are the answer ("said", `direct_answer`) or rules compute it
("computed", `derived_answer`), and how many of those the rules judge accepts.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from crag.benchmarks.common import group_by_label, markdown_table
from crag.benchmarks.kg_execution import (
    ANSWER_FIELDS,
    compare_with_labels,
    labelled_questions,
    open_graph,
    run_rows,
)
from crag.commands.argument_types import server
from crag.commands.command_line import command, parser_of
from crag.mock_api import GraphError
from crag.mock_api.tables import SHIPPED_GRAPH

_READINGS = ("direct", "derived")
_COLUMNS = ("said", "said right", "computed", "computed right")


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Print agreement by domain."""
    options = _parse(arguments)

    rows = labelled_questions(options.questions, ANSWER_FIELDS)
    with open_graph(options.data, options.kg_url) as address:
        outcomes = run_rows(rows, address)
    measured: list[tuple[str, Mapping[str, bool]]] = []
    for row, outcome in zip(rows, outcomes, strict=True):
        measured.append((row["domain"], compare_with_labels(row, outcome)))

    # A line for each domain: shares of agreement, then numbers of answers.
    lines: list[list[object]] = []
    for name, questions in group_by_label(measured, itemgetter(0)).items():
        totals: Counter[str] = Counter()
        for _, agreement in questions:
            for column, holds in agreement.items():
                # True counts as 1
                totals[column] += holds

        shares = [totals[reading] / len(questions) for reading in _READINGS]
        counts = [totals[column] for column in _COLUMNS]
        lines.append([name, len(questions), *shares, *counts])
    print(markdown_table(["domain", "n", *_READINGS, *_COLUMNS], lines))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag bench kg-execution", __doc__, "Exit code: 0 done; 2 a file cannot be used.")
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="docs/results.md describes them",
    )
    add_graph_source_arguments(parser)
    return parser.parse_args(arguments)


def add_graph_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--data`` and ``--kg-url``, the arguments of `open_graph`."""
    parser.add_argument(
        "--data",
        type=Path,
        default=SHIPPED_GRAPH,
        help="folder of graph tables (default: %(default)s)",
    )
    parser.add_argument("--kg-url", type=server, help="ask this server instead")
