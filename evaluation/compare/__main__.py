"""`python -m evaluation.compare RUN_A RUN_B`: what B gains over A, with paired intervals and p-values."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.batches import SLICE_FIELDS
from evaluation.compare.comparison import CompareError, Comparison, compare_runs
from evaluation.compare.text import comparison_lines
from evaluation.metrics import fields_of
from evaluation.saved_run import SavedRun
from evaluation.store import StoreError, prepare_file


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two runs. Exit code: 0 done, 2 they cannot be compared."""
    options = _parser().parse_args(arguments)
    fields = tuple(options.by or SLICE_FIELDS)
    try:
        first, second = SavedRun.read(options.first), SavedRun.read(options.second)
        comparison = compare_runs(first, second, fields)
        _refuse_unknown(options.by or (), comparison, first)
        if options.out:
            prepare_file(options.out)
    except (StoreError, CompareError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(comparison_lines(comparison, flips=not options.no_flips)))
    return _write(comparison, options.out) if options.out else 0


def _refuse_unknown(fields: Sequence[str], comparison: Comparison, run: SavedRun) -> None:
    for field in fields:
        if field not in comparison.slices:
            known = ", ".join(fields_of(run.rows))
            raise CompareError(f"--by {field}: no common question has that field; fields with one value: {known}")


def _write(comparison: Comparison, target: Path) -> int:
    try:
        target.write_text(json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        print(f"error: {target}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.compare",
        description="Compare two runs of local_evaluation.py over the questions that both answered: what differs in "
        "their signatures, scores with paired 95 % intervals and exact randomisation p-values, and which questions "
        "flipped. A difference is B less A.",
        epilog="Exit code: 0 done; 2 the runs cannot be compared.",
    )
    parser.add_argument("first", metavar="RUN_A", type=Path, help="the folder of a run")
    parser.add_argument("second", metavar="RUN_B", type=Path, help="the folder of another run")
    parser.add_argument(
        "--by",
        metavar="FIELD",
        action="append",
        help=f"slices by this field of the predictions; may be given again (default: {', '.join(SLICE_FIELDS)})",
    )
    parser.add_argument("--no-flips", action="store_true", help="count the questions that flipped without listing them")
    parser.add_argument("--out", metavar="FILE.json", type=Path, help="everything as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
