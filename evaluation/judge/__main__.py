"""`python -m evaluation.judge --in FILE`: judges a file's predictions and compares them with existing verdicts."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents.common.console import end_with
from agents.common.files import check_target, write_rows
from evaluation.agreement import VerdictPair, reference_verdict, report
from evaluation.datasets import DatasetError, Record, alternative_answers, read_records
from evaluation.judge import (
    Claim,
    JudgeUnavailableError,
    add_judge_arguments,
    cost_line,
    judge_claims,
    judge_from,
)
from evaluation.metrics import fields_of
from evaluation.trim import official_trim

DEFAULT_REFERENCE = "judgement"
DEFAULT_GROUPS = "question_type"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file. Exit code: 0 done, 2 the file or the judge is unusable."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        records = list(read_records(options.source))
        claims = [claim_of(record) for record in records]
        references = [_reference(record, options.against) for record in records]
        if records and not any(references) and options.target is None:  # before a model costs money
            parser.error(f'the rows have no field "{options.against or DEFAULT_REFERENCE}" to compare with: give --out')
        if options.by is not None:
            _refuse_unknown(options.by, records)
        if options.target is not None:
            check_target(options.target)
        judge = judge_from(options, check=False)  # a file with only cached verdicts needs no model
        judged = judge_claims(judge, claims, str if options.whole else official_trim().cut)
        rows = [
            {**record.data, "verdict": one.verdict.value, "reason": one.reason}
            for record, one in zip(records, judged, strict=True)
        ]
        if options.target is not None:
            write_rows(options.target, rows)
    except (DatasetError, JudgeUnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {options.target}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    counts = Counter(row["verdict"] for row in rows)
    print(f"{len(rows)} judged: {', '.join(f'{count} {verdict}' for verdict, count in counts.most_common())}")
    print(f"judge: {judge.name}@{judge.version}")
    if cost := cost_line(judge):
        print(cost)
    group = options.by or DEFAULT_GROUPS
    pairs = [
        VerdictPair(reference, row["verdict"], str(row.get(group, "unlabelled")))
        for reference, row in zip(references, rows, strict=True)
        if reference is not None
    ]
    if pairs:
        print(f"\n{report(pairs)}")
    return 0


def claim_of(record: Record) -> Claim:
    """The claim in this row; raises DatasetError."""
    gold_field = "ground_truth" if "ground_truth" in record.data else "answer"
    texts = {}
    for name in ("query", gold_field, "prediction"):
        value = record.data.get(name)
        if name == gold_field and name in record.data and value is None:
            continue  # a question without a known answer
        if not isinstance(value, str):
            shown = "ground_truth or answer" if name == "answer" else name
            raise DatasetError(f'{record.place}, field "{shown}": expected text, found {type(value).__name__}')
        texts[name] = value
    golds = (texts[gold_field], *alternative_answers(record)) if gold_field in texts else ()
    return Claim(texts["query"], golds, texts["prediction"])


def _refuse_unknown(field: str, records: Sequence[Record]) -> None:
    if field not in (known := fields_of(record.data for record in records)):
        raise DatasetError(f"--by {field}: no row has that field; fields with one value: {', '.join(known) or 'none'}")


def _reference(record: Record, against: str | None) -> str | None:
    try:
        reference = reference_verdict(record.data, against or DEFAULT_REFERENCE)
    except ValueError as error:
        raise DatasetError(f"{record.place}, {error}") from None
    if reference is None and against is not None:
        raise DatasetError(f'{record.place}, field "{against}": --against needs it in every row')
    return reference


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.judge",
        description="Rows {query, ground_truth or answer, alt_ans?, prediction} get a verdict (correct, incorrect, "
        "missing or unscored) and a reason. Existing verdicts are compared with ours: agreement, "
        "Cohen's kappa and confusion. Files ending in .bz2 are compressed.",
    )
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines")
    compared = "JSON lines; may be left out where verdicts are compared"
    parser.add_argument("--out", dest="target", metavar="FILE", type=Path, help=compared)
    against = f"compare with this field of every row (default: {DEFAULT_REFERENCE}, where a row has it)"
    parser.add_argument("--against", metavar="FIELD", help=against)
    parser.add_argument("--by", metavar="FIELD", help=f"compare in groups by this field (default: {DEFAULT_GROUPS})")
    whole = "judge whole predictions, not the 75 tokens that the evaluator keeps"
    parser.add_argument("--whole", action="store_true", help=whole)
    add_judge_arguments(parser)
    return parser


if __name__ == "__main__":
    end_with(main)
