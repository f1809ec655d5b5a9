"""`crag judge`, `crag judge`: judges a file's predictions and compares them with existing verdicts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crag.answering import trim_to_tokens
from crag.commands.command_line import command, parser_of
from crag.core.files import DatasetError, Record, check_target, write_rows
from crag.evaluation.datasets import alternative_answers, read_records
from crag.evaluation.judge import Claim, Verdict, add_judge_arguments, cost_line, judge_claims, judge_from
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
    parser = parser_of(
        "crag judge",
        "Judge rows {query, ground_truth or answer, alt_ans?, prediction}: a verdict (correct, incorrect, missing or\n"
        "unscored) and a reason. Existing verdicts are compared: agreement, Cohen's kappa and the differences.\n"
        "Files ending in .bz2 are compressed.",
    )
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines")
    compared = "JSON lines; optional if verdicts are compared"
    parser.add_argument("--out", dest="target", metavar="FILE", type=Path, help=compared)
    against = f"compare with this field of every row (default: {DEFAULT_REFERENCE}, if a row has it)"
    parser.add_argument("--against", metavar="FIELD", help=against)
    parser.add_argument("--by", metavar="FIELD", help=f"compare in groups by this field (default: {DEFAULT_GROUPS})")
    whole = "judge whole predictions, not the 75 tokens that the evaluator keeps"
    parser.add_argument("--whole", action="store_true", help=whole)
    marked = "your corrected verdicts, saved from a report; they replace the judge's"
    parser.add_argument("--corrections", metavar="FILE", type=Path, help=marked)
    add_judge_arguments(parser)
    options = parser.parse_args(arguments)
    records = list(read_records(options.source))
    claims = [claim_of(record) for record in records]
    corrections = _corrections(options.corrections, records) if options.corrections else {}
    references = [_reference(record, options.against) for record in records]
    if records and not any(references) and options.target is None and not corrections:  # before a model costs money
        raise DatasetError(
            f'the rows have no field "{options.against or DEFAULT_REFERENCE}" to compare with: give --out'
        )
    known = single_value_fields(record.data for record in records)
    if options.by is not None and options.by not in known:
        raise DatasetError(
            f"--by {options.by}: no row has that field; fields with one value: {', '.join(known) or 'none'}"
        )
    if options.target is not None:
        check_target(options.target)
    judge = judge_from(options, check=False)  # a file with only cached verdicts needs no model
    judged = judge_claims(judge, claims, str if options.whole else trim_to_tokens)
    rows = [
        {**record.data, "verdict": judgement.verdict.value, "reason": judgement.reason}
        for record, judgement in zip(records, judged, strict=True)
    ]
    before = [Verdict(row["verdict"]) for row in rows]
    for place, (verdict, note) in corrections.items():
        rows[place] |= {"verdict": verdict, "reason": f"person: {note or 'no note'}"}
    if options.target is not None:
        write_rows(options.target, rows)
    counts = Counter(row["verdict"] for row in rows)
    print(f"{len(rows)} judged: {', '.join(f'{count} {verdict}' for verdict, count in counts.most_common())}")
    print(f"judge: {judge.name}@{judge.version}")
    if corrections:
        changes = Counter(f"{before[place]} -> {rows[place]['verdict']}" for place in corrections)
        listed = ", ".join(f"{change} {count}" for change, count in sorted(changes.items()))
        scores = [compute_metrics(verdicts).score for verdicts in (before, [Verdict(row["verdict"]) for row in rows])]
        print(f"a person's verdicts counted in: {listed}; score {scores[0]:+.3f} -> {scores[1]:+.3f}")
    if cost := cost_line(judge):
        print(cost)
    pairs = [
        JudgedPair(reference, row["verdict"], str(row.get(options.by or DEFAULT_GROUPS, "unlabelled")))
        for reference, row in zip(references, rows, strict=True)
        if reference is not None
    ]
    if pairs:
        print(f"\n{agreement_report(pairs)}")


def claim_of(record: Record) -> Claim:
    """The claim in this row; raises DatasetError."""
    row = record.data
    gold_field = "ground_truth" if "ground_truth" in row else "answer"
    has_answer = row.get(gold_field) is not None or gold_field not in row  # null: a question without a known answer
    for name in ("query", *((gold_field,) if has_answer else ()), "prediction"):
        if not isinstance(row.get(name), str):
            shown = "ground_truth or answer" if name == "answer" else name
            raise DatasetError(f'{record.place}, field "{shown}": expected text, found {type(row.get(name)).__name__}')
    golds = (row[gold_field], *alternative_answers(record)) if has_answer else ()
    return Claim(row["query"], golds, row["prediction"])


def _corrections(path: Path, records: Sequence[Record]) -> dict[int, tuple[str, str]]:
    """Verdict and note by the place of the row that they are about; raises DatasetError."""
    places = {(row.get("interaction_id"), row.get("occurrence", 0)): n for n, (_, row) in enumerate(records)}
    found: dict[int, tuple[str, str]] = {}
    for place, row in read_records(path):
        key = str(row.get("interaction_id")), row.get("occurrence", 0)
        if row.get("verdict") not in set(Verdict):
            raise DatasetError(f'{place}, field "verdict": expected one of {", ".join(Verdict)}')
        if key not in places:
            raise DatasetError(f'{place}, field "interaction_id": no row of the judged file is {key[0]}')
        found[places[key]] = row["verdict"], str(row.get("note") or "")
    return found


def _reference(record: Record, against: str | None) -> str | None:
    """The verdict that the row has, if any; true and false mean correct and incorrect."""
    name = against or DEFAULT_REFERENCE
    value = record.data.get(name)
    if value is None:
        if against is not None:
            raise DatasetError(f'{record.place}, field "{name}": --against needs it in every row')
        return None
    plain = "correct" if value is True else "incorrect" if value is False else str(value).strip().lower()
    if plain not in set(Verdict):
        known = ", ".join(Verdict)
        raise DatasetError(f'{record.place}, field "{name}": expected true, false or one of {known}, found {value!r}')
    return plain


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
        groups.setdefault(f"{pair.group} ", []).append(pair)
    width = max(map(len, groups)) + 1
    lines = [f"{'':{width}}{'n':>6}{'agree':>8}{'kappa':>8}   reference->verdict where they differ"]
    for name, some in groups.items():
        reference, verdicts = [pair.reference for pair in some], [pair.verdict for pair in some]
        figures = f"{len(some):>6}{agreement(reference, verdicts):>8.3f}{cohens_kappa(reference, verdicts):>8.3f}"
        differing = Counter(f"{one}->{other}" for one, other in zip(reference, verdicts, strict=True) if one != other)
        listed = ", ".join(f"{change} {count}" for change, count in sorted(differing.items()))
        lines.append(f"{name:{width}}{figures}   {listed or 'none'}")
    if len(pairs) > len(scored):
        lines.append(f"{len(pairs) - len(scored)} more are unscored and left out")
    if two_classes and scored:
        lines.append("the reference never says missing, so missing counts as incorrect")
    return "\n".join(lines)
