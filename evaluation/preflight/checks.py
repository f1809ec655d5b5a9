"""All checks, in the order in which a person wants to hear of them, and how they are run."""

import re
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from evaluation.preflight import agent, description, image, memory, repository, requirements, text_files, weights
from evaluation.preflight.findings import Finding, Level, Outcome, Place, Report, one_line, skipped
from evaluation.preflight.subject import GitError, Subject


class Check(NamedTuple):
    """A check and its name on the command line; its function's docstring says what it demands."""

    name: str
    function: Callable[[Subject], Outcome]

    @property
    def demands(self) -> str:
        """What must be so."""
        return " ".join((self.function.__doc__ or "").split())


CHECKS: tuple[Check, ...] = (
    Check("aicrowd-json", description.fields),
    Check("challenge", description.challenge),
    Check("gpu", description.gpu),
    Check("authors", description.authors),
    Check("preset", description.preset),
    Check("engine", description.engine),
    Check("graph-variable", description.graph_variable),
    Check("memory", memory.memory),
    Check("clean-tree", repository.clean_tree),
    Check("tag", repository.tag),
    Check("lfs", repository.lfs),
    Check("history-size", repository.history_size),
    Check("weights", weights.weights),
    Check("line-ends", text_files.line_ends),
    Check("absolute-paths", text_files.absolute_paths),
    Check("risky-calls", text_files.risky_calls),
    Check("pinned", requirements.pinned),
    Check("compatible", requirements.compatible),
    Check("imports-named", requirements.imports_named),
    Check("resolve", requirements.resolved),
    Check("dockerfile", image.dockerfile),
    Check("docker-context", image.docker_context),
    Check("import", agent.imports),
    Check("batch", agent.batch),
)


UNFORESEEN = (
    OSError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, re.error, GitError,
    subprocess.SubprocessError,
)  # fmt: skip
"""What reading somebody's files may end with; none of it may keep the other checks from being done."""


def run_check(check: Check, subject: Subject) -> Report:
    """The report of one check. A check that cannot do its work is a finding too, never an exception."""
    began = time.monotonic()
    try:
        outcome = check.function(subject)
    except UNFORESEEN as error:
        problem = f"the check could not be done: {type(error).__name__}: {one_line(error)}"
        remedy = f"look into it, or leave it out with --skip {check.name}"
        outcome = Outcome((Finding(Level.ERROR, Place("."), problem, remedy),))
    return Report(check.name, outcome, time.monotonic() - began)


def run_checks(
    subject: Subject, left_out: Collection[str] = (), say: Callable[[str], object] | None = None
) -> Iterator[Report]:
    """The reports of all checks, one by one; `left_out` are shown as skipped. `say` hears of each that begins."""
    for check in CHECKS:
        if check.name in left_out:
            yield Report(check.name, skipped("left out with --skip"))
            continue
        if say is not None:
            say(check.name)
        yield run_check(check, subject)


def named(name: str, checks: Sequence[Check] = CHECKS) -> Check:
    """The check of that name; KeyError if there is none."""
    for check in checks:
        if check.name == name:
            return check
    raise KeyError(name)
