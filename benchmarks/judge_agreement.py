"""How far our judges agree with verdicts of strong language models.

    python -m benchmarks.judge_agreement [FILE] [--judge llm --judge-preset cpu] [--limit N]

The file has rows {query, ground_truth, prediction, judgement, question_type, interaction_id}. The rules were written
with the questions of the "tune" half in sight (by hash of the interaction id); of the "held out" half only counts of
agreement by rule were seen, never a question.
For comparison on the same rows the simplest judge, correct where the gold answer is contained in the prediction, and
with ``--judge llm`` the rules. `--limit` takes a fixed sample, the same in every run.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.contracts import I_DONT_KNOW
from agents.matching import position_of, tokens
from evaluation.agreement import VerdictPair, agreement, cohens_kappa, differences
from evaluation.datasets import DatasetError, read_records
from evaluation.judge import (
    Claim,
    Judge,
    JudgeUnavailableError,
    RulesJudge,
    Verdict,
    add_judge_arguments,
    cost_line,
    judge_claims,
    judge_from,
)
from evaluation.judge.__main__ import claim_of
from evaluation.trim import official_trim

DEFAULT_FILE = Path(__file__).parent.parent.parent / "shared/data/judged/judged_split0.jsonl"


class JudgedRow(NamedTuple):
    """A row of the file: its data, the verdict of the file's judge, and ours by the judge's name."""

    data: dict[str, Any]
    reference: str
    verdicts: dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print agreement, kappa and differences. Exit code: 0 done, 2 the file or the judge cannot be used."""
    parser = argparse.ArgumentParser(description="agreement of a judge with a judged file")
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    parser.add_argument("--limit", metavar="N", type=int, help="a fixed sample of N rows")
    add_judge_arguments(parser)
    options = parser.parse_args(arguments)
    try:
        judge = judge_from(options)
        rows = judged_rows(options.file, judge, options.limit)
    except (DatasetError, JudgeUnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    _show(judge, rows)
    return 0


def judged_rows(path: Path, judge: Judge, limit: int | None = None) -> list[JudgedRow]:
    """The rows of the file with the verdicts of the judge, of the rules and of containment.

    Raises:
        DatasetError: no such file, or a row that cannot be judged.
    """
    records = list(read_records(path))
    if limit is not None:
        records = sorted(records, key=lambda record: _hash("sample " + record.data["interaction_id"]))[:limit]
    claims = [claim_of(record) for record in records]
    trim = official_trim().cut
    verdicts = {
        one.name: [judgement.verdict.value for judgement in judge_claims(one, claims, trim)]
        for one in {judge.name: judge, "rules": RulesJudge()}.values()
    }
    verdicts["containment"] = [containment(claim) for claim in claims]
    return [
        JudgedRow(record.data, record.data["judgement"], {name: said[place] for name, said in verdicts.items()})
        for place, record in enumerate(records)
    ]


def containment(claim: Claim) -> str:
    """The verdict of the simplest judge, on normalised words."""
    if I_DONT_KNOW in claim.prediction.lower():
        return Verdict.MISSING.value
    contained = position_of(tokens(claim.golds[0]), tokens(claim.prediction)) >= 0
    return (Verdict.CORRECT if contained else Verdict.INCORRECT).value


def half_of(interaction_id: str) -> int:
    """0: the half that the rules were tuned on; 1: the half held out."""
    return _hash(interaction_id) % 2


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _show(judge: Judge, rows: list[JudgedRow]) -> None:
    print(f"judge {judge.name}@{judge.version}, {len(rows)} judged answers")
    if cost := cost_line(judge):
        print(cost)
    names = list(rows[0].verdicts) if rows else []
    print(f"\n{'':20}{'n':>5}" + "".join(f"{name:>14}{'kappa':>8}" for name in names))
    for label, half in (("tune", 0), ("held out", 1), ("all", None)):
        some = [row for row in rows if half is None or half_of(row.data["interaction_id"]) == half]
        print(f"{label:20}{_figures(some, names)}")
    print(f"\nby question type (all), and reference->{judge.name} where they differ")
    for kind in sorted({_kind(row) for row in rows}):
        some = [row for row in rows if _kind(row) == kind]
        shown = differences(VerdictPair(row.reference, row.verdicts[judge.name], kind) for row in some)
        print(f"{kind:20}{_figures(some, names)}   {shown}")


def _kind(row: JudgedRow) -> str:
    return str(row.data.get("question_type"))


def _figures(rows: list[JudgedRow], names: Sequence[str]) -> str:
    """How many rows, and for each judge its agreement and kappa; an unscored row agrees with nothing."""
    reference = [row.reference for row in rows]
    text = f"{len(rows):>5}"
    for name in names:
        said = [row.verdicts[name] for row in rows]
        text += f"{agreement(reference, said):>14.3f}{cohens_kappa(reference, said):>8.3f}"
    return text


if __name__ == "__main__":
    sys.exit(main())
