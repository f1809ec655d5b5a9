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
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        nargs="?",
        default=Path("results"),
        help="default: results",
    )
    parser.add_argument("--csv", action="store_true", help="all figures as CSV on standard output")
    options = parser.parse_args(arguments)

    rows = [row_of(file.parent) for file in options.folder.rglob(RUN)]
    if not rows:
        raise DatasetError(f"{options.folder}: there is no run")

    # ISO dates sort as text; a broken run has none, and comes last
    rows.sort(key=lambda row: row[COLUMNS.index("date")], reverse=True)

    if options.csv:
        csv.writer(sys.stdout).writerows([COLUMNS, *rows])
        return
    for row in rows:
        run = dict(zip(COLUMNS, row, strict=True))
        figures = f"unfinished, {run['n'] or 'no'} questions"
        if run["score"]:
            figures = f"score {run['score']}, n {run['n']}, {run['seconds']} s per question"
        print(f"{run['run']}\n    {run['date']}  {figures}\n    {run['signature']}")


def row_of(folder: Path) -> list[str]:
    """The figures of a run in the order of `COLUMNS`; an unfinished one has no score, and a broken one says why."""
    row = dict.fromkeys(COLUMNS, "")
    row["run"] = str(folder)
    try:
        saved = SavedRun.read(folder)
        row["date"] = str(saved.run.measured.get("date", ""))
        row["signature"] = signature_line(saved.run.signature)
        row["n"] = str(len(saved.records))
        results = read_finished_run(folder).results
    except DatasetError as error:
        # An unfinished run has its signature already; a broken one says why here
        row["signature"] = row["signature"] or str(error)
        return list(row.values())

    low, high = results["ci"]
    shares = {
        "score": results["score"],
        "low": low,
        "high": high,
        "accuracy": results["accuracy"],
        "hallucination": results["hallucination"],
        "missing": results["missing"],
    }
    row |= {name: f"{share:+.3f}" for name, share in shares.items()}
    row["n"] = str(results["n"])
    row["seconds"] = f"{results['seconds']['per_question']:.2f}"
    return list(row.values())
