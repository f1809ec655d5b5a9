"""How far the rules judge agrees with verdicts of strong language models.

    python -m benchmarks.judge_agreement [FILE]

The file has rows {query, ground_truth, prediction, judgement, question_type, interaction_id}. The rules were written
with the questions of the "tune" half in sight (by hash of the interaction id); of the "held out" half only counts of
agreement by rule were seen, never a question.
For comparison the simplest judge: correct where the gold answer is contained in the prediction.
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.contracts import I_DONT_KNOW
from agents.datasets import DatasetError, read_records
from evaluation.agreement import agreement, cohens_kappa
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.judge.__main__ import claim_of
from evaluation.judge.text import position_of, tokens
from evaluation.trim import official_trim

DEFAULT_FILE = Path(__file__).parent.parent.parent / "shared/data/judged/judged_split0.jsonl"


class JudgedRow(NamedTuple):
    """A row of the file: its data, and the verdicts of the file's judge, of the rules and of simple containment."""

    data: dict[str, Any]
    reference: str
    rules: str
    containment: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Print agreement, kappa and confusion. Exit code: 0 done, 2 the file cannot be used."""
    parser = argparse.ArgumentParser(description="agreement of the rules judge with a judged file")
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    try:
        rows = judged_rows(parser.parse_args(arguments).file)
    except DatasetError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    judge = RulesJudge()
    print(f"judge {judge.name}@{judge.version}, {len(rows)} judged answers\n")
    print(f"{'':12}{'n':>5}{'rules agree':>14}{'kappa':>8}{'containment':>14}{'kappa':>8}")
    for name, half in (("tune", 0), ("held out", 1), ("all", None)):
        some = [row for row in rows if half is None or half_of(row.data["interaction_id"]) == half]
        print(f"{name:12}{_figures(some)}")
    print("\nby question type (all): reference verdict -> rules verdict")
    for kind in sorted({str(row.data.get("question_type")) for row in rows}):
        some = [row for row in rows if str(row.data.get("question_type")) == kind]
        print(f"{kind:20}{_figures(some)}   {_confusion(some)}")
    return 0


def judged_rows(path: Path) -> list[JudgedRow]:
    """The rows of the file with all three verdicts.

    Raises:
        DatasetError: no such file, or a row that cannot be judged.
    """
    records = list(read_records(path))
    claims = [claim_of(record) for record in records]
    judgements = judge_claims(RulesJudge(), claims, official_trim().cut)
    return [
        JudgedRow(
            record.data,
            record.data["judgement"],
            judgement.verdict.value,
            containment(claim),
        )
        for record, claim, judgement in zip(records, claims, judgements, strict=True)
    ]


def containment(claim: Claim) -> str:
    """The verdict of the simplest judge, on normalised words."""
    if I_DONT_KNOW in claim.prediction.lower():
        return Verdict.MISSING.value
    contained = position_of(tokens(claim.golds[0]), tokens(claim.prediction)) >= 0
    return (Verdict.CORRECT if contained else Verdict.INCORRECT).value


def half_of(interaction_id: str) -> int:
    """0: the half that the rules were tuned on; 1: the half held out."""
    return int(hashlib.sha256(interaction_id.encode()).hexdigest(), 16) % 2


def _figures(rows: list[JudgedRow]) -> str:
    reference = [row.reference for row in rows]
    rules, simple = [row.rules for row in rows], [row.containment for row in rows]
    return (
        f"{len(rows):>5}{agreement(reference, rules):>14.3f}{cohens_kappa(reference, rules):>8.3f}"
        f"{agreement(reference, simple):>14.3f}{cohens_kappa(reference, simple):>8.3f}"
    )


def _confusion(rows: list[JudgedRow]) -> str:
    counts = Counter((row.reference, row.rules) for row in rows if row.reference != row.rules)
    return ", ".join(f"{first}->{second} {count}" for (first, second), count in sorted(counts.items())) or "none"


if __name__ == "__main__":
    sys.exit(main())
