"""The checks of packages: the image can install those of Debian, and has those that the agent imports."""

import json
import os
import re
import subprocess
import sys
from typing import Any

from crag.core.log_lines import one_line
from crag.submission.preflight.subject import Finding, Findings, Level, Subject

AGENT_ROOMS = (
    "crag/answering",
    "crag/core",
    "crag/engines",
    "crag/facts",
    "crag/graph",
    "crag/pipeline",
    "crag/router",
    "crag/settings",
    "crag/text",
    "crag/web",
)
"""The folders whose code runs in the evaluator. `crag/weights` also has what fetches and converts, before the push."""
REQUIREMENTS = "requirements.txt"
LOCK = "locks/gpu.txt"
APT = "apt.txt"
_DEBIAN_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?(?:[=/][\w.+:~-]+)?")
"""What apt-get installs by name: a package, perhaps with its processor (``:amd64``) and version (``=1.2``)."""


def apt_packages(subject: Subject) -> Findings:
    """apt.txt has Debian packages and nothing else: the image's build takes every word for one."""
    path = subject.root / APT
    if not path.is_file():
        yield Finding(Level.ERROR, APT, "is missing, and the image's build copies it", f"git checkout {APT}")
        return

    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
        for word in line.split():
            if _DEBIAN_PACKAGE.fullmatch(word) is None:
                problem = f"{one_line(ascii(word), 60)} is no package, so the image's build fails"
                remedy = "write one package a line, without commas, comments and a byte order mark"
                yield Finding(Level.ERROR, f"{APT}:{number}", problem, remedy)
                break


def imports_named(subject: Subject) -> Findings:
    """requirements.txt names all packages that the agent imports (deptry), and the image's lock has them."""
    locked = (subject.root / LOCK).read_text(encoding="utf-8")
    requirements = (subject.root / REQUIREMENTS).read_text(encoding="utf-8")
    # "Name==1.2" at the start of a line, without an environment marker
    for pin in re.findall(r"(?m)^[\w.-]+==[^\s;]+", requirements):
        locked_form = pin.lower().replace("_", "-")
        if f"\n{locked_form} " not in locked:
            yield Finding(
                Level.ERROR,
                LOCK,
                f"has no {pin}, so the image has none",
                "make locks",
            )

    try:
        faults = _run_deptry(subject)
    except ValueError as error:
        yield Finding(
            Level.ERROR,
            REQUIREMENTS,
            f"cannot be read: {error}",
            "write NAME==VERSION, one package a line",
        )
        return

    for fault in faults:
        module = fault["module"]
        location = fault["location"]
        position = f"{location['file']}:{location['line']}"
        problem = f"imports {module}, which {REQUIREMENTS} does not name"
        remedy = f"add the package of {module} with its exact version, then run make locks"
        yield Finding(Level.ERROR, position, problem, remedy)


def _run_deptry(subject: Subject) -> list[dict[str, Any]]:
    """Ask deptry for the imports of the agent that no requirement names.

    Raises OSError: it does not run; ValueError: a requirement cannot be read, with its words.
    """
    # Modules of this tree need no requirement
    first_party: list[str] = []
    for path in subject.root.iterdir():
        if path.is_dir() or path.suffix == ".py":
            first_party += ["--known-first-party", path.stem]

    command = [sys.executable, "-m", "deptry", "agents", *AGENT_ROOMS]
    command += ["--config", os.devnull, "--ignore", "DEP002"]
    command += ["--requirements-files", REQUIREMENTS, "--requirements-files-dev", os.devnull]
    command += ["--json-output", "/dev/stdout", *first_party]
    completed = subprocess.run(  # noqa: S603
        command,
        cwd=subject.root,
        capture_output=True,
        text=True,
        check=False,
    )

    # deptry's exit code is not 0 if it finds faults, so only empty output means that it failed
    if not completed.stdout:
        cause = _last_error(completed.stderr)
        if "InvalidRequirement" in cause:
            raise ValueError(cause.partition(": ")[2])
        raise OSError(f"deptry failed: {cause}")
    faults: list[dict[str, Any]] = json.loads(completed.stdout)
    return faults


def _last_error(traceback: str) -> str:
    """What a program says in the end, in one line: the last line that is not indented, and those below it."""
    lines = traceback.splitlines()
    starts = [number for number, line in enumerate(lines) if line[:1].strip()]
    return one_line(" ".join(lines[starts[-1] :] if starts else lines))
