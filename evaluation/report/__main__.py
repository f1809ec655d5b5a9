"""``python -m evaluation.report DIR``: writes report.html of a finished run again."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.common.console import end_with
from agents.common.files import DatasetError
from evaluation.report import write_report
from evaluation.store import REPORT


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report and print its path; exit code: 0 done, 2 no finished run, or the file cannot be written."""
    options = _parser().parse_args(arguments)
    try:
        print(write_report(options.folder, options.out))
    except DatasetError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.report",
        description="Write one HTML file about a finished run: scores, times, traces.",
        epilog="Exit code: 0 done; 2 the folder holds no finished run, or the file cannot be written.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of the run")
    parser.add_argument("--out", metavar="FILE", type=Path, help=f"default: {REPORT} in DIR")
    return parser


if __name__ == "__main__":
    end_with(main)
