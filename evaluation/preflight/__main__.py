"""`python -m evaluation.preflight`: check a submission before it is pushed."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.checks import CHECKS, run_checks
from evaluation.preflight.findings import CheckReport, Level
from evaluation.preflight.subject import Subject

REPOSITORY = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check and report; the exit code: 0 no error (perhaps warnings), 1 at least one error, 2 nothing was checked."""
    options = _parser().parse_args(arguments)
    if options.list:
        for name, check in CHECKS.items():
            print(f"{name:16}{' '.join((check.__doc__ or '').split())}")
        return 0
    root: Path = options.root.resolve()
    if not (root / "agents").is_dir():
        print(f"error: {root} is no submission: it has no folder agents", file=sys.stderr)
        return 2
    subject = Subject(root, options.task, options.preset)
    reports = list(run_checks(subject, options.skip, None if options.json else _progress))
    errors = sum(report.errors for report in reports)
    if options.json:
        print(json.dumps({"errors": errors, "checks": [report.to_dict() for report in reports]}, indent=2))
    else:
        _progress("")
        print("\n".join(_lines(reports)))
    return 1 if errors else 0


def _lines(reports: Sequence[CheckReport]) -> Iterator[str]:
    """A line for each check, then each finding with its remedy, errors first, then the sums."""
    for report in reports:
        count = f"{len(report.findings)} finding(s)" if report.findings else ""
        yield f"{report.check:14}  {report.state:7}  {report.skipped or report.note or count}".rstrip()
    for level in Level:
        for report in reports:
            for finding in report.findings:
                if finding.level is level:
                    yield f"\n{level.upper()} [{report.check}] {finding.place}: {finding.problem}"
                    yield f"    -> {finding.remedy}"
    errors, warnings = (sum(report.count(level) for report in reports) for level in Level)
    skipped = sum(report.skipped is not None for report in reports)
    verdict = "do not push it" if errors else "no fault was found here"
    yield f"\n{errors} error(s), {warnings} warning(s), {skipped} check(s) skipped: {verdict}"


def _progress(name: str) -> None:
    """Show on a terminal which check runs, in one line that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\033[K{name and f'checking {name} ...'}", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.preflight",
        description="Check a submission for what is known to have lost others. Nothing is changed, nothing pushed.",
        epilog="Exit code: 0 no error (perhaps warnings); 1 at least one error; 2 nothing was checked.",
    )
    parser.add_argument("--task", choices=sorted(CHALLENGES), help="default: the one that aicrowd.json names")
    parser.add_argument("--preset", metavar="NAME", help="default: the active one, which is what the evaluator gets")
    parser.add_argument("--root", metavar="DIR", type=Path, default=REPOSITORY, help="default: this repository")
    parser.add_argument(
        "--skip", metavar="NAME", nargs="+", default=[], choices=list(CHECKS), help="leave these checks out"
    )
    parser.add_argument("--list", action="store_true", help="say what each check demands")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
