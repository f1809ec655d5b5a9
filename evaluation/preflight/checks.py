"""All checks, in the order of the report, and how they are run."""

import re
import subprocess
import time
from collections.abc import Callable, Collection, Iterator

from evaluation.preflight import agent, description, image, repository, requirements, text_files, weights
from evaluation.preflight.findings import CheckReport, NotApplicableError, one_line
from evaluation.preflight.subject import GitError, Subject

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
    "line-ends": text_files.line_ends,
    "absolute-paths": text_files.absolute_paths,
    "risky-calls": text_files.risky_calls,
    "pinned": requirements.pinned,
    "imports-named": requirements.imports_named,
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
