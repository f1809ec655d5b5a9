"""`crag judge`: judges the predictions of a file or of stored runs, and compares them with existing verdicts."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type
from crag.commands.command_line import command, parser_of, say
from crag.commands.ending import interrupt_code, stopped_in_order
from crag.commands.judge_file import DEFAULT_GROUPS, judge_file
from crag.commands.judge_runs import judge_runs
from crag.commands.judged_files import parse_columns
from crag.commands.judged_rows import DEFAULT_REFERENCE
from crag.evaluation.judge import add_judge_arguments

_FILE_OPTIONS = {
    "--out": "target",
    "--columns": "columns",
    "--against": "against",
    "--by": "by",
    "--whole": "whole",
    "--corrections": "corrections",
}
"""The options that only a file has, and their names in the namespace."""


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file or stored runs; returns the exit code.

    0: done. 2: a file, a run or the judge is unusable. 130 and 143: interrupted or terminated.
    """
    options = _parse(arguments)
    try:
        with stopped_in_order():
            if options.runs:
                judge_runs(options)
            else:
                judge_file(options)
    except KeyboardInterrupt as interrupt:
        say(f"\n{_describe_interruption(options)}")
        return interrupt_code(interrupt)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag judge",
        "Judge answers again: those of a file, or of runs of `crag evaluate`.\n\n"
        "With --in, rows {query, ground_truth or answer, alt_ans?, prediction} get a verdict (correct, incorrect,\n"
        "missing or unscored) and a reason. Existing verdicts are compared: agreement, Cohen's kappa and the\n"
        "differences. A row without a gold answer is unscored. Files ending in .bz2 are compressed.\n\n"
        "With RUN, the folders of runs, the new verdicts, results and report replace those in the folder, and what\n"
        "moved is printed. The earlier ones are kept in RUN/judged-by-JUDGE, a run that `crag compare` reads.",
        "Exit code: 0 done; 2 a file, a run or the judge cannot be used; 130 interrupted (143 by SIGTERM).",
    )

    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="*",
        type=Path,
        help="folders of finished runs to judge again",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="RUN: replace verdicts that are kept of the same earlier judge",
    )
    _add_file_options(parser.add_argument_group("a file"))
    add_judge_arguments(parser.add_argument_group("judge"))

    options = parser.parse_args(arguments)
    if bool(options.runs) == (options.source is not None):
        parser.error("give either --in FILE or the folders of runs")
    if options.runs:
        for option, name in _FILE_OPTIONS.items():
            if getattr(options, name):
                parser.error(f"{option} is for --in, not for a run")
    if options.overwrite and not options.runs:
        parser.error("--overwrite is for runs")
    return options


def _add_file_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--in",
        dest="source",
        metavar="FILE",
        type=Path,
        help="JSON lines, a JSON array, .csv or .tsv",
    )

    group.add_argument(
        "--out",
        dest="target",
        metavar="FILE",
        type=Path,
        help="the rows with verdicts and reasons, in the format of the name: .jsonl, .json, .csv, .tsv, also as .bz2; "
        "-: JSON lines on standard output",
    )

    group.add_argument(
        "--columns",
        metavar="OURS=THEIRS,...",
        type=argument_type(parse_columns),
        action="append",
        default=[],
        help="what the file calls query, prediction, answer ...; the names of ragas and DeepEval are known",
    )

    group.add_argument(
        "--against",
        metavar="FIELD",
        help=f"compare with this field of every row (default: {DEFAULT_REFERENCE}, if a row has it)",
    )

    group.add_argument(
        "--by",
        metavar="FIELD",
        help=f"compare in groups by this field (default: {DEFAULT_GROUPS})",
    )

    group.add_argument(
        "--whole",
        action="store_true",
        help="judge whole predictions, not the 75 tokens that the evaluator keeps",
    )

    group.add_argument(
        "--corrections",
        metavar="FILE",
        type=Path,
        help="your corrected verdicts, saved from a report; they replace the judge's",
    )


def _describe_interruption(options: argparse.Namespace) -> str:
    """What is kept, and how to continue."""
    kept_parts = []
    if options.runs:
        kept_parts.append("runs that are named above are judged and stored")
    if options.judge == "llm" and options.judge_cache != "none":
        kept_parts.append("verdicts of the model so far are cached")
    if not kept_parts:
        return "interrupted: nothing is written; the same command starts again"
    return f"interrupted: {', '.join(kept_parts)}; the same command continues"
