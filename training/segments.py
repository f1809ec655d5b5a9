"""Turn questions with retrieved segments into questions of local_evaluation.py: each segment becomes a page.

    python -m training.segments --contexts FILE --out questions.jsonl

A row of FILE holds a question and its `segments`, a list of ``{score, text}`` with the page's title before a line with
a colon. A question that occurs twice, with the segments of two searches, is asked twice.
"""

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agents.common.files import write_rows
from crag.command import add_split_argument, command, end_with, parser_of
from evaluation.datasets import DatasetError, Split, read_records


def questions_of(path: Path, split: Split | None = None) -> Iterator[dict[str, Any]]:
    """The rows of the file with `search_results`, in the order of the search; `DatasetError` names a faulty field."""
    for record in read_records(path, split=split):
        row = {name: value for name, value in record.data.items() if name not in {"segments", "run"}}
        segments = record.data.get("segments")
        if not isinstance(segments, list):
            raise DatasetError(f'{record.place}, field "segments": expected a list of segments')
        if not all(isinstance(segment, dict) and isinstance(segment.get("text"), str) for segment in segments):
            raise DatasetError(f'{record.place}, field "segments": each must be an object with a "text"')
        yield {**row, "search_results": [_page(s["text"], rank) for rank, s in enumerate(segments)]}


def _page(segment: str, rank: int) -> dict[str, str]:
    title, colon, body = segment.partition("\n:\n")
    if not colon:
        title, body = "", segment
    # Two blanks at the end of a line are a break in Markdown; other line ends are mere wrapping.
    lines = "<br>".join(html.escape(line) for line in body.split("  \n"))
    paragraphs = "".join(f"<p>{text}</p>" for text in lines.split("\n\n") if text.strip())
    return {
        "page_name": title,
        "page_url": f"https://segments.example/{rank}",
        "page_snippet": "",
        "page_result": f"<html><body><main>{paragraphs}</main></body></html>",
        "page_last_modified": "",
    }


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the question file. Exit code: 2 if the input cannot be read."""
    parser = parser_of("python -m training.segments", __doc__)
    parser.add_argument("--contexts", type=Path, required=True, metavar="FILE", help="rows with segments")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines for local_evaluation.py --dataset")
    add_split_argument(parser)
    options = parser.parse_args(arguments)
    write_rows(options.out, questions_of(options.contexts, options.split))
    options.split.report()


if __name__ == "__main__":
    end_with(main)
