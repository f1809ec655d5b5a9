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
from crag.evaluation.gates import Firing, judge_withheld
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
    def new_judge(self) -> str:
        """The judge of the new verdicts, as in signatures."""
        return str(self.signature["judge"])

    @property
    def pairs(self) -> list[VerdictChange]:
        """All questions, in the order asked."""
        earlier_rows = self.saved.records.values()
        return [VerdictChange(before, after) for before, after in zip(earlier_rows, self.rows, strict=True)]

    @property
    def changes(self) -> list[VerdictChange]:
        """The questions whose answers got another verdict."""
        return [pair for pair in self.pairs if pair.before["verdict"] != pair.after["verdict"]]

    @property
    def differs(self) -> bool:
        """Whether anything is not as it is stored, even a reason."""
        if self.signature != self.saved.run.signature:
            return True
        return any(pair.before != pair.after for pair in self.pairs)

    def save(self, *, overwrite: bool = False) -> Path:
        """Keep the earlier verdicts, then write the new ones and their results; returns the folder of the earlier ones.

        The caller holds the folder's lock and writes the report. Raises DatasetError: see `check_kept_folder`.
        """
        check_kept_folder(self.saved, overwrite=overwrite)
        # Computed before anything is written: an old row may lack a field
        results = self._results()
        folder = self.saved.folder
        # The old verdicts are safe before the first file changes
        kept_folder = _keep_files(self.saved)

        write_rows(folder / PREDICTIONS, self.rows)
        judged = {name: self.signature[name] for name in ("judge", "trim")}
        # A resumed run must be judged as the new rows are
        identity = {**self.saved.run.identity, **judged}
        run = self.saved.run.model_copy(update={"signature": self.signature, "identity": identity})
        write_json(folder / RUN, run.model_dump(), indent=2)
        write_json(folder / RESULTS, results, indent=2)
        return kept_folder

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
    kept_folder = _kept_folder(saved)
    if kept_folder.exists() and not overwrite:
        raise DatasetError(f"{kept_folder} already keeps verdicts of this judge: --overwrite replaces them")


def judge_again(saved: SavedRun, judge: Judge, trim: Callable[[str], str]) -> RejudgedRun:
    """Judge the answers of a run, and those that its gates withheld. Answers of failed batches stay missing."""
    rows: list[Row] = [dict(row) for row in saved.records.values()]

    answered: list[Row] = []
    claims: list[Claim] = []
    for row in rows:
        # A batch that failed or ran out of time has no answers to judge.
        if row.get("error") or row.get("timed_out"):
            continue
        answered.append(row)
        claims.append(Claim(row["query"], gold_answers(row), row["prediction"]))

    judgements = judge_claims(judge, claims, trim)
    for row, judgement in zip(answered, judgements, strict=True):
        row["verdict"] = judgement.verdict.value
        row["reason"] = judgement.reason

    _judge_gates_again(judge, trim, rows)
    signature = {
        **saved.run.signature,
        "judge": f"{judge.name}@{judge.version}",
        "trim": trim_name(),
    }
    return RejudgedRun(saved, signature, rows)


def _judge_gates_again(judge: Judge, trim: Callable[[str], str], rows: Sequence[Row]) -> None:
    """Judge the answers that gates withheld. The rows are copies; their firings are copied here before they change."""
    gated_rows: list[Row] = []
    firings: list[list[Firing]] = []
    for row in rows:
        if row.get("gates"):
            # A copy of a row still shares its list of firings
            row["gates"] = [dict(firing) for firing in row["gates"]]
            gated_rows.append(row)
            firings.append(row["gates"])
    judge_withheld(judge, trim, gated_rows, firings)


def withheld_changes(run: RejudgedRun) -> int:
    """How many answers that a gate withheld got another verdict."""
    count = 0
    for before, after in run.pairs:
        firings = zip(before.get("gates", ()), after.get("gates", ()), strict=True)
        for earlier, current in firings:
            count += earlier["withheld_verdict"] != current["withheld_verdict"]
    return count


def verdicts_of(rows: Sequence[Row]) -> list[Verdict]:
    """The verdicts of rows of predictions.jsonl."""
    return [Verdict(row["verdict"]) for row in rows]


# --- the earlier verdicts ---------------------------------------------------------------------------------------------


def _kept_folder(saved: SavedRun) -> Path:
    """``RUN/judged-by-rules@6``."""
    # A language model's name can have slashes and colons
    judge = re.sub(r"[^\w.=@,-]+", "-", judge_of(saved))
    return saved.folder / f"judged-by-{judge}"


def _keep_files(saved: SavedRun) -> Path:
    """Copy the run's files with verdicts into the folder of its judge, which appears only when it is complete."""
    kept_folder = _kept_folder(saved)
    unfinished = kept_folder.with_name(f".unfinished-{kept_folder.name}")

    # An earlier attempt may have been interrupted; the caller has checked that `kept_folder` may be replaced.
    for folder in (unfinished, kept_folder):
        delete_run(folder)
        with suppress(FileNotFoundError):
            folder.rmdir()

    unfinished.mkdir()
    for name in _KEPT_FILES:
        source = saved.folder / name
        if source.is_file():
            shutil.copyfile(source, unfinished / name)

    # In one step: a folder of that name is always complete
    return unfinished.rename(kept_folder)
