"""Judges stored runs again for `crag judge`, and tells which verdicts moved."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten

from crag.answering import trim_to_tokens
from crag.commands.command_line import say
from crag.core.files import DatasetError, lock_folder
from crag.evaluation.batches import gold_answers
from crag.evaluation.judge import cost_line, judge_from
from crag.evaluation.metrics import compute_metrics
from crag.evaluation.rejudge import (
    RejudgedRun,
    VerdictChange,
    check_kept_folder,
    judge_again,
    judge_of,
    read_run_to_judge,
    verdicts_of,
    withheld_changes,
)
from crag.evaluation.report.run_page import write_report
from crag.evaluation.results_text import metrics_headline

WIDTH = 110
"""Characters of a question, an answer or a reason that are printed."""


def judge_runs(options: argparse.Namespace) -> None:
    """Judge the runs of the command line, store the new verdicts and print what moved.

    Raises DatasetError: a run is unusable, or its earlier verdicts may not be replaced.
    """
    folders = list(dict.fromkeys(options.runs))
    judge = judge_from(options, check=False)
    new_judge = f"{judge.name}@{judge.version}"

    # All are checked before a model costs money.
    for folder in folders:
        saved = read_run_to_judge(folder)
        if judge_of(saved) != new_judge:
            check_kept_folder(saved, overwrite=options.overwrite)

    # One run after another, each stored when it is done: an interruption loses only the current one
    for number, folder in enumerate(folders):
        if number:
            print()
        # Read again under the lock: another process may have judged it meanwhile
        with lock_folder(folder):
            run = judge_again(read_run_to_judge(folder), judge, trim_to_tokens)
            print("\n".join(_moved(run)))
            if run.differs:
                print(f"earlier verdicts  {run.save(overwrite=options.overwrite)}")
                _write_report(folder)

    cost = cost_line(judge)
    if cost:
        print(f"\n{cost}")


def _write_report(folder: Path) -> None:
    try:
        print(f"report            {write_report(folder)}")
    except DatasetError as error:  # the verdicts are stored, and other runs may follow
        say(f"no report: {error}")


def _moved(run: RejudgedRun) -> Iterator[str]:
    """What the new verdicts change, question by question."""
    yield str(run.saved.folder)
    yield f"judge: {judge_of(run.saved)} -> {run.new_judge}"
    if not run.differs:
        yield "nothing changes: these verdicts and reasons are stored already"
        return

    before_verdicts = verdicts_of([pair.before for pair in run.pairs])
    after_verdicts = verdicts_of(run.rows)
    yield metrics_headline("before", compute_metrics(before_verdicts))
    yield metrics_headline("after", compute_metrics(after_verdicts))

    # The number of changes may be large while the score stays: they cancel out
    yield f"{_count(len(run.changes), 'verdict')} of {len(run.rows)} changed{_kinds(run.changes)}"
    withheld = withheld_changes(run)
    if withheld:
        yield f"{_count(withheld, 'verdict')} of withheld answers changed"

    for pair in run.changes:
        yield ""
        yield from _changed_question(pair)
    if run.changes:
        yield ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _kinds(changes: Sequence[VerdictChange]) -> str:
    counts = Counter(f"{pair.before['verdict']} -> {pair.after['verdict']}" for pair in changes)
    listed = ", ".join(f"{change} {count}" for change, count in sorted(counts.items()))
    return f": {listed}" if listed else ""


def _changed_question(pair: VerdictChange) -> Iterator[str]:
    row = pair.after
    expected = " | ".join(map(str, gold_answers(row))) or "(none)"
    yield f"  {shorten(row['query'], WIDTH)}"
    yield f"      expected  {shorten(expected, WIDTH)}"
    yield f"      answer    {shorten(row['prediction'], WIDTH) or '(empty)'}"
    for title, judged in (("before", pair.before), ("after", pair.after)):
        reason = str(judged.get("reason") or "no reason")
        yield f"      {title:8}  {judged['verdict']} ({shorten(reason, WIDTH)})"
