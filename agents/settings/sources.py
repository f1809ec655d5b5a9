"""Sources other than the web: the knowledge graph, and facts shipped with a submission."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from agents.settings.answering import AnswerPromptName
from agents.settings.base import StrictModel

KG_VARIABLE = "CRAG_MOCK_API_URL"
"""Environment variable with the address of the graph's server; without it there is no knowledge graph (task 1)."""
_Domains = Annotated[tuple[Literal["movie", "finance", "music", "sports", "open"], ...], Field(strict=False)]


class KgWriterSettings(StrictModel):
    """How a question becomes calls (db3 3.2, "API Generation")."""

    adapter: str | None = None
    """Name in `language_model.adapters` (db3's tuned API generator)."""
    examples: Annotated[int, Field(ge=0, le=40)] = 6
    """Examples shown per question."""
    selection: Literal["similar", "fixed"] = "similar"
    """``similar``: the nearest of the bank; ``fixed``: the same for every question (db3)."""
    fixed_examples: str = "agents/kg/writing/fixed"
    """Folder from ``python -m training.choose_examples``, relative to the repository."""
    form: Literal["completion", "chat"] = "completion"
    """``chat``: an instruction through the chat template (db3 C.3); ``completion``: a text to continue, for small
    models. `benchmarks.kg_writing` compares them for a model."""
    schema_in_prompt: bool = True
    """Show tables, keys and rules; a tuned model does not need them."""
    schema_detail: Literal["names", "described"] = "names"
    """``names``: keys in one line, short rules. ``described``: type and meaning of each key, each rule (db3 C.3)."""
    grammar: bool = True
    """Constrain the output by the language's grammar if the engine can."""
    names_from_question: _Domains = ()
    """Domains whose grammar allows only names from the question, word for word: small models copy names wrongly."""
    repair: bool = True
    """Repeat the request, with the error, if the output cannot be parsed."""
    max_new_tokens: Annotated[int, Field(ge=16, le=512)] = 128


class KnowledgeGraphSettings(StrictModel):
    """The knowledge-graph path: question -> calls -> facts -> answer."""

    writer: KgWriterSettings = KgWriterSettings()
    max_fact_tokens: Annotated[int, Field(ge=32, le=8_192)] = 800
    """Longer facts are cut; in tokens of the answering model."""
    source_policy: Literal["graph_first", "synthesis"] = "graph_first"
    """``graph_first``: the graph answers unless it says "i don't know" (db3 3.1). ``synthesis``: always one answer
    from both; the graph's facts come first if the answer changes slowly or never, otherwise the pages (WeKnow-RAG,
    "Integrated method", as submitted)."""
    direct_answers: bool = False
    """A single value of the graph is the answer, without the model."""
    derived_answers: bool = False
    """Rules compute answers from the graph's values (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    answer_prompt: AnswerPromptName = "graph"
    answer_adapter: str | None = None
    """Prompt and adapter of answers from the graph's facts (db3 3.3)."""
    graph_only_domains: _Domains = ()
    """Domains whose questions are never answered from the web (the USTC team: sports and finance)."""
    invalid_without_game: bool = False
    """Answer "invalid question" if a dated sports question matches no game: evidence of a false premise (db3)."""


LinkLevel = Literal["exact", "substring", "similarity"]


class LinkSettings(StrictModel):
    """How much a mention may differ from a name in the tables (db3 2.3: from strict to lenient, by domain)."""

    level: LinkLevel = "exact"
    """Each level includes the stricter ones."""
    minimum_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """Lowest cosine of the vectors of two equal names (level ``similarity``). With bge-small-en-v1.5 and one typo a
    name, 0.8 links 38 % of films and awards correctly and 2 % wrongly, of companies 33 % and 23 %."""


class PublicDataSettings(StrictModel):
    """Facts shipped with the submission, and how to find them (db3 2.3)."""

    tables: str | None = None
    """Folder made by ``python -m agents.public_data build``, relative to the repository; None: the shipped one."""
    method: Literal["prompt", "spans"] = "prompt"
    """``prompt``: the language model names entities, with a prompt for the router's domain (db3). ``spans``: finds
    names of the tables in the question."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; other domains need exact names."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists in a paragraph are cut."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """For the entities of one question (method ``prompt``)."""
