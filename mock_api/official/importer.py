"""Import of the official graph: each of its files becomes one of our tables, whole or not at all.

Tables are made one after the other and take their place when they are whole; `import.json` beside them says what each
was made of. The same command again makes what is missing, so a kill costs the table that was being made. What is
large is streamed: a line of an article, a share, a game at a time; pickles of dictionaries are held as a whole, as by
the official server.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mock_api.official.jobs import JOBS, STORED, ImportFaultError, Job, Made
from mock_api.tables import DOMAINS, IMPORT_FILE, OFFICIAL_FILES, looks_official, store_path

LOCK_FILE = ".import.lock"
_POINTER = b"version https://git-lfs"
"""First bytes of a Git LFS pointer, which stands for a file that was not fetched."""
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, MemoryError)
"""What writing a value may raise that no table holds: bytes, a number of millions of digits, far too much of it."""


@dataclass(frozen=True)
class Report:
    """What an import did: tables made now, tables that were there before, a line for each that could not be made."""

    made: Mapping[str, Made]
    kept: tuple[str, ...]
    faults: tuple[str, ...]
    missing: tuple[str, ...]


def import_graph(source: Path, out: Path, *, partial: bool = False, quiet: bool = False) -> Report:
    """Make our tables of a folder of official files.

    Args:
        source: The folder `cragkg`.
        out: A new or empty folder, or one that an import has begun or ended: what is there already is kept, unless the
            official file is another one now.
        partial: Import what is there of a graph that lacks files.
        quiet: No progress bars.

    Raises:
        ImportFaultError: nothing can be begun: a wrong folder, missing files, another import into `out`.
    """
    missing = _missing(source, partial=partial)
    _check_out(source, out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / LOCK_FILE, timeout=0):
            return _import(source, out, missing, quiet=quiet)
    except Timeout:
        raise ImportFaultError(f"{out}: another process imports into it: wait for it, or give another --out") from None


def _missing(source: Path, *, partial: bool) -> tuple[str, ...]:
    if not source.is_dir():
        raise ImportFaultError(f"{source}: no such folder")
    there = [name for name in OFFICIAL_FILES if (source / name).is_file()]
    if not looks_official(source):
        near = next(
            (f for f in (source / "cragkg", source / "mock_api/cragkg", source.parent) if looks_official(f)), None
        )
        hint = f"give {near}" if near else "give the folder cragkg of the CRAG repository (mock_api/cragkg)"
        raise ImportFaultError(f"{source}: holds none of the official files, such as music/grammy_df.pickle: {hint}")
    pointers = [name for name in there if _is_pointer(source / name)]
    if pointers:
        raise ImportFaultError(
            f"{source / pointers[0]}: git has not fetched it, only its Git LFS pointer is there "
            f"({len(pointers)} of {len(OFFICIAL_FILES)} files): run `git lfs pull` in that repository"
        )
    missing = tuple(name for name in OFFICIAL_FILES if name not in there)
    if missing and not partial:
        raise ImportFaultError(
            f"{source}: {len(missing)} of {len(OFFICIAL_FILES)} official files are missing: {', '.join(missing)}: "
            "fetch them, or give --partial to import the others"
        )
    return missing


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_POINTER)) == _POINTER


def _check_out(source: Path, out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ImportFaultError(f"--out {out}: is a file: give a folder")
    if out.exists() and out.resolve() == source.resolve():
        raise ImportFaultError(f"--out {out}: is the folder of the official files: give another")
    used = sorted(path.name for path in out.iterdir() if path.name != LOCK_FILE) if out.is_dir() else []
    if used and IMPORT_FILE not in used:
        raise ImportFaultError(f"--out {out}: holds {used[0]}, which no import made: give a new folder")


def _import(source: Path, out: Path, missing: tuple[str, ...], *, quiet: bool) -> Report:
    state = _read_state(out)
    state["finished"] = False
    made: dict[str, Made] = {}
    kept: list[str] = []
    faults: list[str] = []
    for job in JOBS:
        sources = [source / name for name in job.sources if name not in missing]
        if not sources:
            continue
        if len(sources) < len(job.sources):
            names = ", ".join(name for name in job.sources if name in missing)
            faults.append(f"{source}: {names} is missing, and its other half alone is not imported")
            continue
        stamp = {path.relative_to(source).as_posix(): _stamp(path) for path in sources}
        done = state["tables"].get(job.tables[0], {})
        if done.get("sources") == stamp and all(_table(out, name).is_file() for name in job.tables):
            kept += job.tables
            continue
        _write_state(out, state)
        try:
            made[job.tables[0]] = result = _make(job, sources, out, quiet=quiet)
        except ImportFaultError as error:
            faults.append(str(error))
            continue
        state["tables"][job.tables[0]] = {
            "sources": stamp,
            "records": result.records,
            "left_out": dict(result.left_out),
        }
    state["finished"] = not faults
    state["missing"] = list(missing)
    _write_state(out, state)
    return Report(made, tuple(kept), tuple(faults), missing)


def _make(job: Job, sources: list[Path], out: Path, *, quiet: bool) -> Made:
    targets = [_table(out, name) for name in job.tables]
    unfinished = [path.with_name(f".{path.name}.unfinished") for path in targets]
    for path in targets:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        result = job.run(sources, unfinished, quiet=quiet)
        for path, target in zip(unfinished, targets, strict=True):
            path.replace(target)
    except ImportFaultError:
        raise
    except _NO_JSON as error:
        reason = str(error) or type(error).__name__
        raise ImportFaultError(f"{sources[0]}: a value that no table can hold ({reason}): fetch it again") from None
    except (OSError, EOFError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise ImportFaultError(f"{sources[0]}: cannot be read or its table not written: {reason}") from None
    finally:
        for path in unfinished:
            path.unlink(missing_ok=True)
    return result


def _table(out: Path, name: str) -> Path:
    return store_path(out, name) if name in STORED else out / name


def _stamp(path: Path) -> list[int]:
    facts = path.stat()
    return [facts.st_size, facts.st_mtime_ns]


def _read_state(out: Path) -> dict[str, Any]:
    try:
        state = json.loads((out / IMPORT_FILE).read_text(encoding="utf-8"))
        return {"tables": dict(state["tables"])}
    except FileNotFoundError:
        return {"tables": {}}
    except (ValueError, KeyError, TypeError) as error:
        raise ImportFaultError(f"{out / IMPORT_FILE}: damaged ({error}): give a new folder") from None


def _write_state(out: Path, state: Mapping[str, Any]) -> None:
    unfinished = out / f".{IMPORT_FILE}.unfinished"
    unfinished.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(out / IMPORT_FILE)


def summary(report: Report, out: Path) -> str:
    """The lines that a person reads at the end."""
    lines = []
    for table, made in report.made.items():
        left = "".join(f", left out {count:,} {reason}" for reason, count in made.left_out.items())
        lines.append(f"{table:40} {made.records:>10,} records{left}")
    if report.kept:
        lines.append(f"done already: {len(report.kept)} tables")
    domains = ", ".join(sorted({name.split("/")[0] for name in report.missing}, key=DOMAINS.index))
    if report.missing:
        lines.append(f"missing, hence empty: {', '.join(report.missing)} ({domains})")
    if not report.faults:
        lines.append(f"{out} is whole: python -m mock_api --port 8000 --data {out}")
    return "\n".join(lines)
