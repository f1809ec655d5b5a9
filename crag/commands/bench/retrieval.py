"""From pages to a context, beside the starter kit's method on the same pages: where answers are lost, and how fast.

    crag bench retrieval [--dataset FILE ...] [--limit 100] [--set web.rerank.max_pairs=64]

For each file: the share of questions whose answer is in the extracted text, among the candidates, and in
contexts of 350 to 2,000 tokens of the preset's language model, over the questions with a measurable answer; and the
seconds of a question, over all of them. The starter kit's published method, reimplemented here: take BeautifulSoup's
text of every page, split it into sentences (by a regular expression; the kit used blingfire), cut each at 1,000
characters, embed all of them, join the 20 nearest to the question and cut at 4,000 characters, about 1,000 tokens.

Both sides get the same pages, the same dense encoder, the same process, one thread for torch, onnxruntime and BLAS, no
extraction workers, one question at a time.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from crag.benchmarks.common import markdown_table
from crag.benchmarks.retrieval import PLACES, measure_retrieval, read_questions
from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.core.files import DatasetError
from crag.evaluation.datasets import DEFAULT_DATASET
from crag.settings import Settings, load_settings

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = parser_of("crag bench retrieval", __doc__, "Exit code: 0 done; 2 a file or a model cannot be used.")
    parser.add_argument(
        "--dataset",
        type=Path,
        nargs="+",
        default=[DEFAULT_DATASET],
        metavar="FILE",
    )
    parser.add_argument(
        "--limit",
        type=whole_number(1),
        help="at most N questions of each file, spread over it",
    )
    add_preset_arguments(parser)
    words = sys.argv[1:] if arguments is None else arguments

    options = parser.parse_args(words)

    # Libraries read these variables when they are imported, so this process is replaced by one that has them.
    if not _ONE_THREAD.items() <= os.environ.items():
        program = [sys.executable, "-m", "crag", "bench", "retrieval", *words]
        environment = {**os.environ, **_ONE_THREAD}
        os.execve(sys.executable, program, environment)  # noqa: S606 - this program again

    settings = load_settings(options.preset, options.set)
    rows = [_measure_file(settings, path, options.limit) for path in options.dataset]
    print(markdown_table(["answer found in", *PLACES, "seconds", "times faster"], rows))


def _measure_file(settings: Settings, path: Path, limit: int | None) -> list[object]:
    """A row of the table: recall, over the questions with a measurable answer, and seconds, over all."""
    measured = measure_retrieval(settings, read_questions(path, limit))
    measurable = [question.is_in_place for question in measured if question.is_in_place is not None]
    if not measurable:
        raise DatasetError(f"{path}: no question has pages and a measurable answer")

    shares = [fmean(is_in_place[place] for is_in_place in measurable) for place in PLACES]
    seconds = fmean(question.seconds for question in measured)
    kit_seconds = fmean(question.kit_seconds for question in measured)
    title = f"{path.name} ({len(measurable)} of {len(measured)})"
    return [title, *shares, seconds, f"{kit_seconds / seconds:.1f}"]
