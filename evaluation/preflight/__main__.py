"""`python -m evaluation.preflight`: check a submission before it is pushed."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.checks import CHECKS, run_checks
from evaluation.preflight.report import findings, summary, table
from evaluation.preflight.subject import Subject

REPOSITORY = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check and report; the exit code: 0 no error (perhaps warnings), 1 at least one error, 2 nothing was checked."""
    options = _parser().parse_args(arguments)
    if options.list:
        for check in CHECKS:
            print(f"{check.name:16}{check.demands}")
        return 0
    root: Path = options.root.resolve()
    if not (root / "agents").is_dir():
        print(f"error: {root} holds no submission: it has no folder agents", file=sys.stderr)
        return 2
    subject = Subject(root, options.task, options.preset, options.resolve)
    say = None if options.json else _progress
    reports = list(run_checks(subject, options.skip, say))
    if options.json:
        errors = sum(report.errors for report in reports)
        print(json.dumps({"errors": errors, "checks": [report.to_dict() for report in reports]}, indent=2))
        return 1 if errors else 0
    _progress("")
    print("\n\n".join(filter(None, [table(reports), findings(reports), summary(reports)])))
    return 1 if any(report.errors for report in reports) else 0


def _progress(name: str) -> None:
    """Which check runs, in one line that is written over; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{name and f'checking {name} ...'}", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.preflight",
        description="Check a submission for what is known to have lost others. Nothing is changed, nothing pushed.",
        epilog="Exit code: 0 no error (perhaps warnings); 1 at least one error; 2 nothing was checked.",
    )
    parser.add_argument("--task", choices=sorted(CHALLENGES), help="default: the one that aicrowd.json names")
    parser.add_argument("--preset", metavar="NAME", help="default: the active one, which is what the evaluator gets")
    parser.add_argument("--root", metavar="DIR", type=Path, default=REPOSITORY, help="default: this repository")
    parser.add_argument("--skip", metavar="NAME", nargs="+", default=[], choices=names, help="leave these checks out")
    parser.add_argument("--resolve", action="store_true", help="let pip find versions for everything (asks the index)")
    parser.add_argument("--list", action="store_true", help="say what each check demands")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
