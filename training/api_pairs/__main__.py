"""Write labelled questions with the entities of their calls: python -m training.api_pairs --out pairs.jsonl.

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (entities of the
question, for `training.folds`), source, answer and alt_ans. pairs/run_card.json records data, settings and counts.

`python -m training.api_pairs label` makes the labelled questions that --questions reads: see its --help.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents.common.files import write_rows
from crag.command import add_split_argument, command, end_with, parser_of, whole
from mock_api import GraphError
from training.api_pairs import QUESTIONS, add_graph_argument, company_names, graph_files, opened, real_pairs
from training.api_pairs.label import main as label
from training.files import RunCard, check_data_file, file_hash


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file. Exit code: 0 complete, 2 an input is missing or wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["label"]:
        return label(given[1:])
    parser = parser_of("python -m training.api_pairs", __doc__)
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    add_graph_argument(parser)
    add_split_argument(parser)
    parser.add_argument("--limit", type=whole(1), metavar="N", help="use at most N questions")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    options = parser.parse_args(given)
    card = RunCard.beside(options.out)
    check_data_file(options.questions, "--questions names the file")
    with opened(options.graph) as graph:
        pairs = real_pairs(options.questions, company_names(graph), options.split, options.limit)
    write_rows(options.out, (pair.model_dump(mode="json") for pair in pairs))
    domains = dict(Counter(pair.domain.value for pair in pairs))
    metrics = {"rows": len(pairs), "domains": domains, "sha256": file_hash(options.out), **options.split.to_card()}
    data = {"questions": options.questions, **graph_files(options.graph)}
    written = card.write(data, {"limit": options.limit}, metrics)
    options.split.report()
    print(f"wrote {len(pairs)} questions to {options.out}; the run card is {written}")
    return 0


if __name__ == "__main__":
    end_with(main)
