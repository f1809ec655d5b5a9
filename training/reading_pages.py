"""Turn reading sets into questions of local_evaluation.py with five pages each, to fit and measure P(correct).

    python -m training.reading_pages --count 500 --out questions.jsonl

A page holds the passages of one title. The other pages are of titles whose words are nearest to the question's (BM25).
Where a question has no answer in its set, or by chance (--without-answer), no page holds it; its gold answer is
"i don't know". One title in eight is kept for P(correct); `--to-train` draws from the others, for an adapter.
"""

import argparse
import hashlib
import html
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agents.common.console import end_with
from agents.common.contracts import I_DONT_KNOW
from agents.common.files import write_rows
from evaluation.datasets import read_records
from training.command import exit_code, parser_of
from training.examples import row_of

READING = Path(__file__).parents[1].parent / "shared/data/reading"
PAGES = 5
PASSAGES_OF_A_PAGE = 8
KEPT_PART = 8
"""One title of so many is kept for runs that fit and measure P(correct)."""


class ReadingRow(BaseModel):
    """A question about a passage; `answers` are alternatives."""

    id: str
    source: str
    question: str
    title: str
    passage: str
    answers: list[str]
    answerable: bool


def is_kept(title: str) -> bool:
    """Whether the title is kept for P(correct), so that no adapter sees it."""
    return hashlib.sha256(title.encode()).digest()[0] % KEPT_PART == 0


def questions_of(
    rows: Sequence[ReadingRow], count: int, without_answer: float, seed: int, *, kept: bool = True
) -> Iterator[dict[str, Any]]:
    """At most `count` questions of one set with their pages, drawn from the kept titles or from the others."""
    from rank_bm25 import BM25Okapi

    passages: dict[str, list[str]] = {}
    for row in rows:
        if row.passage not in passages.setdefault(row.title, []):
            passages[row.title].append(row.passage)
    titles = list(passages)
    index = BM25Okapi([" ".join([title, *passages[title]]).casefold().split() for title in titles])
    rng = random.Random(seed)  # noqa: S311 - reproducible chance
    own = [*{row.id: row for row in rows if is_kept(row.title) is kept}.values()]
    for row in rng.sample(own, min(count, len(own))):
        shown = row.answerable and rng.random() >= without_answer
        scores = index.get_scores(row.question.casefold().split())
        order = sorted(range(len(titles)), key=lambda place: -scores[place])
        others = [titles[place] for place in order[: PAGES + 1] if titles[place] != row.title]
        keeps_own = shown or not row.answerable
        chosen = ([row.title] if keeps_own else []) + others
        pages = [_page(title, _around(row, passages) if title == row.title else passages[title]) for title in chosen]
        rng.shuffle(pages := pages[:PAGES])
        yield {
            "interaction_id": row.id,
            "query": row.question,
            "query_time": "03/10/2024, 12:00:00 PT",
            "domain": "open",
            "question_type": "simple",
            "static_or_dynamic": "static",
            "answer": row.answers[0] if shown else I_DONT_KNOW,
            "alt_ans": row.answers[1:] if shown else [],
            "split": 0,
            "search_results": [page | {"page_url": f"https://pages.example/{rank}"} for rank, page in enumerate(pages)],
        }


def _around(row: ReadingRow, passages: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The passages of the row's title beside its own one, because a page is limited."""
    own = passages[row.title]
    place = own.index(row.passage)
    start = max(0, min(place - PASSAGES_OF_A_PAGE // 2, len(own) - PASSAGES_OF_A_PAGE))
    return own[start : start + PASSAGES_OF_A_PAGE]


def _page(title: str, passages: Sequence[str]) -> dict[str, str]:
    text = "".join(f"<p>{html.escape(passage)}</p>" for passage in passages[:PASSAGES_OF_A_PAGE])
    return {
        "page_name": title,
        "page_snippet": "",
        "page_result": f"<html><body><main><h1>{html.escape(title)}</h1>{text}</main></body></html>",
        "page_last_modified": "",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the question file. Exit code: 1 if the input cannot be read."""
    parser = parser_of("training.reading_pages", __doc__)
    parser.add_argument("--reading", type=Path, default=READING, help="folder of reading sets (%(default)s)")
    parser.add_argument("--count", type=int, default=100, help="questions of each set (%(default)s)")
    share = "share of the answerable questions whose page is left out (%(default)s)"
    parser.add_argument("--without-answer", type=float, default=0.2, help=share)
    parser.add_argument("--to-train", action="store_true", help="draw from the titles that P(correct) does not need")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines for local_evaluation.py --dataset")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    made: list[dict[str, Any]] = []
    for path in sorted(options.reading.glob("*.jsonl*")):
        rows = [row_of(record, ReadingRow) for record in read_records(path)]
        made += questions_of(rows, options.count, options.without_answer, options.seed, kept=not options.to_train)
    random.Random(options.seed).shuffle(made)  # noqa: S311 - reproducible chance
    write_rows(options.out, made)
    sys.stdout.write(f"wrote {len(made)} questions to {options.out}\n")
    return 0


if __name__ == "__main__":
    end_with(main)
