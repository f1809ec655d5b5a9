"""Checks of what git will push: clean tree, Git LFS, secrets, weights, and imports that nothing installs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from crag.settings import needed_weights
from crag.submission.preflight.subject import (
    Finding,
    Findings,
    Level,
    NotApplicableError,
    Subject,
    note,
    one_line,
    some,
)
from crag.weights.fetch import verification_problem
from crag.weights.manifest import cache_folder

POINTER = b"version https://git-lfs"
POINTER_SIZE = 1024
"""A Git LFS pointer has about 130 bytes; the specification's limit is this."""
LARGE = 5_000_000
"""Maximum bytes of a file in plain git in this project; larger files belong to Git LFS."""
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".gguf", ".onnx", ".pt", ".pth", ".ckpt")
LARGEST_TEXT = 2_000_000
"""Bytes of a file that is searched for secrets; larger ones are data and weights."""
AGENT_ROOMS = [
    f"crag/{room}"
    for room in (
        "answering",
        "core",
        "engines",
        "facts",
        "graph",
        "pipeline",
        "router",
        "settings",
        "text",
        "web",
    )
]
"""The folders whose code runs in the evaluator. `crag/weights` also has what fetches and converts, before the push."""
REQUIREMENTS, LOCK = "requirements.txt", "locks/gpu.txt"


def clean_tree(subject: Subject) -> Findings:
    """All changes are committed: only commits are pushed."""
    changed, unknown = subject.uncommitted
    if changed:
        problem = f"{len(changed)} changed file(s) are not committed: {some(changed)}"
        yield Finding(Level.ERROR, changed[0], problem, "git commit them, or undo the changes")
    if unknown:
        problem = f"{len(unknown)} file(s) are not known to git: {some(unknown)}"
        remedy = "git add and commit what the submission needs, put the rest into .gitignore"
        yield Finding(Level.WARNING, unknown[0], problem, remedy)


def lfs(subject: Subject) -> Findings:
    """Weights and other large files are in Git LFS: by rule, in commits, and in the tree."""
    tracked = subject.tracked
    by_rule, committed = _lfs_paths(subject, tracked), _committed_sizes(subject)
    if not _lfs_paths(subject, ["models/weights/any/model.safetensors"]):
        rule = "models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text"
        problem = "does not send weights to Git LFS"
        yield Finding(Level.ERROR, ".gitattributes", problem, f"add the line: {rule}")
    for path in tracked:
        size = committed.get(path, 0)
        migrate = f"git lfs install && git lfs migrate import --include='{path}' --everything; this rewrites history"
        if path not in by_rule and size > LARGE:
            yield Finding(Level.ERROR, path, f"has {size:,} bytes and is not in Git LFS", migrate)
        elif path in by_rule and size > POINTER_SIZE:
            problem = f"was committed with its {size:,} bytes, not as a pointer: git-lfs did not run"
            yield Finding(Level.ERROR, path, problem, migrate)
        elif (path in by_rule or path.endswith(WEIGHT_SUFFIXES)) and is_pointer(subject.root / path):
            problem = "is a Git LFS pointer: the contents are not here"
            yield Finding(Level.ERROR, path, problem, "git lfs install && git lfs pull")
    if by_rule and shutil.which("git-lfs") is None:
        problem = f"git-lfs is not installed, and {len(by_rule)} file(s) need it: the push would send only pointers"
        yield Finding(Level.ERROR, ".gitattributes", problem, "apt install git-lfs, then git lfs install")
    yield note(f"{len(by_rule)} file(s) in Git LFS")


def is_pointer(path: Path) -> bool:
    """Whether a file is a Git LFS pointer."""
    return path.is_file() and path.stat().st_size < POINTER_SIZE and path.read_bytes().startswith(POINTER)


def _lfs_paths(subject: Subject, paths: list[str]) -> set[str]:
    fields = subject.git("check-attr", "-z", "--stdin", "filter", stdin="\0".join(paths) + "\0").split("\0")
    return {path for path, value in zip(fields[0::3], fields[2::3], strict=False) if value == "lfs"}


def _committed_sizes(subject: Subject) -> dict[str, int]:
    lines = [line for line in subject.git("ls-files", "-s", "-z").split("\0") if line]
    blobs = "\n".join(line.split()[1] for line in lines) + "\n"
    sizes = subject.git("cat-file", "--batch-check=%(objectsize)", stdin=blobs).splitlines()
    pairs = zip(lines, sizes, strict=False)
    return {line.split("\t", 1)[1]: int(size) for line, size in pairs if size.strip().isdecimal()}


_TOKENS = {
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "a GitLab token": r"\bglpat-[\w-]{20,}",
    "an API key": r"(?<![\w-])sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}|\bAIza[\w-]{35}",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": r"\bxox[abprs]-[\w-]{20,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
}
_OF_ENV = {
    "a secret for the environment": r"(?im)^[ \t]*(?:export +)?\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w* *= *['\"]?[^\s'\"#]"
}


def secrets(subject: Subject) -> Findings:
    """No token, private key or filled .env is among the files that git has or would add. No secret is shown."""
    remedy = "remove it, also from the history (git filter-repo), revoke it, and read it from the environment"
    for name in sorted({*subject.tracked, *subject.uncommitted[1]}):
        path = subject.root / name
        if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST_TEXT:
            continue
        text, file = path.read_text(encoding="utf-8", errors="replace"), PurePosixPath(name)
        is_env = file.name.startswith(".env") and file.suffix not in {".example", ".template", ".sample"}
        for kind, token in {**_TOKENS, **(_OF_ENV if is_env else {})}.items():
            for match in re.finditer(token, text):
                place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
                yield Finding(Level.ERROR, place, f"has {kind}", remedy)


def imports_named(subject: Subject) -> Findings:
    """requirements.txt names all packages that the agent imports (deptry), and the image's lock has them."""
    locked = (subject.root / LOCK).read_text(encoding="utf-8")
    for pin in re.findall(r"(?m)^[\w.-]+==[^\s;]+", (subject.root / REQUIREMENTS).read_text(encoding="utf-8")):
        if f"\n{pin.lower().replace('_', '-')} " not in locked:
            yield Finding(Level.ERROR, LOCK, f"has no {pin}, so the image has none", "make locks")
    own = [path.stem for path in subject.root.iterdir() if path.is_dir() or path.suffix == ".py"]
    command = [sys.executable, "-m", "deptry", "agents", *AGENT_ROOMS, "--config", os.devnull, "--ignore", "DEP002"]
    command += ["--requirements-files", REQUIREMENTS, "--requirements-files-dev", os.devnull]
    command += ["--json-output", "/dev/stdout", *(word for module in own for word in ("--known-first-party", module))]
    done = subprocess.run(command, cwd=subject.root, capture_output=True, text=True, check=False)  # noqa: S603
    if not done.stdout:
        raise OSError(f"deptry failed: {one_line(done.stderr)}")
    for fault in json.loads(done.stdout):
        place, module = fault["location"], fault["module"]
        remedy = f"add the package of {module} with its exact version, then run make locks"
        problem = f"imports {module}, which {REQUIREMENTS} does not name"
        yield Finding(Level.ERROR, f"{place['file']}:{place['line']}", problem, remedy)


def weights(subject: Subject) -> Findings:
    """The submission has every model of the preset, identical to the manifest and committed."""
    root, cache = subject.pushed, cache_folder()
    needed = needed_weights(subject.settings, manifest=subject.manifest, repository=root, cache=root / "no-cache")
    if not needed.models and not needed.folders:
        raise NotApplicableError(f"the preset {subject.preset} loads no weights")
    fetch = f"crag models fetch {subject.preset} --to models/weights, then git lfs install, git add and git commit"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        shown = f"models/weights/{name}"
        problem = verification_problem(subject.manifest.models[name], root / shown)
        yield from _missing(subject, key, shown, cache / name, problem, fetch, optional=name in needed.optional)
    for made in needed.folders:
        place, problem = made.places[0], made.problem
        shown = place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)
        if pointers := [name for name in made.files if is_pointer(place / name)]:
            problem = f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull"
        without = "write tuned = false as the first line of" if made.kind == "adapter" else "remove the key from"
        get = f"{made.remedy}; commit {shown}, or {without} the preset"
        yield from _missing(subject, made.key, shown, cache / made.name, problem, get)
    adapters = {made.name: made.problem for made in needed.folders if made.kind == "adapter"}
    lost = ", ".join(name for name, problem in adapters.items() if problem)
    tuned = f"tuned: {', '.join(adapters)}" if adapters else "untuned: the base model answers without adapters"
    tuned = f"adapters missing: {lost}; tuned = false pushes the base model alone" if lost else tuned
    yield note(f"{len(needed.models) + len(needed.optional) + len(needed.folders)} model(s); {tuned}")


def _missing(
    subject: Subject, key: str, shown: str, elsewhere: Path, problem: str | None, get: str, *, optional: bool = False
) -> Findings:
    """What a part of the preset lacks, if anything; it may lie `elsewhere` on this machine."""
    if problem:
        is_needed = subject.preset == subject.active_preset and not optional
        here = next((place for place in (subject.root / shown, elsewhere) if place.exists()), None)
        remedy = f"{get}; on this machine it is in {here}" if here else get
        level, problem = Level.ERROR if is_needed else Level.WARNING, one_line(problem, 400)
        place = f"{subject.preset_file}, field {key}"
        yield Finding(level, place, f"{shown}, as git would push it: {problem}", remedy)
