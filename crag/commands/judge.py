"""`crag judge`: judges the predictions of a file or of stored runs, and compares them with existing verdicts."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import trim_to_tokens
from crag.commands.command_line import STANDARD_OUTPUT, argument_type, command, parser_of, say
from crag.commands.ending import interrupt_code, stopped_in_order
from crag.commands.judge_agreement import JudgedPair, agreement_report
from crag.commands.judge_runs import judge_runs
from crag.commands.judged_files import (
    COLUMNS_HINT,
    JudgedFile,
    check_format,
    columns_of,
    describe_names,
    parse_columns,
    read_judged,
    write_judged,
)
from crag.core.csv_files import misspelt_names
from crag.core.files import DatasetError, Record, check_target, json_line, shorten_repr
from crag.evaluation.datasets import CORRECTIONS, GOLD_FIELDS, read_records
from crag.evaluation.judge import (
    Claim,
    Judge,
    Verdict,
    add_judge_arguments,
    cost_line,
    hedged_line,
    is_hedged,
    judge_claims,
    judge_from,
    no_verdict_line,
)
from crag.evaluation.metrics import compute_metrics, single_value_fields
from crag.evaluation.question_fields import alternative_answers
from crag.evaluation.rejudge import (
    verdicts_of,
)
from crag.evaluation.results import metrics_headline

DEFAULT_REFERENCE = "judgement"
DEFAULT_GROUPS = "question_type"
_FILE_OPTIONS = {
    "--out": "target",
    "--columns": "columns",
    "--against": "against",
    "--by": "by",
    "--whole": "whole",
    "--corrections": "corrections",
}
"""The options that only a file has, and their names in the namespace."""


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file or stored runs; returns the exit code.

    0: done. 2: a file, a run or the judge is unusable. 130 and 143: interrupted or terminated.
    """
    options = _parse(arguments)
    try:
        with stopped_in_order():
            if options.runs:
                judge_runs(options)
            else:
                _judge_file(options)
    except KeyboardInterrupt as interrupt:
        say(f"\n{_describe_interruption(options)}")
        return interrupt_code(interrupt)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag judge",
        "Judge answers again: those of a file, or of runs of `crag evaluate`.\n\n"
        "With --in, rows {query, ground_truth or answer, alt_ans?, prediction} get a verdict (correct, incorrect,\n"
        "missing or unscored) and a reason. Existing verdicts are compared: agreement, Cohen's kappa and the\n"
        "differences. A row without a gold answer is unscored. Files ending in .bz2 are compressed.\n\n"
        "With RUN, the folders of runs, the new verdicts, results and report replace those in the folder, and what\n"
        "moved is printed. The earlier ones are kept in RUN/judged-by-JUDGE, a run that `crag compare` reads.",
        "Exit code: 0 done; 2 a file, a run or the judge cannot be used; 130 interrupted (143 by SIGTERM).",
    )

    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="*",
        type=Path,
        help="folders of finished runs to judge again",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="RUN: replace verdicts that are kept of the same earlier judge",
    )
    _add_file_options(parser.add_argument_group("a file"))
    add_judge_arguments(parser.add_argument_group("judge"))

    options = parser.parse_args(arguments)
    if bool(options.runs) == (options.source is not None):
        parser.error("give either --in FILE or the folders of runs")
    if options.runs:
        for option, name in _FILE_OPTIONS.items():
            if getattr(options, name):
                parser.error(f"{option} is for --in, not for a run")
    if options.overwrite and not options.runs:
        parser.error("--overwrite is for runs")
    return options


def _add_file_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--in",
        dest="source",
        metavar="FILE",
        type=Path,
        help="JSON lines, a JSON array, .csv or .tsv",
    )
    group.add_argument(
        "--out",
        dest="target",
        metavar="FILE",
        type=Path,
        help="the rows with verdicts and reasons, in the format of the name: .jsonl, .json, .csv, .tsv, also as .bz2; "
        "-: JSON lines on standard output",
    )
    group.add_argument(
        "--columns",
        metavar="OURS=THEIRS,...",
        type=argument_type(parse_columns),
        action="append",
        default=[],
        help="what the file calls query, prediction, answer ...; the names of ragas and DeepEval are known",
    )
    group.add_argument(
        "--against",
        metavar="FIELD",
        help=f"compare with this field of every row (default: {DEFAULT_REFERENCE}, if a row has it)",
    )
    group.add_argument(
        "--by",
        metavar="FIELD",
        help=f"compare in groups by this field (default: {DEFAULT_GROUPS})",
    )
    group.add_argument(
        "--whole",
        action="store_true",
        help="judge whole predictions, not the 75 tokens that the evaluator keeps",
    )
    group.add_argument(
        "--corrections",
        metavar="FILE",
        type=Path,
        help="your corrected verdicts, saved from a report; they replace the judge's",
    )


def _describe_interruption(options: argparse.Namespace) -> str:
    """What is kept, and how to continue."""
    kept_parts = []
    if options.runs:
        kept_parts.append("runs that are named above are judged and stored")
    if options.judge == "llm" and options.judge_cache != "none":
        kept_parts.append("verdicts of the model so far are cached")
    if not kept_parts:
        return "interrupted: nothing is written; the same command starts again"
    return f"interrupted: {', '.join(kept_parts)}; the same command continues"


def _judge_file(options: argparse.Namespace) -> None:
    # Everything is read and checked before a model costs money
    judged_file = _read_file(options)
    records = judged_file.records
    claims = _read_claims(judged_file)
    corrections = _corrections(options.corrections, records) if options.corrections else {}
    references = [_reference(record, options.against) for record in records]
    _check(options, records)

    judge = judge_from(options, check=False)  # a file with only cached verdicts needs no model
    judgements = judge_claims(judge, claims, str if options.whole else trim_to_tokens)
    rows: list[dict[str, Any]] = []
    for row, judgement in zip(judged_file.rows, judgements, strict=True):
        rows.append({**row, "verdict": judgement.verdict.value, "reason": judgement.reason})
    for index, correction in corrections.items():
        rows[index] |= {"verdict": correction.verdict, "reason": f"person: {correction.note or 'no note'}"}
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


def _check(options: argparse.Namespace, records: Sequence[Record]) -> None:
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


def claim_of(record: Record) -> Claim:
    """The claim in this row, without gold answers if none is known (null or blank); raises DatasetError."""
    row = record.data
    query = _read_string(record, "query")
    prediction = _read_string(record, "prediction")
    if not any(field in row for field in GOLD_FIELDS):
        raise DatasetError(_string_fault(record, "answer", "ground_truth or answer"))

    # A blank ground truth leaves the official answer to the other field. Both are checked, even if one is enough.
    official: list[str] = []
    for field in GOLD_FIELDS:
        if row.get(field) is None:
            continue
        gold = _read_string(record, field)
        if gold.strip() and not official:
            official.append(gold)

    alternatives = [answer for answer in alternative_answers(record) if answer.strip()]
    return Claim(query, (*official, *alternatives), prediction)


def _read_string(record: Record, field: str) -> str:
    value = record.data.get(field)
    if not isinstance(value, str):
        raise DatasetError(_string_fault(record, field, field))
    return value


def _string_fault(record: Record, field: str, title: str) -> str:
    """Why a field is not a string, perhaps because its name is misspelt."""
    misspelt = misspelt_names(record.data, [field])
    hint = "".join(f'; did you mean it by "{name}"?' for name in misspelt)
    value = record.data.get(field)
    found = "nothing" if value is None else shorten_repr(value)
    return f'{record.place}, field "{title}": expected text, found {found}{hint}'


class Correction(NamedTuple):
    """A person's verdict about a row."""

    verdict: str
    note: str


def _corrections(path: Path, records: Sequence[Record]) -> dict[int, Correction]:
    """The corrections by the index of the row that they are about; raises DatasetError."""
    # The same question may occur several times in a run
    indices: dict[tuple[object, object], int] = {}
    for index, record in enumerate(records):
        key = (record.data.get("interaction_id"), record.data.get("occurrence", 0))
        indices[key] = index

    corrections: dict[int, Correction] = {}
    for place, row in read_records(path, form=CORRECTIONS):
        if row.get("verdict") not in set(Verdict):
            allowed = ", ".join(Verdict)
            raise DatasetError(f'{place}, field "verdict": expected one of {allowed}')

        interaction_id = str(row.get("interaction_id"))
        key = (interaction_id, row.get("occurrence", 0))
        if key not in indices:
            raise DatasetError(f'{place}, field "interaction_id": no row of the judged file is {interaction_id}')

        note = str(row.get("note") or "")
        corrections[indices[key]] = Correction(row["verdict"], note)
    return corrections


def _reference(record: Record, against: str | None) -> str | None:
    """The verdict that the row has, if any; true and false mean correct and incorrect."""
    field = against or DEFAULT_REFERENCE
    value = record.data.get(field)
    if value is None:
        if against is not None:
            raise DatasetError(f'{record.place}, field "{field}": --against needs it in every row')
        return None

    verdict = str(value).strip().lower()
    # A bool's text would be "true", which is not a verdict
    if isinstance(value, bool):
        verdict = "correct" if value else "incorrect"
    if verdict not in set(Verdict):
        allowed = ", ".join(Verdict)
        raise DatasetError(
            f'{record.place}, field "{field}": expected true, false or one of {allowed}, found {value!r}'
        )
    return verdict
