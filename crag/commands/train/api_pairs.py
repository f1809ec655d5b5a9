"""Write labelled questions with the entities of their calls: crag train api-pairs --out pairs.jsonl.

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (entities of the
question, for `crag.training.folds`), source, answer and alt_ans. pairs/run_card.json records data, settings and counts.

`crag train label-calls` makes the labelled questions that --questions reads: see its --help.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import add_split_argument, command, parser_of, whole
from crag.core.files import write_rows
from crag.mock_api import GraphError
from crag.training.api_pairs import QUESTIONS, add_graph_argument, company_names, graph_files, open_graph, real_pairs
from crag.training.files import RunCard, check_data_file, file_hash


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file. Exit code: 0 complete, 2 an input is missing or wrong."""
    options = _parse(arguments)

    card = RunCard.beside(options.out)
    check_data_file(options.questions, "--questions names the file")
    with open_graph(options.graph) as graph:
        pairs = real_pairs(
            options.questions,
            company_names(graph),
            options.split,
            options.limit,
        )
    write_rows(options.out, (pair.model_dump(mode="json") for pair in pairs))

    metrics = {
        "rows": len(pairs),
        "domains": dict(Counter(pair.domain.value for pair in pairs)),
        "sha256": file_hash(options.out),
        **options.split.to_card(),
    }
    data = {"questions": options.questions, **graph_files(options.graph)}
    card_path = card.write(data, {"limit": options.limit}, metrics)

    options.split.report()
    print(f"wrote {len(pairs)} questions to {options.out}; the run card is {card_path}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train api-pairs", __doc__)
    parser.add_argument(
        "--questions",
        type=Path,
        default=QUESTIONS,
        help="labelled real questions (%(default)s)",
    )
    add_graph_argument(parser)
    add_split_argument(parser)
    parser.add_argument(
        "--limit",
        type=whole(1),
        metavar="N",
        help="use at most N questions",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="the file to write",
    )
    return parser.parse_args(arguments)
