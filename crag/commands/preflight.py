"""Check a submission for known causes of failed submissions. Changes and pushes nothing."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from crag.commands.argument_types import preset
from crag.commands.command_line import parser_of
from crag.commands.ending import EXIT_TERMINATED, EXIT_UNUSABLE, Terminated, stopped_in_order
from crag.submission.preflight import CHALLENGES
from crag.submission.preflight.checks import CHECKS, CheckReport, run_check
from crag.submission.preflight.subject import Level, Subject, first_few


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks; exit code: 0 no errors (perhaps warnings), 1 at least one error, 2 nothing was checked."""
    options = _parse(arguments)
    if options.list:
        for name, check in CHECKS.items():
            requirement = " ".join((check.__doc__ or "").split())
            print(f"{name:16}{requirement}")
        return 0
    if not (options.root / "agents").is_dir():
        sys.stderr.write(f"error: {options.root} is not a submission: it has no folder agents\n")
        return EXIT_UNUSABLE

    # Copies of the tree and an evaluation that still runs must not outlive SIGTERM
    try:
        with stopped_in_order():
            return _check(options)
    except Terminated:
        return EXIT_TERMINATED


def _check(options: argparse.Namespace) -> int:
    """Run the checks and print what they find; returns the exit code."""
    subject = Subject(options.root.resolve(), options.task, options.preset)
    reports = _run_checks(subject, options.skip)
    print("\n".join([*map(str, reports), *_problems(reports)]))

    errors = sum(len(report.of(Level.ERROR)) for report in reports)
    warnings = sum(len(report.of(Level.WARNING)) for report in reports)
    skipped = sum(report.skipped is not None for report in reports)
    if skipped == len(reports):
        print("\nnothing was checked")
        return EXIT_UNUSABLE

    verdict = "do not push it" if errors else _verdict_without_errors(subject, reports)
    print(f"\n{errors} error(s), {warnings} warning(s), {skipped} check(s) skipped: {verdict}")
    return 1 if errors else 0


def _verdict_without_errors(subject: Subject, reports: Sequence[CheckReport]) -> str:
    """Weights of another preset than the active one are a warning, as it runs here with those of this machine."""
    is_rehearsal = subject.preset != subject.active_preset
    lacks_weights = any(report.check == "weights" and report.of(Level.WARNING) for report in reports)
    if is_rehearsal and lacks_weights:
        return (
            f"no other errors, but weights of preset {subject.preset} are not committed: "
            f"commit them before you make it the active one (now {subject.active_preset})"
        )
    return "no errors found"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    exit_codes = "Exit code: 0 no error (perhaps warnings); 1 at least one error; 2 nothing was checked."
    parser = parser_of("crag preflight", __doc__, exit_codes)
    parser.add_argument(
        "--task",
        choices=sorted(CHALLENGES),
        help="default: the one that aicrowd.json names",
    )

    parser.add_argument(
        "--preset",
        metavar="NAME",
        type=preset,
        help="default: the active one, which the evaluator uses",
    )

    parser.add_argument(
        "--root",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="default: this folder",
    )

    parser.add_argument(
        "--skip",
        metavar="NAME",
        nargs="+",
        default=[],
        choices=list(CHECKS),
        help="skip these checks",
    )
    parser.add_argument("--list", action="store_true", help="list what each check requires")

    return parser.parse_args(arguments)


def _run_checks(subject: Subject, skipped: Sequence[str]) -> list[CheckReport]:
    reports = []
    for name in CHECKS:
        if name in skipped:
            reports.append(CheckReport(name, skipped="skipped with --skip"))
            continue
        # On standard error: some checks take minutes, and the table comes at the end
        sys.stderr.write(f"checking {name} ...\n")
        reports.append(run_check(name, subject))
    return reports


def _problems(reports: Sequence[CheckReport]) -> Iterator[str]:
    """Each problem once, with the places where it was found; errors first."""
    for level in (Level.ERROR, Level.WARNING):
        for report in reports:
            # The same problem in a hundred files is one line
            places_of: dict[tuple[str, str], list[str]] = {}
            for finding in report.of(level):
                places_of.setdefault((finding.problem, finding.remedy), []).append(finding.place)

            for (problem, remedy), places in places_of.items():
                times = f" ({len(places)} times)" if len(places) > 1 else ""
                distinct = list(dict.fromkeys(places))
                yield f"\n{level.upper()} [{report.check}] {first_few(distinct)}: {problem}{times}"
                yield f"    -> {remedy}"
