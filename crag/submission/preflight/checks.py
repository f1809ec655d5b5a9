"""All checks of a submission, by name, and what running them gives."""

import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from crag.core.log_lines import one_line
from crag.submission.preflight import agent, description, imports, repository, weights
from crag.submission.preflight.subject import Finding, Level, NotApplicableError, Subject

Check = Callable[[Subject], Iterable[Finding]]
"""Its docstring states the requirement."""
CHECKS: dict[str, Check] = {
    "aicrowd-json": description.aicrowd_json,
    "preset": description.preset,
    "memory": description.memory,
    "clean-tree": repository.clean_tree,
    "lfs": repository.lfs,
    "secrets": repository.secrets,
    "weights": weights.weights,
    "apt-packages": imports.apt_packages,
    "imports-named": imports.imports_named,
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
        if self.skipped:
            return f"{self.check:14}  skipped  {self.skipped}"

        state = "ok"
        if self.of(Level.ERROR):
            state = "ERROR"
        elif self.of(Level.WARNING):
            state = "warning"
        notes = "; ".join(finding.problem for finding in self.of(Level.NOTE))
        return f"{self.check:14}  {state:7}  {notes}".rstrip()


def run_check(name: str, subject: Subject, check: Check | None = None) -> CheckReport:
    """Run one check of `CHECKS`, or the given one. A failing check reports an error and never raises."""
    report = CheckReport(name)
    try:
        # Checks are generators: they run here, and what they found before an error is kept
        report.findings.extend((check or CHECKS[name])(subject))
    except NotApplicableError as reason:
        report.skipped = str(reason)
    except UNFORESEEN as error:
        problem = f"the check failed to run: {type(error).__name__}: {one_line(error)}"
        report.findings.append(
            Finding(
                Level.ERROR,
                ".",
                problem,
                f"investigate it, or skip it with --skip {name}",
            )
        )
    return report
