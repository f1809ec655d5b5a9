"""`python -m evaluation.merge DIR... --output DIR`: the shards of a run as one run, as if it had never been divided."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from evaluation.batches import Shard
from evaluation.report import write_report
from evaluation.results import footer, summarise, table
from evaluation.saved_run import SavedRun, parsed_trace
from evaluation.signature import identity_of
from evaluation.store import PREDICTIONS, TRACES, RunStore, StoreError, differing

_SHOWN_GAPS = 6


class MergeError(ValueError):
    """These folders are not the shards of one run, or not all of it; the message names what differs or lacks."""


@dataclass(frozen=True, slots=True)
class ShardedRun:
    """A shard and the folder that holds its part."""

    shard: Shard
    saved: SavedRun


def main(arguments: Sequence[str] | None = None) -> int:
    """Merge. Exit code: 0 done, 2 the folders cannot be merged."""
    options = _parser().parse_args(arguments)
    try:
        _refuse_output(options.output, options.folders, overwrite=options.overwrite)
        parts = read_shards(options.folders)
        gaps = find_gaps(parts)
        if not options.partial:
            _refuse_gaps(gaps)
        results = write_merged(parts, options.output, whole=not gaps, overwrite=options.overwrite)
    except (MergeError, StoreError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    for warning in [*gaps, *version_differences(parts)]:
        sys.stderr.write(f"note: {warning}\n")
    sys.stdout.write(f"{table(results)}\n\n{footer(results, options.output)}\n")
    _report(options.output)
    return 0


def _refuse_output(output: Path, folders: Sequence[Path], *, overwrite: bool) -> None:
    if output.resolve() in {folder.resolve() for folder in folders}:
        raise MergeError(f"--output {output} is one of the shards, which would be lost; name another folder")
    predictions = output / PREDICTIONS
    if not overwrite and predictions.is_file() and predictions.stat().st_size:
        raise MergeError(f"{output} already holds answers: --overwrite throws them away, --output names another folder")


def _report(folder: Path) -> None:
    try:
        sys.stdout.write(f"report     {write_report(folder)}\n")
    except StoreError as error:
        sys.stderr.write(f"no report: {error}\n")


# --- do they belong together? -----------------------------------------------------------------------------------------


def read_shards(folders: Sequence[Path]) -> list[ShardedRun]:
    """The folders as shards of one run, in the order of their numbers.

    Raises:
        StoreError: one cannot be read.
        MergeError: one is no shard, is there twice, or belongs to another run.
    """
    parts = sorted((_sharded(SavedRun.read(folder)) for folder in folders), key=lambda part: part.shard.number)
    first = parts[0]
    for part in parts[1:]:
        ours, theirs = _common_identity(first), _common_identity(part)
        if names := differing(ours, theirs):
            told = "; ".join(f"{name} is {ours.get(name)} and {theirs.get(name)}" for name in names)
            raise MergeError(f"{first.saved.folder} and {part.saved.folder} are of different runs: {told}")
    if len(sizes := {part.saved.batch_size for part in parts} - {None}) > 1:
        raise MergeError(f"the shards have batches of {' and '.join(map(str, sorted(sizes, key=str)))} questions")
    for one, other in pairwise(parts):
        if one.shard == other.shard:
            raise MergeError(f"{one.saved.folder} and {other.saved.folder} are both shard {one.shard}")
    return parts


def _sharded(saved: SavedRun) -> ShardedRun:
    text = saved.identity.get("shard")
    if text is None:
        raise MergeError(f"{saved.folder} is no shard: it was written without --shard")
    try:
        return ShardedRun(Shard.parse(str(text)), saved)
    except ValueError as error:
        raise MergeError(f"{saved.folder}: {error}") from None


def _common_identity(part: ShardedRun) -> dict[str, Any]:
    return {**part.saved.identity, "shard": f"one of {part.shard.shards}"}


def version_differences(parts: Sequence[ShardedRun]) -> list[str]:
    """Packages of which the shards had different versions: allowed, but worth knowing."""
    versions = _merged_versions(parts)
    return [f"the shards ran with different versions of {name}: {found}" for name, found in versions.items()]


def _merged_versions(parts: Sequence[ShardedRun]) -> dict[str, str]:
    signatures = [part.saved.signature for part in parts]
    found = {
        name: list(dict.fromkeys(str(signature.get(name)) for signature in signatures))
        for name in signatures[0].keys() - identity_of(signatures[0]).keys()
    }
    return {name: " and ".join(values) for name, values in sorted(found.items()) if len(values) > 1}


# --- is everything there? ---------------------------------------------------------------------------------------------


def find_gaps(parts: Sequence[ShardedRun]) -> list[str]:
    """What lacks of the run, one line each; empty where all of it is there.

    Raises:
        MergeError: finished shards counted different numbers of questions, or one holds what it cannot have.
    """
    shards = parts[0].shard.shards
    there = {part.shard.number for part in parts}
    total = _total(parts)
    for part in parts:
        _refuse_foreign_rows(part, total)
    gaps = [f"shard {number}/{shards} is missing" for number in range(1, shards + 1) if number not in there]
    for part in parts:
        lacks = f": it lacks {missing}" if total and (missing := _missing_questions(part, total)) else ""
        if part.saved.questions is None:
            gaps.append(f"shard {part.shard} in {part.saved.folder} is not finished{lacks}; go on with --resume there")
        elif lacks:
            gaps.append(f"shard {part.shard} in {part.saved.folder} is damaged{lacks}; go on with --resume there")
    return gaps


def _refuse_gaps(gaps: Sequence[str]) -> None:
    if gaps:
        raise MergeError("\n  ".join(["the run is not complete; --partial merges what there is", *gaps]))


def _total(parts: Sequence[ShardedRun]) -> int | None:
    counted = {str(part.shard): part.saved.questions for part in parts if part.saved.questions is not None}
    if len(set(counted.values())) > 1:
        told = ", ".join(f"{shard} counted {number}" for shard, number in counted.items())
        raise MergeError(f"the shards are of different numbers of questions (--limit?): {told}")
    return next(iter(counted.values()), None)


def _refuse_foreign_rows(part: ShardedRun, total: int | None) -> None:
    """A shard can have neither another one's batches nor questions after the last."""
    size, folder = part.saved.batch_size, part.saved.folder
    for batch, answered in sorted(_answered(part).items()):
        if not part.shard.holds(batch):
            raise MergeError(f"{folder} holds batch {batch}, which is not one of shard {part.shard}")
        if size and total is not None and batch * size + answered > total:
            raise MergeError(
                f"{folder} holds question {batch * size + answered} of the file, but the run has {total} (--limit?)"
            )


def _answered(part: ShardedRun) -> Counter[int]:
    """How many questions of each batch have an answer."""
    return Counter(record["batch"] for record in part.saved.records.values())


def _missing_questions(part: ShardedRun, total: int) -> str:
    """``questions 17 to 32, 49 of the file``, counted from 1; empty where none lacks."""
    size = part.saved.batch_size
    if size is None:
        return "all its questions"
    answered = _answered(part)
    missing = [
        (start + answered[batch] + 1, min(start + size, total))
        for batch, start in enumerate(range(0, total, size))
        if part.shard.holds(batch) and answered[batch] < min(size, total - start)
    ]
    told = [str(first) if first == last else f"{first} to {last}" for first, last in missing]
    more = f" and {len(told) - _SHOWN_GAPS} more stretches" if len(told) > _SHOWN_GAPS else ""
    return f"questions {', '.join(told[:_SHOWN_GAPS])}{more} of the file" if told else ""


# --- one run ----------------------------------------------------------------------------------------------------------


def write_merged(parts: Sequence[ShardedRun], output: Path, *, whole: bool, overwrite: bool = False) -> dict[str, Any]:
    """Write the merged run into a folder, in the order of the undivided run; its results.

    Its identity is that of the undivided run, so that `local_evaluation.py --resume` could go on with it. A merge of
    less than everything keeps in its signature which shards it is of.

    Raises:
        StoreError: the folder cannot take it, or the traces of a shard cannot be read; then nothing is written.
    """
    shards = None if whole else "+".join(str(part.shard) for part in parts)
    signature = {**parts[0].saved.signature, **_merged_versions(parts), "shard": shards}
    rows = sorted((row for part in parts for row in part.saved.rows), key=itemgetter("batch"))
    traces = _Traces(parts)
    store = RunStore(output, identity_of(signature), signature, overwrite=overwrite)
    try:
        if size := next((part.saved.batch_size for part in parts if part.saved.batch_size), None):
            store.set_batch_size(size)
        for number, sitting in enumerate(sitting for part in parts for sitting in part.saved.run["sittings"]):
            store.set_sitting(number, sitting)
        for batch, group in groupby(rows, key=itemgetter("batch")):
            store.append([dict(row) for row in group], traces.of_batch(batch))
        if whole and (total := _total(parts)) is not None:
            store.set_questions(total)
        results = summarise(list(store.records.values()), store.sittings, signature)
        store.write_results(results)
    finally:
        store.close()
    return results


class _Traces:
    """The traces of all shards by batch. Only their places are kept: a large run's traces do not fit into memory."""

    def __init__(self, parts: Sequence[ShardedRun]) -> None:
        self._places: dict[int, list[tuple[Path, int]]] = {}
        for part in parts:
            for offset, row in part.saved.placed_traces():
                self._places.setdefault(row["batch"], []).append((part.saved.folder / TRACES, offset))

    def of_batch(self, batch: int) -> list[dict[str, Any]]:
        """The traces of a batch in their order, those of all attempts."""
        rows = (_row_at(file, offset) for file, offset in self._places.get(batch, ()))
        return [dict(row) for row in rows if row is not None]


def _row_at(file: Path, offset: int) -> Mapping[str, Any] | None:
    with file.open("rb") as stream:
        stream.seek(offset)
        return parsed_trace(stream.readline())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.merge",
        description="Put the shards of a run (local_evaluation.py --shard I/N) together as one run: predictions, "
        "traces and results as if it had never been divided.",
        epilog="Exit code: 0 done; 2 the folders are not all the shards of one run.",
    )
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help="the folders of the shards")
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="the folder of the merged run")
    parser.add_argument("--partial", action="store_true", help="merge although shards or questions are missing")
    parser.add_argument("--overwrite", action="store_true", help="throw away the run that the output folder holds")
    return parser


if __name__ == "__main__":
    sys.exit(main())
