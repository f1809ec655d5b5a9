"""The knowledge-graph path: question -> calls of the call language -> facts (db3 section 3).

The package's interface is `open_knowledge_graph`. A question passes through these modules in order; `path` runs them
for a batch:

1. Calls are written in `writing`: it chooses examples, prompts a language model and repairs unreadable calls.
2. Calls are parsed in `language`: `parse` makes a `Program` of the text, `render` writes it in canonical form.
3. Calls are run in `executor` (a batch) and `program_run` (one program). The functions in `tables` fill the rows of
   each table through `client`; `conditions` filters and sorts them, `statement_rows` takes and counts them.
4. Rows are turned into sentences in `verbalise`, values and keys into words in `wording`; articles into pages in
   `articles`, also those whose titles stand in a question (`titles`).
5. A direct answer is looked for in `derive`, by rules over the question with masked names (`masked_question`).

`schema` defines tables and keys, `results` what statements give, `endpoints` the requests to the server, `records` the
shapes of its records, `entities` the names of teams and companies, `share_classes` the classes of shares, `context`
what is noted while the rows of a call are looked up, `wiki_markup` the plain text of articles.
"""

from collections.abc import Sequence
from typing import TypeAlias

from crag.core.contracts import Page, Query
from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import LanguageModel
from crag.graph.path import UNASKED, KnowledgeGraphPath, Lookup
from crag.graph.writing import BankError
from crag.settings import KG_VARIABLE, KnowledgeGraphSettings, SettingsError, graph_address

__all__ = [
    "UNASKED",
    "KnowledgeGraph",
    "KnowledgeGraphPath",
    "Lookup",
    "NoKnowledgeGraph",
    "open_knowledge_graph",
]


class NoKnowledgeGraph:
    """Task 1: there is no knowledge graph."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to release."""

    def look_up(
        self,
        queries: Sequence[Query],
        domains: Sequence[str | None],
        deadline: Deadline,
    ) -> list[Lookup]:
        """An empty lookup per query."""
        return [Lookup() for _ in queries]

    def find_articles(self, queries: Sequence[Query], deadline: Deadline) -> list[tuple[Page, ...]]:
        """No articles for any query."""
        return [() for _ in queries]


KnowledgeGraph: TypeAlias = KnowledgeGraphPath | NoKnowledgeGraph
"""Looks up all questions of a batch."""


def open_knowledge_graph(
    settings: KnowledgeGraphSettings | None,
    model: LanguageModel,
    dense: DenseEncoder | None,
    kg_url: str = "",
) -> KnowledgeGraph:
    """The knowledge graph for the preset's settings, or none without `kg_url` and the evaluator's environment variable.

    Raises SettingsError: the address is not http, or the preset's folder of examples cannot be used.
    """
    address = graph_address(kg_url)
    if settings is None or not address:
        return NoKnowledgeGraph()
    try:
        return KnowledgeGraphPath(
            settings,
            address,
            model,
            dense,
        )
    except BankError:  # a ValueError too, but it names a file of examples
        raise
    # The message says where the wrong address was set
    except ValueError as error:
        source = "kg_url" if kg_url else f"the environment variable {KG_VARIABLE}"
        raise SettingsError(f"{source}: {error}; without it there is no knowledge graph") from None
