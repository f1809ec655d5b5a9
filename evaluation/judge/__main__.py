"""`python -m evaluation.judge --in FILE`: judge the predictions of a file, and compare with verdicts it has."""

import argparse
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from agents.files import check_target, write_rows
from evaluation.agreement import VerdictPair, reference_verdict, report
from evaluation.datasets import DatasetError, Record, alternative_answers, read_records
from evaluation.judge import (
    Claim,
    Judge,
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
_ROWS_AT_ONCE = 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file. Exit code: 0 done, 2 the file or the judge cannot be used."""
    parser = _parser()
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    pairs: list[VerdictPair] = []
    try:
        if not _comparable(options) and options.target is None:  # before a model costs money
            parser.error(f'the rows have no field "{options.against or DEFAULT_REFERENCE}" to compare with: give --out')
        if options.by is not None:
            _refuse_unknown(options.by, options.source)
        if options.target is not None:
            check_target(options.target)
        judge = judge_from(options, check=False)  # a file whose verdicts are all cached needs no model
        rows = _compared(judged_rows(options.source, judge, _trim(options)), options, counts, pairs)
        if options.target is not None:
            write_rows(options.target, rows)
        else:
            deque(rows, maxlen=0)
    except (DatasetError, JudgeUnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {options.target}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    _show(judge, counts, pairs)
    return 0


def judged_rows(source: Path, judge: Judge, trim: Callable[[str], str]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """The rows of the file, and the same with ``verdict`` and ``reason``.

    Raises:
        DatasetError: a row lacks a field.
        JudgeUnavailableError: the judge cannot be used.
    """
    records = read_records(source)
    while some := list(islice(records, _ROWS_AT_ONCE)):
        judgements = judge_claims(judge, [claim_of(record) for record in some], trim)
        for record, judgement in zip(some, judgements, strict=True):
            yield record, {**record.data, "verdict": judgement.verdict.value, "reason": judgement.reason}


def claim_of(record: Record) -> Claim:
    """What is to be judged in this row.

    Raises:
        DatasetError: a field is missing or no text.
    """
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


def _compared(
    rows: Iterator[tuple[Record, dict[str, Any]]],
    options: argparse.Namespace,
    counts: Counter[str],
    pairs: list[VerdictPair],
) -> Iterator[dict[str, Any]]:
    """The judged rows as they pass; `counts` gets the verdicts, `pairs` those that have a reference."""
    group_field = options.by or DEFAULT_GROUPS
    for record, row in rows:
        counts[row["verdict"]] += 1
        reference = _reference(record, options.against)
        if reference is not None:
            pairs.append(VerdictPair(reference, row["verdict"], str(record.data.get(group_field, "unlabelled"))))
        yield row


def _comparable(options: argparse.Namespace) -> bool:
    """Some row has a verdict to compare with, or there are no rows.

    Raises:
        DatasetError: a row's verdict is none, or --against names a field that a row lacks.
    """
    found = [_reference(record, options.against) is not None for record in read_records(options.source)]
    return any(found) or not found


def _refuse_unknown(field: str, source: Path) -> None:
    if field not in (known := fields_of(record.data for record in read_records(source))):
        raise DatasetError(f"--by {field}: no row has that field; fields with one value: {', '.join(known) or 'none'}")


def _reference(record: Record, against: str | None) -> str | None:
    try:
        reference = reference_verdict(record.data, against or DEFAULT_REFERENCE)
    except ValueError as error:
        raise DatasetError(f"{record.place}, {error}") from None
    if reference is None and against is not None:
        raise DatasetError(f'{record.place}, field "{against}": --against needs it in every row')
    return reference


def _trim(options: argparse.Namespace) -> Callable[[str], str]:
    return str if options.whole else official_trim().cut


def _show(judge: Judge, counts: Counter[str], pairs: Sequence[VerdictPair]) -> None:
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    print(f"{sum(counts.values())} judged: {listed}")
    print(f"judge: {judge.name}@{judge.version}")
    if cost := cost_line(judge):
        print(cost)
    if pairs:
        print(f"\n{report(pairs)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.judge",
        description="Rows {query, ground_truth or answer, alt_ans?, prediction} get verdict (correct, incorrect, "
        "missing or unscored) and reason. Rows that carry somebody else's verdict are compared with ours: agreement, "
        "Cohen's kappa and confusion. Files ending in .bz2 are packed.",
    )
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines")
    parser.add_argument(
        "--out",
        dest="target",
        metavar="FILE",
        type=Path,
        help="JSON lines; may be left out where verdicts are compared",
    )
    parser.add_argument(
        "--against",
        metavar="FIELD",
        help=f"compare with this field of every row (default: {DEFAULT_REFERENCE}, where a row has it)",
    )
    parser.add_argument("--by", metavar="FIELD", help=f"compare in groups by this field (default: {DEFAULT_GROUPS})")
    parser.add_argument(
        "--whole", action="store_true", help="judge whole predictions, not the 75 tokens that the evaluator keeps"
    )
    add_judge_arguments(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
