"""`crag runs`: the runs below a folder with score, seconds and signature, the newest first."""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.core.files import DatasetError
from crag.evaluation.report.measured import read_finished_run
from crag.evaluation.signature import signature_line
from crag.evaluation.store import RUN, SavedRun

COLUMNS = ("run", "date", "n", "score", "low", "high", "accuracy", "hallucination", "missing", "seconds", "signature")


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """List the runs; exit code: 0 done, 2 there is none."""
    parser = parser_of("crag runs", __doc__, "Exit code: 0 done; 2 there is no run.")
    parser.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path("results"), help="default: results")
    parser.add_argument("--csv", action="store_true", help="all figures as CSV on standard output")
    options = parser.parse_args(arguments)
    rows = sorted((row_of(file.parent) for file in options.folder.rglob(RUN)), key=lambda row: row[1], reverse=True)
    if not rows:
        raise DatasetError(f"{options.folder}: there is no run")
    if options.csv:
        csv.writer(sys.stdout).writerows([COLUMNS, *rows])
        return
    for name, date, n, score, *_, seconds, signature in rows:
        figures = f"score {score}, n {n}, {seconds} s per question" if score else f"unfinished, {n or 'no'} questions"
        print(f"{name}\n    {date}  {figures}\n    {signature}")


def row_of(folder: Path) -> list[str]:
    """The figures of a run in the order of `COLUMNS`; an unfinished one has no score, and a broken one says why."""
    date, end, figures = "", "", [""] * (len(COLUMNS) - 3)
    try:
        saved = SavedRun.read(folder)
        date, end = str(saved.run.measured.get("date", "")), signature_line(saved.run.signature)
        figures[0] = str(len(saved.records))
        results = read_finished_run(folder).results
    except DatasetError as error:
        return [str(folder), date, *figures, end or str(error)]
    shares = [results["score"], *results["ci"], *(results[name] for name in COLUMNS[6:9])]
    seconds = f"{results['seconds']['per_question']:.2f}"
    return [str(folder), date, str(results["n"]), *map("{:+.3f}".format, shares), seconds, end]
