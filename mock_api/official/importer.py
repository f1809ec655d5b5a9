"""Imports the official graph: each of its files becomes one of our tables, completely or not at all.

Tables are made one after the other and moved into place when complete; `import.json` beside them records their sources.
The same command again makes the missing tables, so that a kill costs only the current one. Large files are streamed:
one article, share or game at a time; pickled dictionaries are loaded as a whole, as by the official server.
"""

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mock_api.official.convert import MADE_BESIDE, MAKERS, STORED, Work
from mock_api.tables import DOMAINS, IMPORT_FILE, OFFICIAL_FILES, GraphError, looks_official, store_path

LOCK_FILE = ".import.lock"
_POINTER = b"version https://git-lfs"
"""First bytes of a Git LFS pointer, which stands for a file that was not fetched."""
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, MemoryError)
"""Errors from writing a value that no table holds: bytes, a number with millions of digits, far too much data."""


@dataclass
class ImportReport:
    """The result of an import: tables made now, tables kept, and a line for each failure."""

    missing: list[str]
    made: dict[str, Work] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def summary(self, out: Path) -> str:
        """The report as text."""
        lines = []
        for table, work in self.made.items():
            left = "".join(f", left out {count:,} {reason}" for reason, count in (+work.left_out).items())
            lines.append(f"{table:40} {work.records:>10,} records{left}")
        if self.kept:
            lines.append(f"done already: {len(self.kept)} tables")
        if self.missing:
            domains = ", ".join(sorted({name.split("/")[0] for name in self.missing}, key=DOMAINS.index))
            lines.append(f"missing, so empty: {', '.join(self.missing)} ({domains})")
        if not self.faults:
            lines.append(f"{out} is complete: python -m mock_api --port 8000 --data {out}")
        return "\n".join(lines)


def import_graph(source: Path, out: Path, *, partial: bool = False) -> ImportReport:
    """Make our tables from the folder `cragkg`; raises GraphError if the import cannot start.

    `out` is a new folder, or that of an earlier import: its tables are kept, unless the official file has changed.
    `partial`: import a graph that lacks files.
    """
    missing = _missing(source, partial=partial)
    _check_out(source, out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / LOCK_FILE, timeout=0):
            return _import(source, out, missing)
    except Timeout:
        raise GraphError(f"{out}: another process imports into it: wait for it, or pass another --out") from None


def _missing(source: Path, *, partial: bool) -> list[str]:
    if not source.is_dir():
        raise GraphError(f"{source}: no such folder")
    if not looks_official(source):
        near = next(filter(looks_official, (source / "cragkg", source / "mock_api/cragkg", source.parent)), None)
        hint = f"pass {near}" if near else "pass the folder cragkg of the CRAG repository (mock_api/cragkg)"
        raise GraphError(f"{source}: holds none of the official files, such as music/grammy_df.pickle: {hint}")
    missing = [name for name in OFFICIAL_FILES if not (source / name).is_file()]
    pointers = [name for name in OFFICIAL_FILES if name not in missing and _is_pointer(source / name)]
    if pointers:
        raise GraphError(
            f"{source / pointers[0]}: git has fetched only its Git LFS pointer "
            f"({len(pointers)} of {len(OFFICIAL_FILES)} files): run `git lfs pull` in that repository"
        )
    if missing and not partial:
        raise GraphError(
            f"{source}: {len(missing)} of {len(OFFICIAL_FILES)} official files are missing: {', '.join(missing)}: "
            "fetch them, or pass --partial to import the others"
        )
    return missing


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_POINTER)) == _POINTER


def _check_out(source: Path, out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise GraphError(f"--out {out}: is a file: pass a folder")
    if out.exists() and out.resolve() == source.resolve():
        raise GraphError(f"--out {out}: is the folder of the official files: pass another")
    used = sorted(path.name for path in out.iterdir() if path.name != LOCK_FILE) if out.is_dir() else []
    if used and IMPORT_FILE not in used:
        raise GraphError(f"--out {out}: holds {used[0]}, which no import made: pass a new folder")


def _import(source: Path, out: Path, missing: list[str]) -> ImportReport:
    state = _read_state(out)
    report = ImportReport(missing)
    for table in MAKERS:
        sources = [name for name, made in OFFICIAL_FILES.items() if made == table]
        lacking = [name for name in sources if name in missing]
        if lacking:
            if len(lacking) < len(sources):
                names = ", ".join(lacking)
                report.faults.append(f"{source}: {names} is missing; its other half is not imported alone")
            continue
        facts = {name: (source / name).stat() for name in sources}
        stamp = {name: [fact.st_size, fact.st_mtime_ns] for name, fact in facts.items()}
        tables = (table, *MADE_BESIDE.get(table, ()))
        targets = [store_path(out, name) if name in STORED else out / name for name in tables]
        if state["tables"].get(table) == stamp and all(target.is_file() for target in targets):
            report.kept += tables
            continue
        _write_state(out, state)
        try:
            report.made[table] = _make(table, [source / name for name in sources], targets)
            state["tables"][table] = stamp
        except GraphError as error:
            report.faults.append(str(error))
    _write_state(out, state | {"finished": not report.faults, "missing": missing})
    return report


def _make(table: str, sources: list[Path], targets: list[Path]) -> Work:
    unfinished = [path.with_name(f".{path.name}.unfinished") for path in targets]
    targets[0].parent.mkdir(parents=True, exist_ok=True)
    work = Work(sources, table, unfinished)
    try:
        MAKERS[table](work)
        for path, target in zip(unfinished, targets, strict=True):
            path.replace(target)
    except GraphError:
        raise
    except _NO_JSON as error:
        reason = str(error) or type(error).__name__
        raise GraphError(f"{sources[0]}: a value that no table can hold ({reason}): fetch it again") from None
    except (OSError, EOFError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise GraphError(f"{sources[0]}: cannot be read, or its table cannot be written: {reason}") from None
    finally:
        for path in unfinished:
            path.unlink(missing_ok=True)
    return work


def _read_state(out: Path) -> dict[str, Any]:
    try:
        state = json.loads((out / IMPORT_FILE).read_text(encoding="utf-8"))
        return {"tables": dict(state["tables"]), "finished": False}
    except FileNotFoundError:
        return {"tables": {}, "finished": False}
    except (ValueError, KeyError, TypeError) as error:
        raise GraphError(f"{out / IMPORT_FILE}: damaged ({error}): pass a new folder") from None


def _write_state(out: Path, state: dict[str, Any]) -> None:
    unfinished = out / f".{IMPORT_FILE}.unfinished"
    unfinished.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(out / IMPORT_FILE)
