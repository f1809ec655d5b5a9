"""Write labelled questions with the entities of their calls.

    crag train api-pairs --questions questions.jsonl --out pairs.jsonl

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (for
`crag.training.folds`), source, answer and alt_ans. pairs/run_card.json records data, settings and counts.

The groups are the entities in the calls, or with --group-by calls what these ask for ("get_movie | budget"): a fold
then leaves out whole templates of questions. --bank adds the writer's shipped examples, for a writer that reads none.

`crag train label-calls` makes the labelled questions that --questions reads: see its --help.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type, new_file, whole_number
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.files import write_rows
from crag.core.text import counted
from crag.mock_api import GraphError
from crag.training.api_pairs.entities import company_names
from crag.training.api_pairs.graph import add_graph_argument, find_graph, graph_files
from crag.training.api_pairs.pairs import CallPair, bank_pairs, bank_version, grouped_by_calls, real_pairs
from crag.training.files import RunCard, check_data_file, file_hash


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    options = _parse(arguments)

    card = RunCard.beside(options.out, *options.questions)
    for path in options.questions:
        check_data_file(path, "--questions names the file")
    pairs = _read_pairs(options)
    write_rows(options.out, (pair.model_dump(mode="json") for pair in pairs))

    metrics = {
        "rows": len(pairs),
        "domains": dict(Counter(pair.domain.value for pair in pairs)),
        "sources": dict(Counter(pair.source for pair in pairs)),
        "sha256": file_hash(options.out),
        **options.split.to_card(),
    }
    data = {f"questions {number}": path for number, path in enumerate(options.questions, start=1)}
    if options.group_by == "entities":
        data |= graph_files(options.graph)
    settings = {"limit": options.limit, "group_by": options.group_by}
    if options.bank:
        settings["bank"] = bank_version()
    card_path = card.write(data, settings, metrics)

    options.split.report()
    print(f"wrote {counted(len(pairs), 'question')} to {options.out}; the run card is {card_path}")


def _read_pairs(options: argparse.Namespace) -> list[CallPair]:
    """The questions of all files, each once, with the bank if it is wanted, in their groups."""
    # They spell the entities alike, and are not needed for calls
    companies = company_names(find_graph(options.graph)) if options.group_by == "entities" else {}

    pair_by_question: dict[str, CallPair] = {}
    for path in options.questions:
        for pair in real_pairs(path, companies, options.split):
            # The first row of a question counts
            pair_by_question.setdefault(pair.query, pair)
    pairs = list(pair_by_question.values())[: options.limit]

    if options.bank:
        pairs += [pair for pair in bank_pairs() if pair.query not in pair_by_question]
    return list(map(grouped_by_calls, pairs)) if options.group_by == "calls" else pairs


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train api-pairs", __doc__, "Exit code: 0 written; 2 an input is missing or wrong.")
    parser.add_argument(
        "--questions",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="labelled questions; can be repeated",
    )
    add_graph_argument(parser)
    add_split_argument(parser)
    parser.add_argument(
        "--limit",
        type=whole_number(1),
        metavar="N",
        help="use at most N questions",
    )

    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        help="the file to write",
    )
    parser.add_argument("--bank", action="store_true", help="add the writer's shipped examples")
    parser.add_argument(
        "--group-by",
        choices=("entities", "calls"),
        default="entities",
        help="what folds keep together (default: entities)",
    )

    return parser.parse_args(arguments)
