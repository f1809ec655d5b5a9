"""Recall and right answers over 10, 100, 1,000 and 10,000 documents: what `crag ask --pages FOLDER` finds.

    crag bench folder --dataset nq.jsonl.bz2 squad.jsonl.bz2 [--limit 60] [--documents 10 100 1000 10000] [--no-answers]

A row of a file has `question`, `title`, `passage` and `answers`, or `search_results`, whose pages are documents too.
The questions are those of the first file; the documents of the others make it hard to find theirs. One folder grows,
so the index is brought up to date as it is for users. With fewer documents than questions there are several folders,
each for as many questions as it has documents. Seconds are work of the process: of a second start, and of a search
outside the language model. The index is temporary.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from crag.benchmarks.common import UNHURRIED_SECONDS, markdown_table
from crag.benchmarks.folder import FolderRow, make_folders, measure_folders, read_corpus
from crag.benchmarks.folder_plot import draw_rows
from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.core.files import write_whole
from crag.evaluation.judge import make_judge

_HEADER = (
    "documents",
    "start s",
    "search s",
    "vectors MB",
    "index MB",
    "right document first",
    "among those read",
    "right",
    "wrong",
    "silent",
)


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each number of documents."""
    parser = parser_of("crag bench folder", __doc__, "Exit code: 0 done; 2 a file or a model cannot be used.")
    parser.add_argument("--dataset", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument(
        "--limit", metavar="N", type=whole_number(1), default=60, help="questions (default: %(default)s)"
    )
    parser.add_argument("--documents", type=whole_number(1), nargs="+", default=[10, 100, 1_000, 10_000], metavar="N")
    parser.add_argument("--no-answers", action="store_true", help="search only")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the shares to an SVG file")
    add_preset_arguments(parser)

    options = parser.parse_args(arguments)

    sizes = sorted(set(options.documents))
    corpus = read_corpus(options.dataset, options.limit, sizes[-1])
    changes = [f"deadline.seconds_per_query={UNHURRIED_SECONDS}", *options.set]
    judge = None if options.no_answers else make_judge("rules")

    rows: list[FolderRow] = []
    with TemporaryDirectory(prefix="crag-folder-") as temporary:
        parent = Path(temporary, "documents")
        os.environ["CRAG_INDEX_DIR"] = str(Path(temporary, "index"))
        for size in sizes:
            rows.append(measure_folders(make_folders(corpus, parent, size), options.preset, changes, judge))
            sys.stderr.write(f"{rows[-1]}\n")
    print(markdown_table(_HEADER, rows))
    if options.plot:
        write_whole(options.plot, draw_rows(rows).encode())
