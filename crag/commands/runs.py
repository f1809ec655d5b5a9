"""`crag runs`: the runs below a folder, the newest first, one line a run."""

import csv
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.evaluation.metrics import FEWEST
from crag.evaluation.run_table import BROKEN, COLUMNS, FINISHED, RunRow, read_run_table

LONGEST_CELL = 28
"""Characters of a model's or a file's name; --csv and --json have all of it."""
TITLES = ("run", "preset", "model", "data", "n", "score", "95 % interval", "right", "wrong", "s/q", "tokens", "date")
_TEXTS = {"run", "preset", "model", "data", "date"}
_DISPENSABLE = ("model", "data", "tokens", "date", "preset", "s/q")
"""The columns that a narrow terminal goes without, in this order."""
_GAP = "  "


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
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", action="store_true", help="all figures and the signature as CSV")
    output.add_argument("--json", action="store_true", help="the same as JSON")

    options = parser.parse_args(arguments)

    rows = read_run_table(options.folder)
    if options.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))
    elif options.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1) + "\n")
    else:
        # A pipe or a file takes lines of any length
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print("\n".join(table_lines(rows, options.folder, width)))


def table_lines(rows: Sequence[RunRow], folder: Path, width: int | None = None) -> list[str]:
    """The table; runs are named by their folder below `folder`, and a broken one has its fault instead of figures.

    With a `width`, in characters, columns are left out until the lines fit, and the last line says which.
    """
    cells = [TITLES, *(_cells(row, folder) for row in rows if row.state != BROKEN)]
    widths = {column[0]: max(map(len, column)) for column in zip(*cells, strict=True)}
    left_out = _columns_too_many(widths, width)

    lines = [_aligned_line(line_cells, widths, left_out) for line_cells in cells]
    lines += _notes(rows, folder)
    if left_out:
        lines.append(f"left out, as the terminal is narrow: {', '.join(left_out)} (--csv has all)")
    return lines


def _aligned_line(cells: Sequence[str], widths: Mapping[str, int], left_out: Sequence[str]) -> str:
    """A line of the table, with texts on the left of their columns and figures on the right."""
    aligned: list[str] = []
    for title, cell in zip(TITLES, cells, strict=True):
        if title not in left_out:
            aligned.append(cell.ljust(widths[title]) if title in _TEXTS else cell.rjust(widths[title]))
    return _GAP.join(aligned).rstrip()


def _notes(rows: Sequence[RunRow], folder: Path) -> Iterator[str]:
    """What is said below the table: faults of broken runs, lost answers, runs that are not finished."""
    # A broken run has a sentence, which would widen a column
    for row in rows:
        if row.state == BROKEN:
            yield f"{_name(row, folder)}: {row.fault}"

    for row in rows:
        if row.lost:
            noun = "answer" if row.lost == 1 else "answers"
            yield f"{_name(row, folder)} lost {row.lost} {noun}: crag evaluate --resume asks again"
    if any(row.state not in {FINISHED, BROKEN} for row in rows):
        yield "* unfinished: crag evaluate --resume continues it"


def _columns_too_many(widths: Mapping[str, int], width: int | None) -> list[str]:
    """The columns without which a line has at most `width` characters, as far as columns are dispensable."""
    left_out: list[str] = []
    for title in _DISPENSABLE:
        kept = [widths[name] for name in widths if name not in left_out]
        if width is None or sum(kept) + len(_GAP) * (len(kept) - 1) <= width:
            break
        left_out.append(title)
    return left_out


def _cells(row: RunRow, folder: Path) -> tuple[str, ...]:
    score = "-" if row.score is None else f"{row.score:+.3f}"
    interval = "-"
    if row.low is not None and row.high is not None and (row.n or 0) >= FEWEST:
        interval = f"[{row.low:+.3f}, {row.high:+.3f}]"

    # Of a server the name, without its address and what else it tells
    model = row.model.partition(" at ")[0]
    return (
        _name(row, folder) + ("" if row.state == FINISHED else " *"),
        row.preset,
        _cut(model) or "-",
        _cut(row.data),
        str(row.n),
        score,
        interval,
        str(row.right),
        str(row.wrong),
        "-" if row.seconds is None else f"{row.seconds:.2f}",
        "-" if row.tokens is None else f"{row.tokens:,}",
        row.date.removesuffix(" UTC") or "-",
    )


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_CELL else f"{name[: LONGEST_CELL - 3]}..."


def _name(row: RunRow, folder: Path) -> str:
    """The run's folder as it is below the listed one; the listed folder may be a run itself."""
    path = Path(row.run)
    relative = path.relative_to(folder)
    return str(path if relative == Path() else relative)
