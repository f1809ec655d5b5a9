"""`python -m evaluation.preflight`: checks a submission before the push."""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from agents.common.console import end_with
from evaluation.preflight import agent, code, description, image, repository, secrets, weights
from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import CheckReport, Level, NotApplicableError, one_line, some
from evaluation.preflight.subject import GitError, Subject

REPOSITORY = Path(__file__).parents[2]
Check = Callable[[Subject, CheckReport], None]
"""Adds its findings to the report; its docstring states the requirement."""

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
    "secrets": secrets.secrets,
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
"""Exceptions of reading the submission's files; the other checks still run."""


def run_check(name: str, subject: Subject, check: Check | None = None) -> CheckReport:
    """Run one check of `CHECKS`, or the given one. A failing check reports an error and never raises."""
    report = CheckReport(name)
    began = time.monotonic()
    try:
        (check or CHECKS[name])(subject, report)
    except NotApplicableError as reason:
        report.skipped = str(reason)
    except UNFORESEEN as error:
        problem = f"the check could not be done: {type(error).__name__}: {one_line(error)}"
        report.error(".", problem, f"investigate it, or skip it with --skip {name}")
    report.seconds = time.monotonic() - began
    return report


def run_checks(
    subject: Subject, left_out: Collection[str] = (), on_start: Callable[[str], object] | None = None
) -> Iterator[CheckReport]:
    """Run all checks in turn; `left_out` are reported as skipped, `on_start` gets each check's name."""
    for name in CHECKS:
        if name in left_out:
            yield CheckReport(name, skipped="skipped with --skip")
            continue
        if on_start is not None:
            on_start(name)
        yield run_check(name, subject)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks; exit code: 0 no errors (perhaps warnings), 1 at least one error, 2 nothing was checked."""
    options = _parser().parse_args(arguments)
    if options.list:
        for name, check in CHECKS.items():
            print(f"{name:16}{' '.join((check.__doc__ or '').split())}")
        return 0
    root: Path = options.root.resolve()
    if not (root / "agents").is_dir():
        print(f"error: {root} is not a submission: it has no folder agents", file=sys.stderr)
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
            for (problem, remedy), places in report.by_problem(level).items():
                different = list(dict.fromkeys(places))
                times = f" ({len(places)} times)" if len(places) > 1 else ""
                yield f"\n{level.upper()} [{report.check}] {some(different)}: {problem}{times}"
                yield f"    -> {remedy}"
    errors, warnings = (sum(report.count(level) for report in reports) for level in Level)
    skipped = sum(report.skipped is not None for report in reports)
    verdict = "do not push it" if errors else "no errors found"
    yield f"\n{errors} error(s), {warnings} warning(s), {skipped} check(s) skipped: {verdict}"


def _progress(name: str) -> None:
    """Say what is checked: one changing line in a terminal, else a line each; nothing follows an empty name."""
    if sys.stderr.isatty():
        print(f"\r\033[K{name and f'checking {name} ...'}", end="", file=sys.stderr, flush=True)
    elif name:
        print(f"checking {name} ...", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.preflight",
        description="Check a submission for known reasons of lost submissions. Changes and pushes nothing.",
        epilog="Exit code: 0 no error (perhaps warnings); 1 at least one error; 2 nothing was checked. "
        "(make ends with 2 whatever fails.)",
    )
    parser.add_argument("--task", choices=sorted(CHALLENGES), help="default: the one that aicrowd.json names")
    parser.add_argument("--preset", metavar="NAME", help="default: the active one, which the evaluator uses")
    parser.add_argument("--root", metavar="DIR", type=Path, default=REPOSITORY, help="default: this repository")
    parser.add_argument("--skip", metavar="NAME", nargs="+", default=[], choices=list(CHECKS), help="skip these checks")
    parser.add_argument("--list", action="store_true", help="list what each check requires")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    return parser


if __name__ == "__main__":
    end_with(main)
