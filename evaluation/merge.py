"""`python -m evaluation.merge DIR... --output DIR`: merges the shards of a run into one run."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.console import end_with
from agents.common.files import DatasetError
from evaluation.batches import Shard
from evaluation.report import write_report
from evaluation.results import footer, summarise, table
from evaluation.signature import identity_of
from evaluation.store import PREDICTIONS, TRACES, RunStore, SavedRun, StoreError, differing

_SHOWN_GAPS = 6


class ShardedRun(NamedTuple):
    """A shard and its folder."""

    shard: Shard
    saved: SavedRun


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge shards. Exit code: 0 done, 2 not mergeable."""
    options = _parser().parse_args(arguments)
    try:
        results = merge(options.folders, options.output, partial=options.partial, overwrite=options.overwrite)
    except StoreError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{table(results)}\n\n{footer(results, options.output)}\n")
    try:
        sys.stdout.write(f"report     {write_report(options.output)}\n")
    except DatasetError as error:
        sys.stderr.write(f"no report: {error}\n")
    return 0


def merge(folders: Sequence[Path], output: Path, *, partial: bool = False, overwrite: bool = False) -> dict[str, Any]:
    """Merge shards into one run; returns its results. Notes go to standard error.

    Raises:
        StoreError: the folders are not the shards of one run, the run is not complete (unless `partial`), or the output
            already holds a run (unless `overwrite`).
    """
    _refuse_output(output, folders, overwrite=overwrite)
    parts = _read_shards(folders)
    gaps = _find_gaps(parts)
    if not partial:
        _refuse_gaps(gaps)
    results = _write_merged(parts, output, is_whole=not gaps, overwrite=overwrite)
    differences = (f"the shards ran with different versions of {name}: {v}" for name, v in _versions(parts).items())
    for note in [*gaps, *differences]:
        sys.stderr.write(f"note: {note}\n")
    return results


def _refuse_output(output: Path, folders: Sequence[Path], *, overwrite: bool) -> None:
    if output.resolve() in {folder.resolve() for folder in folders}:
        raise StoreError(f"--output {output} is one of the shards, which would be lost; name another folder")
    predictions = output / PREDICTIONS
    if not overwrite and predictions.is_file() and predictions.stat().st_size:
        raise StoreError(f"{output} already holds answers: --overwrite deletes them, --output names another folder")


# --- do they belong together? -----------------------------------------------------------------------------------------


def _read_shards(folders: Sequence[Path]) -> list[ShardedRun]:
    """The folders as shards of one run, in order."""
    parts = sorted((_sharded(SavedRun.read(folder)) for folder in folders), key=lambda part: part.shard.number)
    first = parts[0]
    for part in parts[1:]:
        ours, theirs = _common_identity(first), _common_identity(part)
        if names := differing(ours, theirs):
            listed = "; ".join(f"{name} is {ours.get(name)} and {theirs.get(name)}" for name in names)
            raise StoreError(f"{first.saved.folder} and {part.saved.folder} belong to different runs: {listed}")
    for one, other in pairwise(parts):
        if one.shard == other.shard:
            raise StoreError(f"{one.saved.folder} and {other.saved.folder} are both shard {one.shard}")
    if len(sizes := {part.saved.run.batch_size for part in parts} - {None}) > 1:
        raise StoreError(f"the shards have batches of {' and '.join(map(str, sorted(sizes, key=str)))} questions")
    counted = {str(part.shard): part.saved.run.questions for part in parts if part.saved.run.questions is not None}
    if len(set(counted.values())) > 1:
        listed = ", ".join(f"{shard} counted {number}" for shard, number in counted.items())
        raise StoreError(f"the shards have different numbers of questions (--limit?): {listed}")
    return parts


def _sharded(saved: SavedRun) -> ShardedRun:
    text = saved.run.identity.get("shard")
    if text is None:
        raise StoreError(f"{saved.folder} is not a shard: it was written without --shard")
    try:
        return ShardedRun(Shard.parse(str(text)), saved)
    except ValueError as error:
        raise StoreError(f"{saved.folder}: {error}") from None


def _common_identity(part: ShardedRun) -> dict[str, Any]:
    return {**part.saved.run.identity, "shard": f"one of {part.shard.shards}"}


def _versions(parts: Sequence[ShardedRun]) -> dict[str, str]:
    """Packages whose versions differ between shards: allowed, but reported."""
    signatures = [part.saved.run.signature for part in parts]
    found = {
        name: list(dict.fromkeys(str(signature.get(name)) for signature in signatures))
        for name in signatures[0].keys() - identity_of(signatures[0]).keys()
    }
    return {name: " and ".join(values) for name, values in sorted(found.items()) if len(values) > 1}


# --- is everything there? ---------------------------------------------------------------------------------------------


def _find_gaps(parts: Sequence[ShardedRun]) -> list[str]:
    """What the run lacks, one line each; empty if it is complete."""
    shards = parts[0].shard.shards
    there = {part.shard.number for part in parts}
    gaps = [f"shard {number}/{shards} is missing" for number in range(1, shards + 1) if number not in there]
    total = _total(parts)
    for part in parts:
        answered = Counter(record["batch"] for record in part.saved.records.values())
        _refuse_foreign_rows(part, answered, total)
        lacks = f": missing {missing}" if total and (missing := _missing_questions(part, answered, total)) else ""
        if lacks or part.saved.run.questions is None:
            fault = "not finished" if part.saved.run.questions is None else "damaged"
            gaps.append(f"shard {part.shard} in {part.saved.folder} is {fault}{lacks}; continue it with --resume")
    return gaps


def _refuse_gaps(gaps: Sequence[str]) -> None:
    if gaps:
        raise StoreError("\n  ".join(["the run is not complete; --partial merges the existing parts", *gaps]))


def _total(parts: Sequence[ShardedRun]) -> int | None:
    """The number of questions of the undivided run, if a finished shard knows it."""
    return next((part.saved.run.questions for part in parts if part.saved.run.questions is not None), None)


def _refuse_foreign_rows(part: ShardedRun, answered: Counter[int], total: int | None) -> None:
    """Refuse batches of other shards and questions after the last."""
    size, folder = part.saved.run.batch_size, part.saved.folder
    for batch, count in sorted(answered.items()):
        if not part.shard.holds(batch):
            raise StoreError(f"{folder} holds batch {batch}, which is not one of shard {part.shard}")
        if size and total is not None and batch * size + count > total:
            raise StoreError(
                f"{folder} holds question {batch * size + count} of the file, but the run has {total} (--limit?)"
            )


def _missing_questions(part: ShardedRun, answered: Counter[int], total: int) -> str:
    """``questions 17 to 32, 49 of the file``, counted from 1; empty if none is missing."""
    size = part.saved.run.batch_size
    if size is None:
        return "all its questions"
    missing = [
        (start + answered[batch] + 1, min(start + size, total))
        for batch, start in enumerate(range(0, total, size))
        if part.shard.holds(batch) and answered[batch] < min(size, total - start)
    ]
    ranges = [str(first) if first == last else f"{first} to {last}" for first, last in missing]
    more = f" and {len(ranges) - _SHOWN_GAPS} more ranges" if len(ranges) > _SHOWN_GAPS else ""
    return f"questions {', '.join(ranges[:_SHOWN_GAPS])}{more} of the file" if ranges else ""


# --- one run ----------------------------------------------------------------------------------------------------------


def _write_merged(parts: Sequence[ShardedRun], output: Path, *, is_whole: bool, overwrite: bool) -> dict[str, Any]:
    """Write the merged run in the order of the undivided run; returns its results.

    It has the identity of the undivided run, so `local_evaluation.py --resume` can continue it. The signature of a
    partial merge names its shards.
    """
    shards = None if is_whole else "+".join(str(part.shard) for part in parts)
    signature = {**parts[0].saved.run.signature, **_versions(parts), "shard": shards}
    rows = sorted((row for part in parts for row in part.saved.rows), key=itemgetter("batch"))
    places = _trace_places(parts)
    store = RunStore(output, identity_of(signature), signature, overwrite=overwrite)
    try:
        if size := next((part.saved.run.batch_size for part in parts if part.saved.run.batch_size), None):
            store.set_batch_size(size)
        for number, sitting in enumerate(sitting for part in parts for sitting in part.saved.run.sittings):
            store.set_sitting(number, sitting)
        for batch, group in groupby(rows, key=itemgetter("batch")):
            store.append(list(group), [_row_at(*place) for place in places.get(batch, ())])
        if is_whole and (total := _total(parts)) is not None:
            store.set_questions(total)
        results = summarise(list(store.records.values()), store.sittings, signature)
        store.write_results(results)
    finally:
        store.close()
    return results


def _trace_places(parts: Sequence[ShardedRun]) -> dict[int, list[tuple[Path, int]]]:
    """File and offset of each batch's traces: those of a large run do not fit into memory."""
    places: dict[int, list[tuple[Path, int]]] = {}
    for part in parts:
        for row in part.saved.trace_rows():
            places.setdefault(row.data["batch"], []).append((part.saved.folder / TRACES, row.start))
    return places


def _row_at(file: Path, start: int) -> dict[str, Any]:
    with file.open("rb") as stream:
        stream.seek(start)
        row: dict[str, Any] = json.loads(stream.readline())
        return row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.merge",
        description="Merge the shards of a run (local_evaluation.py --shard I/N) into one run: predictions, "
        "traces and results of the undivided run.",
        epilog="Exit code: 0 done; 2 the folders are not all the shards of one run.",
    )
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help="the folders of the shards")
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="the folder of the merged run")
    parser.add_argument("--partial", action="store_true", help="merge even if shards or questions are missing")
    parser.add_argument("--overwrite", action="store_true", help="delete the run in the output folder")
    return parser


if __name__ == "__main__":
    end_with(main)
