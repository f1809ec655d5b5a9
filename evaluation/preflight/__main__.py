"""`python -m evaluation.preflight`: check a submission before it is pushed."""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from evaluation.preflight import agent, code, description, image, repository, weights
from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import CheckReport, Level, NotApplicableError, one_line
from evaluation.preflight.subject import GitError, Subject

REPOSITORY = Path(__file__).parents[2]
Check = Callable[[Subject, CheckReport], None]
"""Adds its findings to the report; its docstring says what it demands."""

CHECKS: dict[str, Check] = {
    "aicrowd-json": description.fields,
    "challenge": description.challenge,
    "gpu": description.gpu,
    "preset": description.preset,
    "engine": description.engine,
    "graph-variable": description.graph_variable,
    "memory": description.memory,
    "clean-tree": repository.clean_tree,
    "tag": repository.tag,
    "lfs": repository.lfs,
    "history-size": repository.history_size,
    "weights": weights.weights,
    "line-ends": code.line_ends,
    "absolute-paths": code.absolute_paths,
    "risky-calls": code.risky_calls,
    "pinned": image.pinned,
    "imports-named": code.imports_named,
    "dockerfile": image.dockerfile,
    "docker-context": image.docker_context,
    "import": agent.imports,
    "batch": agent.batch,
}

UNFORESEEN = (
    OSError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, re.error, GitError,
    subprocess.SubprocessError,
)  # fmt: skip
"""What reading somebody's files may raise; the other checks still run."""


def run_check(name: str, subject: Subject, check: Check | None = None) -> CheckReport:
    """Run one check of `CHECKS`, or the given one. A check that fails itself reports an error and never raises."""
    report = CheckReport(name)
    began = time.monotonic()
    try:
        (check or CHECKS[name])(subject, report)
    except NotApplicableError as reason:
        report.skipped = str(reason)
    except UNFORESEEN as error:
        problem = f"the check could not be done: {type(error).__name__}: {one_line(error)}"
        report.error(".", problem, f"look into it, or leave it out with --skip {name}")
    report.seconds = time.monotonic() - began
    return report


def run_checks(
    subject: Subject, left_out: Collection[str] = (), on_start: Callable[[str], object] | None = None
) -> Iterator[CheckReport]:
    """Run all checks, one by one; `left_out` are shown as skipped, `on_start` gets the name of each that begins."""
    for name in CHECKS:
        if name in left_out:
            yield CheckReport(name, skipped="left out with --skip")
            continue
        if on_start is not None:
            on_start(name)
        yield run_check(name, subject)


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
