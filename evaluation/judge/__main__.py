"""`python -m evaluation.judge --in FILE --out FILE`: judge the predictions of a file, row by row."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from agents.datasets import DatasetError, Record, alternative_answers, read_records, write_rows
from evaluation.judge import JUDGE_NAMES, Claim, Judge, JudgeUnavailableError, make_judge
from evaluation.judge.base import judge_claims
from evaluation.trim import Trim, official_trim

_ROWS_AT_ONCE = 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file. Exit code: 0 done, 2 the file or the judge cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.judge",
        description="Rows {query, ground_truth or answer, alt_ans?, prediction} get verdict (correct, incorrect, "
        "missing or unscored) and reason. Files ending in .bz2 are packed.",
    )
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines")
    parser.add_argument("--out", dest="target", metavar="FILE", type=Path, required=True, help="JSON lines")
    parser.add_argument("--judge", choices=JUDGE_NAMES, default="rules", help="default: rules")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    try:
        write_rows(options.target, judged_rows(options.source, make_judge(options.judge), official_trim(), counts))
    except (DatasetError, JudgeUnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {options.target}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(
        f"{sum(counts.values())} judged: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    )
    return 0


def judged_rows(source: Path, judge: Judge, trim: Trim, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The rows of the file with their verdicts; `counts` counts these.

    Raises:
        DatasetError: a row lacks a field.
    """
    records = read_records(source)
    while some := list(islice(records, _ROWS_AT_ONCE)):
        judgements = judge_claims(judge, [claim_of(record) for record in some], trim.cut)
        for record, judgement in zip(some, judgements, strict=True):
            counts[judgement.verdict.value] += 1
            yield {**record.data, "verdict": judgement.verdict.value, "reason": judgement.reason}


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


if __name__ == "__main__":
    sys.exit(main())
