"""`crag judge`: judges a file's predictions and compares them with existing verdicts."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from crag.answering import trim_to_tokens
from crag.commands.command_line import command, parser_of
from crag.core.files import DatasetError, Record, check_target, write_rows
from crag.evaluation.datasets import alternative_answers, read_records
from crag.evaluation.judge import (
    Claim,
    Verdict,
    add_judge_arguments,
    cost_line,
    hedged_line,
    is_hedged,
    judge_claims,
    judge_from,
)
from crag.evaluation.metrics import agreement, cohens_kappa, compute_metrics, single_value_fields

DEFAULT_REFERENCE = "judgement"
DEFAULT_GROUPS = "question_type"


class JudgedPair(NamedTuple):
    """A row's reference verdict and ours; `group` is the label of its slice."""

    reference: str
    verdict: str
    group: str


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Judge a file. Exit code: 0 done, 2 the file or the judge is unusable."""
    options = _parse(arguments)
    records = list(read_records(options.source))
    claims = [claim_of(record) for record in records]
    corrections = _corrections(options.corrections, records) if options.corrections else {}
    references = [_reference(record, options.against) for record in records]
    _check(options, records, has_purpose=any(references) or bool(corrections))

    judge = judge_from(options, check=False)  # a file with only cached verdicts needs no model
    judgements = judge_claims(judge, claims, str if options.whole else trim_to_tokens)
    rows = [
        {**record.data, "verdict": judgement.verdict.value, "reason": judgement.reason}
        for record, judgement in zip(records, judgements, strict=True)
    ]
    uncorrected = [judgement.verdict for judgement in judgements]
    for index, correction in corrections.items():
        rows[index] |= {"verdict": correction.verdict, "reason": f"person: {correction.note or 'no note'}"}
    if options.target is not None:
        write_rows(options.target, rows)

    verdicts = [Verdict(row["verdict"]) for row in rows]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).most_common())
    print(f"{len(rows)} judged: {counts}")
    hedged = hedged_line(sum(is_hedged(row["reason"]) for row in rows))
    if hedged:
        print(hedged)
    print(f"judge: {judge.name}@{judge.version}")
    if corrections:
        print(_effect_of_corrections(corrections, uncorrected, verdicts))
    cost = cost_line(judge)
    if cost:
        print(cost)

    group_field = options.by or DEFAULT_GROUPS
    pairs = [
        JudgedPair(reference, row["verdict"], str(row.get(group_field, "unlabelled")))
        for reference, row in zip(references, rows, strict=True)
        if reference is not None
    ]
    if pairs:
        print(f"\n{agreement_report(pairs)}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag judge",
        "Judge rows {query, ground_truth or answer, alt_ans?, prediction}: a verdict (correct, incorrect, missing or\n"
        "unscored) and a reason. Existing verdicts are compared: agreement, Cohen's kappa and the differences.\n"
        "Files ending in .bz2 are compressed.",
    )
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines")
    parser.add_argument(
        "--out",
        dest="target",
        metavar="FILE",
        type=Path,
        help="JSON lines; optional if verdicts are compared",
    )
    parser.add_argument(
        "--against",
        metavar="FIELD",
        help=f"compare with this field of every row (default: {DEFAULT_REFERENCE}, if a row has it)",
    )
    parser.add_argument("--by", metavar="FIELD", help=f"compare in groups by this field (default: {DEFAULT_GROUPS})")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="judge whole predictions, not the 75 tokens that the evaluator keeps",
    )
    parser.add_argument(
        "--corrections",
        metavar="FILE",
        type=Path,
        help="your corrected verdicts, saved from a report; they replace the judge's",
    )
    add_judge_arguments(parser)
    return parser.parse_args(arguments)


def _check(options: argparse.Namespace, records: Sequence[Record], *, has_purpose: bool) -> None:
    """Raise DatasetError for options that do not fit the rows, before a model costs money."""
    if records and options.target is None and not has_purpose:
        field = options.against or DEFAULT_REFERENCE
        raise DatasetError(f'the rows have no field "{field}" to compare with: give --out')

    fields = single_value_fields(record.data for record in records)
    if options.by is not None and options.by not in fields:
        listed = ", ".join(fields) or "none"
        raise DatasetError(f"--by {options.by}: no row has that field; fields with one value: {listed}")

    if options.target is not None:
        check_target(options.target)


def _effect_of_corrections(
    corrections: Iterable[int], uncorrected: Sequence[Verdict], corrected: Sequence[Verdict]
) -> str:
    """How a person's verdicts changed the counts and the score; `corrections` are the indices of their rows."""
    changes = Counter(f"{uncorrected[index]} -> {corrected[index]}" for index in corrections)
    listed = ", ".join(f"{change} {count}" for change, count in sorted(changes.items()))
    before = compute_metrics(uncorrected).score
    after = compute_metrics(corrected).score
    return f"a person's verdicts counted in: {listed}; score {before:+.3f} -> {after:+.3f}"


def claim_of(record: Record) -> Claim:
    """The claim in this row; raises DatasetError."""
    row = record.data
    gold_field = "ground_truth" if "ground_truth" in row else "answer"
    is_unanswered = gold_field in row and row[gold_field] is None  # null: a question without a known answer

    required = ["query", "prediction"] if is_unanswered else ["query", gold_field, "prediction"]
    for field in required:
        if not isinstance(row.get(field), str):
            title = "ground_truth or answer" if field == "answer" else field
            kind = type(row.get(field)).__name__
            raise DatasetError(f'{record.place}, field "{title}": expected text, found {kind}')

    golds = () if is_unanswered else (row[gold_field], *alternative_answers(record))
    return Claim(row["query"], golds, row["prediction"])


class Correction(NamedTuple):
    """A person's verdict about a row."""

    verdict: str
    note: str


def _corrections(path: Path, records: Sequence[Record]) -> dict[int, Correction]:
    """The corrections by the index of the row that they are about; raises DatasetError."""
    indices = {
        (record.data.get("interaction_id"), record.data.get("occurrence", 0)): index
        for index, record in enumerate(records)
    }
    corrections: dict[int, Correction] = {}
    for place, row in read_records(path):
        if row.get("verdict") not in set(Verdict):
            raise DatasetError(f'{place}, field "verdict": expected one of {", ".join(Verdict)}')

        question = str(row.get("interaction_id"))
        index = indices.get((question, row.get("occurrence", 0)))
        if index is None:
            raise DatasetError(f'{place}, field "interaction_id": no row of the judged file is {question}')
        corrections[index] = Correction(row["verdict"], str(row.get("note") or ""))
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
    if isinstance(value, bool):
        verdict = "correct" if value else "incorrect"
    if verdict not in set(Verdict):
        allowed = ", ".join(Verdict)
        raise DatasetError(
            f'{record.place}, field "{field}": expected true, false or one of {allowed}, found {value!r}'
        )
    return verdict


def agreement_report(pairs: Sequence[JudgedPair]) -> str:
    """Agreement, kappa and what differs, over all pairs and in each group, as text.

    Pairs with an unscored side are left out and counted. If no reference verdict is "missing", the reference only
    distinguishes right and wrong, and "missing" counts as incorrect.
    """
    scored = [pair for pair in pairs if Verdict.UNSCORED not in (pair.reference, pair.verdict)]
    two_classes = all(pair.reference != Verdict.MISSING for pair in scored)
    if two_classes:
        wrong = Verdict.INCORRECT.value
        scored = [pair._replace(verdict=wrong) if pair.verdict == Verdict.MISSING else pair for pair in scored]

    groups = {"all": scored}
    for pair in sorted(scored, key=lambda pair: pair.group):
        groups.setdefault(f"{pair.group} ", []).append(pair)  # the blank: a group may be called "all"

    width = max(map(len, groups)) + 1
    lines = [f"{'':{width}}{'n':>6}{'agree':>8}{'kappa':>8}   reference->verdict where they differ"]
    for name, group in groups.items():
        lines.append(f"{name:{width}}{_agreement_line(group)}")
    if len(pairs) > len(scored):
        lines.append(f"{len(pairs) - len(scored)} more are unscored and left out")
    if two_classes and scored:
        lines.append("the reference never says missing, so missing counts as incorrect")
    return "\n".join(lines)


def _agreement_line(pairs: Sequence[JudgedPair]) -> str:
    references = [pair.reference for pair in pairs]
    verdicts = [pair.verdict for pair in pairs]
    figures = f"{len(pairs):>6}{agreement(references, verdicts):>8.3f}{cohens_kappa(references, verdicts):>8.3f}"

    changes = Counter(f"{pair.reference}->{pair.verdict}" for pair in pairs if pair.reference != pair.verdict)
    listed = ", ".join(f"{change} {count}" for change, count in sorted(changes.items()))
    return f"{figures}   {listed or 'none'}"
