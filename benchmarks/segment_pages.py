"""Pages made of published search-result segments, for more recall figures than ten questions with whole pages can give.

Some public files hold, for each CRAG question, the segments that another system retrieved (`segments`: a list of score
and text) but not the pages. A question's own segments, shuffled, become one page; those of four other questions become
the rest. Such pages are all content and no markup: they say something about recall, and nothing about extraction.
"""

import html
import random
from collections.abc import Sequence
from typing import Any

OTHER_QUESTIONS = 4


def with_pages(rows: Sequence[dict[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    """The rows with `search_results` made of segments; rows that have search results already stay as they are."""
    order = random.Random(seed)  # noqa: S311 - repeatable, not secret
    having = [row for row in rows if row.get("segments")]
    result = []
    for row in rows:
        if row.get("search_results") or not row.get("segments"):
            result.append(row)
            continue
        others = order.sample([other for other in having if other is not row], min(OTHER_QUESTIONS, len(having) - 1))
        pages = [_page(source["segments"], rank, order) for rank, source in enumerate([row, *others])]
        result.append({**row, "search_results": pages})
    return result


def _page(segments: Sequence[dict[str, Any]], rank: int, order: random.Random) -> dict[str, str]:
    texts = [str(segment["text"]) for segment in segments]
    order.shuffle(texts)
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    body = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    return {
        "page_name": "",
        "page_url": f"https://segments.example/{rank}",
        "page_snippet": "",
        "page_result": f"<html><body><main>{body}</main></body></html>",
        "page_last_modified": "",
    }
