"""Judges the predictions of a file for `crag judge`, and compares them with verdicts that the file has."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.answering import trim_to_tokens
from crag.commands.argument_types import STANDARD_OUTPUT
from crag.commands.command_line import say
from crag.commands.judge_agreement import JudgedPair, agreement_report
from crag.commands.judged_files import (
    COLUMNS_HINT,
    JudgedFile,
    check_format,
    columns_of,
    describe_names,
    read_judged,
    write_judged,
)
from crag.commands.judged_rows import Correction, claim_of, read_corrections, read_reference
from crag.core.files import DatasetError, Record, check_target, json_line
from crag.evaluation.judge import (
    Claim,
    Judge,
    Judgement,
    Verdict,
    cost_line,
    hedged_line,
    is_hedged,
    judge_claims,
    judge_from,
    no_verdict_line,
)
from crag.evaluation.metrics import compute_metrics, single_value_fields
from crag.evaluation.rejudge import verdicts_of
from crag.evaluation.results_text import metrics_headline

DEFAULT_GROUPS = "question_type"


def judge_file(options: argparse.Namespace) -> None:
    """Judge the file of the command line, write its rows with their verdicts, and print what came out.

    Raises DatasetError: the file, its corrections or an option cannot be used.
    """
    # Everything is read and checked before a model costs money
    judged_file = _read_file(options)
    records = judged_file.records
    claims = _read_claims(judged_file)
    corrections = read_corrections(options.corrections, records) if options.corrections else {}
    references = [read_reference(record, options.against) for record in records]
    _check_options(options, records)

    judge = judge_from(options, check=False)  # a file with only cached verdicts needs no model
    judgements = judge_claims(judge, claims, str if options.whole else trim_to_tokens)
    rows = _with_verdicts(judged_file.rows, judgements, corrections)
    _write_rows(options.target, rows)

    summary = list(_summary(rows, judge))
    if corrections:
        uncorrected = [judgement.verdict for judgement in judgements]
        summary.append(_effect_of_corrections(corrections, uncorrected, verdicts_of(rows)))
    cost = cost_line(judge)
    if cost:
        summary.append(cost)

    pairs = _pair_with_references(rows, references, options.by or DEFAULT_GROUPS)
    if pairs:
        summary.append(f"\n{agreement_report(pairs)}")
    # Rows on standard output are for another program: the summary must not stand among them.
    print("\n".join(summary), file=sys.stderr if options.target == STANDARD_OUTPUT else sys.stdout)


def _read_file(options: argparse.Namespace) -> JudgedFile:
    """The rows to judge; says which columns were taken for ours. Raises DatasetError."""
    if options.source.is_dir():
        raise DatasetError(f"{options.source}: a folder; `crag judge {options.source}` judges a stored run again")

    judged_file = read_judged(options.source, columns_of(options.columns))
    if judged_file.names and not options.columns:
        say(describe_names(options.source, judged_file.names))
    return judged_file


def _with_verdicts(
    rows: Sequence[Mapping[str, Any]],
    judgements: Sequence[Judgement],
    corrections: Mapping[int, Correction],
) -> list[dict[str, Any]]:
    """The rows with the judge's verdicts, or with those of a person, which are by the index of their row."""
    judged: list[dict[str, Any]] = []
    for row, judgement in zip(rows, judgements, strict=True):
        judged.append({**row, "verdict": judgement.verdict.value, "reason": judgement.reason})
    for index, correction in corrections.items():
        judged[index] |= {"verdict": correction.verdict, "reason": f"person: {correction.note or 'no note'}"}
    return judged


def _write_rows(target: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    if target == STANDARD_OUTPUT:
        sys.stdout.writelines(json_line(row).decode() for row in rows)
    elif target is not None:
        write_judged(target, rows)


def _pair_with_references(
    rows: Sequence[dict[str, Any]],
    references: Sequence[str | None],
    group_field: str,
) -> list[JudgedPair]:
    """The new verdicts beside those that rows had before; rows without one are left out."""
    pairs: list[JudgedPair] = []
    for row, reference in zip(rows, references, strict=True):
        if reference is not None:
            group = str(row.get(group_field, "unlabelled"))
            pairs.append(JudgedPair(reference, row["verdict"], group))
    return pairs


def _summary(rows: Sequence[dict[str, Any]], judge: Judge) -> Iterator[str]:
    verdicts = verdicts_of(rows)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).most_common())
    yield f"{len(rows)} judged: {counts}"
    # Whoever judges a file of a few rows is shown how little they say
    yield metrics_headline("all", compute_metrics(verdicts), fewest=1)
    no_verdict = no_verdict_line(row["reason"] for row in rows)
    if no_verdict:
        yield no_verdict
    hedged = hedged_line(sum(is_hedged(row["reason"]) for row in rows))
    if hedged:
        yield hedged
    yield f"judge: {judge.name}@{judge.version}"


def _check_options(options: argparse.Namespace, records: Sequence[Record]) -> None:
    """Raise DatasetError for options that do not fit the rows, before a model costs money."""
    fields = single_value_fields(record.data for record in records)
    if options.by is not None and options.by not in fields:
        listed = ", ".join(fields) or "none"
        raise DatasetError(f"--by {options.by}: no row has that field; fields with one value: {listed}")

    if options.target not in {None, STANDARD_OUTPUT}:
        check_format(options.target)
        check_target(options.target)


def _effect_of_corrections(
    corrections: Iterable[int],
    uncorrected: Sequence[Verdict],
    corrected: Sequence[Verdict],
) -> str:
    """How a person's verdicts changed the counts and the score; `corrections` are the indices of their rows."""
    changes = Counter(f"{uncorrected[index]} -> {corrected[index]}" for index in corrections)
    listed = ", ".join(f"{change} {count}" for change, count in sorted(changes.items()))
    before = compute_metrics(uncorrected).score
    after = compute_metrics(corrected).score
    return f"a person's verdicts counted in: {listed}; score {before:+.3f} -> {after:+.3f}"


def _read_claims(judged_file: JudgedFile) -> list[Claim]:
    try:
        return [claim_of(record) for record in judged_file.records]
    except DatasetError as error:
        # Messages have our names of the columns
        if judged_file.names:
            names = [f'"{our_name}" is "{their_name}" here' for our_name, their_name in judged_file.names.items()]
            error.add_note(", ".join(names))
        else:
            error.add_note(COLUMNS_HINT)
        raise
