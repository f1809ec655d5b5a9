"""An agent of your own: `python local_evaluation.py --agent examples.own_agent:TitleAgent`."""

from collections.abc import Mapping, Sequence
from typing import Any


class TitleAgent:
    """Answers with the name of the first page."""

    def get_batch_size(self) -> int:
        """From 1 to 16 questions at a time."""
        return 8

    def batch_generate_answer(self, batch: Mapping[str, Sequence[Any]]) -> list[str]:
        """One answer for each question; the batch has the columns interaction_id, query, search_results, query_time."""
        return [pages[0]["page_name"] if pages else "i don't know" for pages in batch["search_results"]]
