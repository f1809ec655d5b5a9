"""The figures of stored runs, one row a run, whatever state it is in."""

from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

from crag.core.files import DatasetError
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import compute_metrics
from crag.evaluation.rejudge import verdicts_of
from crag.evaluation.report.finished_run import FinishedRun, read_finished_run
from crag.evaluation.results import summarise
from crag.evaluation.retrieval_quality import MEANS
from crag.evaluation.signature import MODEL, signature_line
from crag.evaluation.store import RUN, SavedRun

FINISHED = "finished"
UNFINISHED = "unfinished"
BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run. Figures are None where a run has none: an unfinished one has those of its answers so far.

    `state` is finished, unfinished or broken, with `fault` for the last. `n` are the scored questions, `low` and `high`
    the ends of the score's 95 % interval, `seconds` those per question, `tokens` all that the model read and wrote. The
    means about retrieval are those of `crag.evaluation.retrieval_quality`.
    """

    run: str
    state: str
    date: str = ""
    preset: str = ""
    model: str = ""
    data: str = ""
    judge: str = ""
    n: int | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    right: int | None = None
    wrong: int | None = None
    missing: int | None = None
    lost: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    answer_in_context: float | None = None
    mean_reciprocal_rank: float | None = None
    passages_with_answer: float | None = None
    evidence_supports_answer: float | None = None
    signature: str = ""
    fault: str = ""


COLUMNS = tuple(field.name for field in fields(RunRow))


def read_run_table(folder: Path) -> list[RunRow]:
    """The runs below a folder, the newest first; a broken one has no date and comes last.

    Raises DatasetError: there is none.
    """
    rows = [read_run_row(file.parent) for file in sorted(folder.rglob(RUN))]
    if not rows:
        raise DatasetError(f"{folder}: there is no run" if folder.is_dir() else f"{folder}: there is no such folder")
    # ISO dates sort as text
    return sorted(rows, key=lambda row: row.date, reverse=True)


def read_run_row(folder: Path) -> RunRow:
    """The figures of the run in a folder."""
    try:
        saved = SavedRun.read(folder)
    except DatasetError as error:
        return RunRow(str(folder), BROKEN, fault=str(error))

    state = UNFINISHED
    fault = ""
    try:
        run = read_finished_run(folder)
        state = FINISHED
    except DatasetError as error:
        fault = str(error)
        run = _unfinished(saved)
    return _fill_row(run, state, fault)


def _unfinished(saved: SavedRun) -> FinishedRun:
    """The run with the results of its answers so far."""
    rows = list(saved.records.values())
    try:
        results = summarise(rows, saved.run.measured, saved.run.signature)
    except KeyError:  # of an older version, which lacks a field
        metrics = compute_metrics(verdicts_of(rows))
        results = {"n": metrics.n, "score": metrics.score, "ci": metrics.ci, "signature": saved.run.signature}
    return FinishedRun(saved, results)


def _fill_row(run: FinishedRun, state: str, fault: str) -> RunRow:
    results = run.results
    signature = run.saved.run.signature
    verdicts = Counter(verdicts_of(run.records))
    has_scored = bool(results["n"])
    low, high = results["ci"] if has_scored else (None, None)

    # Older runs lack some of these
    retrieval = results.get("retrieval") or {}
    seconds = results.get("seconds") or {}
    tokens = sum((results.get("tokens") or {}).values())

    return RunRow(
        run=str(run.saved.folder),
        state=state,
        date=str(run.saved.run.measured.get("date", "")),
        preset=run.name,
        model=str(signature.get(MODEL) or ""),
        data=str(signature.get("data") or "").partition("@")[0],
        judge=str(signature.get("judge") or ""),
        n=results["n"],
        score=_rounded(results["score"]) if has_scored else None,
        low=_rounded(low),
        high=_rounded(high),
        right=verdicts[Verdict.CORRECT],
        wrong=verdicts[Verdict.INCORRECT],
        missing=verdicts[Verdict.MISSING],
        lost=sum(run.lost.values()),
        seconds=_rounded(seconds.get("per_question")),
        tokens=tokens or None,
        **{name: _rounded(retrieval.get(name)) for name in MEANS},
        signature=signature_line(signature),
        fault=fault,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
