"""Check a submission for known causes of failed submissions. Changes and pushes nothing."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crag.commands.command_line import parser_of
from crag.commands.ending import EXIT_UNUSABLE
from crag.submission.preflight import CHALLENGES, agent, description, repository
from crag.submission.preflight.subject import Finding, Level, NotApplicableError, Subject, first_few, one_line

Check = Callable[[Subject], Iterable[Finding]]
"""Its docstring states the requirement."""
CHECKS: dict[str, Check] = {
    "aicrowd-json": description.aicrowd_json,
    "preset": description.preset,
    "memory": description.memory,
    "clean-tree": repository.clean_tree,
    "lfs": repository.lfs,
    "secrets": repository.secrets,
    "weights": repository.weights,
    "imports-named": repository.imports_named,
    "agent": agent.agent,
}
UNFORESEEN = (
    OSError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, re.error, subprocess.SubprocessError,
)  # fmt: skip
"""Exceptions of reading the submission's files; the other checks still run."""


@dataclass(slots=True)
class CheckReport:
    """A check's result. `skipped` says why the check does not apply."""

    check: str
    findings: list[Finding] = field(default_factory=list)
    skipped: str | None = None

    def of(self, level: Level) -> list[Finding]:
        """The findings of that level."""
        return [finding for finding in self.findings if finding.level is level]

    def __str__(self) -> str:
        state = "ERROR" if self.of(Level.ERROR) else "warning" if self.of(Level.WARNING) else "ok"
        notes = "; ".join(finding.problem for finding in self.of(Level.NOTE))
        return f"{self.check:14}  {'skipped' if self.skipped else state:7}  {self.skipped or notes}".rstrip()


def run_check(name: str, subject: Subject, check: Check | None = None) -> CheckReport:
    """Run one check of `CHECKS`, or the given one. A failing check reports an error and never raises."""
    report = CheckReport(name)
    try:
        report.findings.extend((check or CHECKS[name])(subject))
    except NotApplicableError as reason:
        report.skipped = str(reason)
    except UNFORESEEN as error:
        problem = f"the check failed to run: {type(error).__name__}: {one_line(error)}"
        report.findings.append(Finding(Level.ERROR, ".", problem, f"investigate it, or skip it with --skip {name}"))
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks; exit code: 0 no errors (perhaps warnings), 1 at least one error, 2 nothing was checked."""
    exit_codes = "Exit code: 0 no error (perhaps warnings); 1 at least one error; 2 nothing was checked."
    parser = parser_of("crag preflight", __doc__, exit_codes)
    parser.add_argument("--task", choices=sorted(CHALLENGES), help="default: the one that aicrowd.json names")
    parser.add_argument("--preset", metavar="NAME", help="default: the active one, which the evaluator uses")
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="default: this folder")
    parser.add_argument("--skip", metavar="NAME", nargs="+", default=[], choices=list(CHECKS), help="skip these checks")
    parser.add_argument("--list", action="store_true", help="list what each check requires")
    options = parser.parse_args(arguments)
    if options.list:
        for name, check in CHECKS.items():
            sys.stdout.write(f"{name:16}{' '.join((check.__doc__ or '').split())}\n")
        return 0
    if not (options.root / "agents").is_dir():
        sys.stderr.write(f"error: {options.root} is not a submission: it has no folder agents\n")
        return EXIT_UNUSABLE
    subject = Subject(options.root.resolve(), options.task, options.preset)
    reports = []
    for name in CHECKS:
        if name in options.skip:
            reports.append(CheckReport(name, skipped="skipped with --skip"))
        else:
            sys.stderr.write(f"checking {name} ...\n")
            reports.append(run_check(name, subject))
    sys.stdout.write("\n".join([*map(str, reports), *_problems(reports)]) + "\n")
    errors, warnings = (sum(len(report.of(level)) for report in reports) for level in (Level.ERROR, Level.WARNING))
    skipped = sum(report.skipped is not None for report in reports)
    verdict = "do not push it" if errors else "no errors found"
    sys.stdout.write(f"\n{errors} error(s), {warnings} warning(s), {skipped} check(s) skipped: {verdict}\n")
    return 1 if errors else 0


def _problems(reports: Sequence[CheckReport]) -> Iterator[str]:
    """Each problem once, with its places; errors first."""
    for level in (Level.ERROR, Level.WARNING):
        for report in reports:
            places: dict[tuple[str, str], list[str]] = {}
            for finding in report.of(level):
                places.setdefault((finding.problem, finding.remedy), []).append(finding.place)
            for (problem, remedy), found in places.items():
                times = f" ({len(found)} times)" if len(found) > 1 else ""
                yield f"\n{level.upper()} [{report.check}] {first_few(list(dict.fromkeys(found)))}: {problem}{times}"
                yield f"    -> {remedy}"
