"""The rows of ../shared/data/judged: verdicts of strong language models beside those of our judges."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from agents.common.contracts import I_DONT_KNOW
from agents.matching import position_of, tokens
from evaluation.datasets import read_records
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.trim import official_trim


class JudgedRow(NamedTuple):
    """A row of the file: the verdict of its judge and ours; the rules were not tuned on the held-out half."""

    reference: str
    verdicts: dict[str, str]
    held_out: bool


def judged_rows(path: Path) -> list[JudgedRow]:
    """The rows of the file with the verdicts of the rules judge and of the simplest one, containment."""
    records = list(read_records(path))
    claims = [
        Claim(row["query"], (row["ground_truth"], *row.get("alt_ans", [])), row["prediction"]) for _, row in records
    ]
    rules = judge_claims(RulesJudge(), claims, official_trim().cut)
    rows = []
    for record, claim, judgement in zip(records, claims, rules, strict=True):
        hashed = int(hashlib.sha256(record.data["interaction_id"].encode()).hexdigest(), 16)
        verdicts = {"rules": judgement.verdict.value, "containment": containment(claim)}
        rows.append(JudgedRow(record.data["judgement"], verdicts, held_out=hashed % 2 == 1))
    return rows


def containment(claim: Claim) -> str:
    """Correct if the prediction's words contain the gold answer's."""
    if I_DONT_KNOW in claim.prediction.lower():
        return Verdict.MISSING.value
    contained = position_of(tokens(claim.golds[0]), tokens(claim.prediction)) >= 0
    return (Verdict.CORRECT if contained else Verdict.INCORRECT).value
