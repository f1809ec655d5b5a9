"""The questions of `crag train label-calls`, with the calls that a person wrote for some."""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.core.files import DatasetError, read_jsonl, write_rows
from crag.evaluation.datasets import read_rows
from crag.training.api_pairs.pairs import pair_of

Row = dict[str, Any]


@dataclass(frozen=True)
class QuestionsToLabel:
    """The questions of a run: those whose answer graph values can give.

    `rows` are by key: the question and all that can change its label. `left_out` counts the other questions by reason;
    `corrected` has the rows for which a person wrote calls, by their questions.
    """

    rows: Mapping[str, Row]
    left_out: Counter[str]
    corrected: Mapping[str, Row]


def read_questions(options: argparse.Namespace, identity: Row, rejected: Path) -> QuestionsToLabel:
    """Read the questions, with calls by hand. Raises DatasetError: there is none, or a row is wrong."""
    corrected = _read_corrected(rejected)
    rows: dict[str, Row] = {}
    left_out: Counter[str] = Counter()

    for row in read_rows(options.questions, split=options.split):
        # Calls that a person wrote are part of the key too, so that a changed row is labelled again
        correction = corrected.get(_question_key(row), {})
        row["by_hand"] = correction.get("calls", [])
        if not _has_answer(row):
            left_out["without an answer that values could give"] += 1
            continue

        key = label_key(row, identity)
        # Counted even beyond --limit
        if key in rows:
            left_out["asked twice"] += 1
        elif options.limit is None or len(rows) < options.limit:
            # Without the pages, which are gigabytes.
            rows[key] = {name: value for name, value in row.items() if name != "search_results"}

    for split, count in options.split.left_out.items():
        left_out[f"of split {split}"] += count
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise DatasetError(f"{options.questions}: no question to label ({reasons})")
    return QuestionsToLabel(rows, left_out, corrected)


def _has_answer(row: Row) -> bool:
    """Whether the gold answer is one that values of a graph could give."""
    # "I don't know." with a full stop abstains too
    answer = str(row.get("answer") or "").strip().lower().rstrip(".")
    return answer not in {"", I_DONT_KNOW, INVALID_QUESTION}


def _read_corrected(rejected: Path) -> dict[str, Row]:
    """The rows of the file in which a person wrote calls, by their questions; raises DatasetError."""
    if not rejected.is_file():
        return {}

    corrected: dict[str, Row] = {}
    for record in read_jsonl(rejected):
        if not record.data.get("calls"):
            continue
        calls = list(pair_of(record).calls)  # checked, in their canonical form
        corrected[_question_key(record.data)] = record.data | {"calls": calls}
    return corrected


def write_rejected(rejected: Path, corrected: Mapping[str, Row], entries: Sequence[Row]) -> int:
    """Write the questions without kept calls, and all that a person wrote; returns how many have none."""
    without_calls: dict[str, Row] = {}
    for entry in entries:
        if entry["failed"] or entry["kept"] is not None:
            continue
        key = _question_key(entry["asked"])
        # What a person wrote stays in the file, even if the graph had no values for it
        calls = corrected[key]["calls"] if key in corrected else []
        without_calls[key] = entry["asked"] | {"calls": calls, "tried": entry["tried"]}

    # Corrections first: those that were kept must not be lost either, since the next run reads them again
    write_rows(rejected, {**corrected, **without_calls}.values())
    return len(without_calls)


def _question_key(row: Mapping[str, Any]) -> str:
    # JSON keeps the three fields apart, whatever is in them
    return json.dumps([row.get(name, "") for name in ("interaction_id", "query", "query_time")])


def label_key(row: Mapping[str, Any], identity: Row) -> str:
    """A name for a question and all that can change its label, its calls by hand too."""
    text = f"{json.dumps(identity)}{_question_key(row)}{row['by_hand'] or ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]
