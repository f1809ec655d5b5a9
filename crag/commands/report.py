"""`crag report DIR`: writes report.html of a finished run again, or its charts as pictures."""

from collections.abc import Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type, new_file
from crag.commands.command_line import command, parser_of, say
from crag.evaluation.report.pictures import write_pictures
from crag.evaluation.report.run_page import write_report
from crag.evaluation.store import REPORT


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the report and print its path; exit code: 0 done, 2 no finished run, or the file cannot be written."""
    parser = parser_of(
        "crag report",
        "Write one HTML file about a finished run: scores, times, traces.",
        "Exit code: 0 done; 2 the folder holds no finished run, or the file cannot be written.",
    )

    parser.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        help="the folder of the run",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=argument_type(new_file),
        help=f"default: {REPORT} in DIR",
    )
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        type=Path,
        help="also write the charts there as SVG: score over the threshold, reliability, seconds by stage",
    )

    options = parser.parse_args(arguments)

    print(write_report(options.folder, options.out))
    if options.pictures:
        paths = write_pictures(options.folder, options.pictures)
        if not paths:
            say(f"no pictures: the traces of {options.folder} have neither P(correct) nor seconds of stages")
        for path in paths:
            print(path)
