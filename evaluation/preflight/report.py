"""The reports as a person reads them: a table, and below it each finding with its remedy."""

from collections.abc import Sequence

from evaluation.preflight.findings import Level, Report


def state_of(report: Report) -> str:
    """One word for the table."""
    if report.outcome.skipped is not None:
        return "skipped"
    if report.errors:
        return "ERROR"
    return "warning" if report.warnings else "ok"


def table(reports: Sequence[Report]) -> str:
    """One line per check: name, state, what is worth knowing."""
    width = max(len(report.check) for report in reports)
    lines = []
    for report in reports:
        count = len(report.outcome.findings)
        told = report.outcome.skipped or report.outcome.note or (f"{count} finding(s)" if count else "")
        lines.append(f"{report.check:{width}}  {state_of(report):7}  {told}".rstrip())
    return "\n".join(lines)


def findings(reports: Sequence[Report]) -> str:
    """Every finding, errors first: where, what, and what to do."""
    lines = []
    for level in (Level.ERROR, Level.WARNING):
        for report in reports:
            for finding in report.outcome.findings:
                if finding.level is level:
                    lines.append(f"{level.upper()} [{report.check}] {finding.place}: {finding.problem}")
                    lines.append(f"    -> {finding.remedy}")
    return "\n".join(lines)


def summary(reports: Sequence[Report]) -> str:
    """One line at the end."""
    errors, warnings = sum(r.errors for r in reports), sum(r.warnings for r in reports)
    left_out = sum(report.outcome.skipped is not None for report in reports)
    verdict = "do not push it" if errors else "ready as far as can be told here"
    return f"{errors} error(s), {warnings} warning(s), {left_out} check(s) skipped: {verdict}"
