"""Measure how far our judges agree with the verdicts of strong language models.

    python -m benchmarks.judge_agreement [FILE] [--judge llm --judge-preset cpu] [--limit N]

The file has rows {query, ground_truth, prediction, judgement, question_type, interaction_id}. The rules were written
with the questions of the "tune" half (by hash of the interaction id); of the "held out" half only counts of agreement
by rule were seen. The tables also show the rules judge, and the simplest judge: correct if the prediction contains the
gold answer. `--limit` takes a fixed sample, the same in every run.
"""

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agents.common.console import end_with
from agents.common.contracts import I_DONT_KNOW
from agents.matching import position_of, tokens
from benchmarks.common import SHARED, by_label, exit_code, table
from evaluation.agreement import VerdictPair, agreement, cohens_kappa, differences
from evaluation.datasets import read_records
from evaluation.judge import (
    Claim,
    Judge,
    RulesJudge,
    Verdict,
    add_judge_arguments,
    cost_line,
    judge_claims,
    judge_from,
)
from evaluation.judge.__main__ import claim_of
from evaluation.trim import official_trim
from training.command import parser_of

DEFAULT_FILE = SHARED / "judged/judged_split0.jsonl"


class JudgedRow(NamedTuple):
    """A row of the file: the verdict of the file's judge, and ours by the judge's name."""

    interaction_id: str
    prediction: str
    question_type: str
    reference: str
    verdicts: dict[str, str]

    @property
    def held_out(self) -> bool:
        """Whether it is in the half that the rules were not tuned on."""
        return _hash(self.interaction_id) % 2 == 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Print agreement, kappa and differences. Exit code: 0 done, 2 the file or the judge cannot be used."""
    parser = parser_of("benchmarks.judge_agreement", __doc__)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    parser.add_argument("--limit", metavar="N", type=int, help="a fixed sample of N rows")
    add_judge_arguments(parser)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    judge = judge_from(options)
    rows = judged_rows(options.file, judge, options.limit)
    print(f"judge {judge.name}@{judge.version}, {len(rows)} judged answers")
    if cost := cost_line(judge):
        print(cost)
    print(f"\n{_table('half', by_label(rows, lambda row: 'held out' if row.held_out else 'tune'))}")
    kinds = by_label(rows, lambda row: row.question_type)
    print(f"\n{_table('question type', kinds)}\n\nreference->{judge.name} where they differ")
    for kind, some in kinds.items():
        pairs = (VerdictPair(row.reference, row.verdicts[judge.name], kind) for row in some)
        print(f"{kind}: {differences(pairs)}")


def judged_rows(path: Path, judge: Judge, limit: int | None = None) -> list[JudgedRow]:
    """The rows of the file with the verdicts of the judge, of the rules and of containment.

    Raises:
        DatasetError: no such file, or a row that cannot be judged.
    """
    records = list(read_records(path))
    if limit is not None:
        records = sorted(records, key=lambda record: _hash("sample " + record.data["interaction_id"]))[:limit]
    claims = [claim_of(record) for record in records]
    verdicts = {
        one.name: [judgement.verdict.value for judgement in judge_claims(one, claims, official_trim().cut)]
        for one in {judge.name: judge, "rules": RulesJudge()}.values()
    }
    verdicts["containment"] = [containment(claim) for claim in claims]
    return [
        JudgedRow(
            record.data["interaction_id"],
            record.data["prediction"],
            str(record.data.get("question_type")),
            record.data["judgement"],
            {name: said[place] for name, said in verdicts.items()},
        )
        for place, record in enumerate(records)
    ]


def containment(claim: Claim) -> str:
    """The verdict of the simplest judge, on normalised words."""
    if I_DONT_KNOW in claim.prediction.lower():
        return Verdict.MISSING.value
    contained = position_of(tokens(claim.golds[0]), tokens(claim.prediction)) >= 0
    return (Verdict.CORRECT if contained else Verdict.INCORRECT).value


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _table(title: str, groups: dict[str, list[JudgedRow]]) -> str:
    """The number of rows, and agreement and kappa of each judge; an unscored row agrees with nothing."""
    names = list(groups["all"][0].verdicts) if groups["all"] else []
    lines = []
    for label, rows in groups.items():
        reference = [row.reference for row in rows]
        said = [[row.verdicts[name] for row in rows] for name in names]
        figures = [figure(reference, own) for own in said for figure in (agreement, cohens_kappa)]
        lines.append([label, len(rows), *figures])
    return table([title, "n", *(cell for name in names for cell in (name, "kappa"))], lines)


if __name__ == "__main__":
    end_with(main)
