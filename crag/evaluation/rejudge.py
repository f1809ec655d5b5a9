"""Judges a stored run again. Only verdicts and reasons change; the earlier ones are kept in a folder below the run."""

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from crag.core.files import DatasetError, write_json, write_rows
from crag.evaluation.batches import gold_answers
from crag.evaluation.gates import judge_withheld
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.results import summarise
from crag.evaluation.signature import trim_name
from crag.evaluation.store import PREDICTIONS, RESULTS, RUN, SavedRun, delete_run

Row = dict[str, Any]

_KEPT_FILES = (PREDICTIONS, RESULTS, RUN)
"""What the folder of earlier verdicts holds, so that `crag compare` reads it as a run; traces do not change."""


class VerdictChange(NamedTuple):
    """The rows of predictions.jsonl of one question, before and after."""

    before: Row
    after: Row


@dataclass(frozen=True)
class RejudgedRun:
    """A stored run and its rows with new verdicts; nothing is written yet."""

    saved: SavedRun
    signature: dict[str, Any]
    rows: Sequence[Row]

    @property
    def judges(self) -> tuple[str, str]:
        """The judge of the stored run and the new one, as in signatures."""
        return judge_of(self.saved), str(self.signature["judge"])

    @property
    def pairs(self) -> list[VerdictChange]:
        """All questions, in the order asked."""
        return [VerdictChange(*rows) for rows in zip(self.saved.records.values(), self.rows, strict=True)]

    @property
    def changes(self) -> list[VerdictChange]:
        """The questions whose answers got another verdict."""
        return [pair for pair in self.pairs if pair.before["verdict"] != pair.after["verdict"]]

    @property
    def is_new(self) -> bool:
        """Whether anything differs from what is stored, even a reason."""
        return self.signature != self.saved.run.signature or any(pair.before != pair.after for pair in self.pairs)

    def save(self, *, overwrite: bool = False) -> Path:
        """Keep the earlier verdicts, then write the new ones and their results; returns the folder of the earlier ones.

        The caller holds the folder's lock and writes the report. Raises DatasetError: see `check_kept_folder`.
        """
        check_kept_folder(self.saved, overwrite=overwrite)
        results = self._results()
        folder = self.saved.folder
        kept = _keep_files(self.saved)

        write_rows(folder / PREDICTIONS, self.rows)
        judged = {name: self.signature[name] for name in ("judge", "trim")}
        identity = {**self.saved.run.identity, **judged}
        run = self.saved.run.model_copy(update={"signature": self.signature, "identity": identity})
        write_json(folder / RUN, run.model_dump(), indent=2)
        write_json(folder / RESULTS, results, indent=2)
        return kept

    def _results(self) -> dict[str, Any]:
        try:
            return summarise(self.rows, self.saved.run.measured, self.signature)
        except KeyError as error:
            raise DatasetError(
                f"{self.saved.folder / PREDICTIONS}: its rows have no field {error}; an older version wrote the run"
            ) from None


def judge_of(saved: SavedRun) -> str:
    """The judge in the run's signature, as ``rules@6``."""
    return str(saved.run.signature.get("judge") or "unknown")


def read_run_to_judge(folder: Path) -> SavedRun:
    """Read a finished run; raises DatasetError: it is unfinished, or a file cannot be read."""
    saved = SavedRun.read(folder)
    if saved.run.questions is None and not (folder / RESULTS).is_file():
        raise DatasetError(f"{folder}: the run is not finished; `crag evaluate --resume` continues it")
    return saved


def check_kept_folder(saved: SavedRun, *, overwrite: bool) -> None:
    """Raise DatasetError if verdicts of the run's judge are kept already and may not be replaced."""
    kept = _kept_folder(saved)
    if kept.exists() and not overwrite:
        raise DatasetError(f"{kept} already keeps verdicts of this judge: --overwrite replaces them")


def judge_again(saved: SavedRun, judge: Judge, trim: Callable[[str], str]) -> RejudgedRun:
    """Judge the answers of a run, and those that its gates withheld. Answers of failed batches stay missing."""
    before = list(saved.records.values())
    rows: list[Row] = [dict(row) for row in before]

    # A row of a batch that failed or ran out of time has no answer to judge.
    answered = [row for row in rows if not (row.get("error") or row.get("timed_out"))]
    claims = [Claim(row["query"], gold_answers(row), row["prediction"]) for row in answered]
    for row, judgement in zip(answered, judge_claims(judge, claims, trim), strict=True):
        row["verdict"] = judgement.verdict.value
        row["reason"] = judgement.reason

    withholding = [row for row in rows if row.get("gates")]
    for row in withholding:
        row["gates"] = [dict(firing) for firing in row["gates"]]
    judge_withheld(judge, trim, withholding, [row["gates"] for row in withholding])

    signature = {**saved.run.signature, "judge": f"{judge.name}@{judge.version}", "trim": trim_name()}
    return RejudgedRun(saved, signature, rows)


def withheld_changes(run: RejudgedRun) -> int:
    """How many answers that a gate withheld got another verdict."""
    count = 0
    for before, after in run.pairs:
        for old, new in zip(before.get("gates", ()), after.get("gates", ()), strict=True):
            count += old["withheld_verdict"] != new["withheld_verdict"]
    return count


def verdicts_of(rows: Sequence[Row]) -> list[Verdict]:
    """The verdicts of rows of predictions.jsonl."""
    return [Verdict(row["verdict"]) for row in rows]


# --- the earlier verdicts ---------------------------------------------------------------------------------------------


def _kept_folder(saved: SavedRun) -> Path:
    """``RUN/judged-by-rules@6``."""
    judge = re.sub(r"[^\w.=@,-]+", "-", judge_of(saved))
    return saved.folder / f"judged-by-{judge}"


def _keep_files(saved: SavedRun) -> Path:
    """Copy the run's files with verdicts into the folder of its judge, which appears only when it is complete."""
    kept = _kept_folder(saved)
    unfinished = kept.with_name(f".unfinished-{kept.name}")
    for folder in (unfinished, kept):
        delete_run(folder)
        with suppress(FileNotFoundError):
            folder.rmdir()

    unfinished.mkdir()
    for name in _KEPT_FILES:
        if (saved.folder / name).is_file():
            shutil.copyfile(saved.folder / name, unfinished / name)
    return unfinished.rename(kept)
