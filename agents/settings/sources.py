"""Sources beside the web: the knowledge graph, and the facts shipped with a submission."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from agents.settings.answering import AnswerPromptName
from agents.settings.base import StrictModel


class KgClientSettings(StrictModel):
    """How the mock knowledge graph's HTTP server is asked."""

    url_variable: str = "CRAG_MOCK_API_URL"
    """Environment variable with the server's address; without it there is no knowledge graph (task 1)."""
    concurrency: Annotated[int, Field(ge=1, le=64)] = 16
    """Requests in flight, over the whole batch."""
    connect_seconds: Annotated[float, Field(gt=0, le=30)] = 2.0
    read_seconds: Annotated[float, Field(gt=0, le=30)] = 5.0
    """Upper limits; the deadline of the stage cuts them further."""
    max_attempts: Annotated[int, Field(ge=1, le=5)] = 2
    """After a lost connection or a 502, 503, 504; every call only reads."""
    max_response_bytes: Annotated[int, Field(ge=10_000, le=100_000_000)] = 8_000_000


class KgLimits(StrictModel):
    """The most that one question may cost."""

    rows: Annotated[int, Field(ge=1, le=10_000)] = 2_000
    """Rows that a statement may hold."""
    calls: Annotated[int, Field(ge=1, le=2_000)] = 500
    """HTTP calls; the films of a person cost one each."""


class KgWriterSettings(StrictModel):
    """How a question becomes calls (db3 3.2, "API Generation")."""

    adapter: str | None = None
    """Name in `language_model.adapters` (db3's tuned API generator)."""
    examples: Annotated[int, Field(ge=0, le=40)] = 6
    """Examples shown per question."""
    selection: Literal["similar", "fixed"] = "similar"
    """``similar``: the nearest of the bank; ``fixed``: the same for every question (db3)."""
    fixed_examples: str = "agents/kg/writing/fixed"
    """Folder, relative to the repository, made by ``python -m training.choose_examples``."""
    form: Literal["completion", "chat"] = "completion"
    """``chat``: an instruction through the chat template (db3 C.3); ``completion``: a text to continue, for small
    models. `benchmarks.kg_writing` measures which suits a model."""
    schema_in_prompt: bool = True
    """Show tables, keys and rules; a tuned model does not need them."""
    schema_detail: Literal["names", "described"] = "names"
    """``names``: keys in a line, rules in a few. ``described``: type and meaning of each key, each rule (db3 C.3)."""
    grammar: bool = True
    """Constrain the output by the language's grammar where the engine can."""
    names_from_question: tuple[Literal["movie", "finance", "music", "sports", "open"], ...] = Field(
        default=(), strict=False
    )
    """Domains in which the grammar allows only names from the question, word for word: small models copy names
    wrongly."""
    repair: bool = True
    """Repeat the request, with the error, where the output cannot be parsed."""
    max_new_tokens: Annotated[int, Field(ge=16, le=512)] = 128


class KnowledgeGraphSettings(StrictModel):
    """The knowledge-graph path: question -> calls -> facts -> answer."""

    client: KgClientSettings = KgClientSettings()
    limits: KgLimits = KgLimits()
    writer: KgWriterSettings = KgWriterSettings()
    max_fact_tokens: Annotated[int, Field(ge=32, le=8_192)] = 800
    """Longer facts are cut; in tokens of the answering model."""
    source_policy: Literal["graph_first", "by_dynamism", "together", "synthesis"] = "graph_first"
    """``graph_first``: an answer from the graph that is not "i don't know" is accepted (db3 3.1). ``together``: one
    answer from graph and web; where it is none, a value of the graph that answers by itself. ``synthesis``: always one
    answer from both and nothing else; the graph's facts lead where the answer changes slowly or never, the pages where
    it changes faster (WeKnow-RAG, "Integrated method", as it was submitted). ``by_dynamism``: no synthesis but a turn
    for each source: graph first where the answer changes slowly or never, together where it changes fast, web first
    where it changes by the minute."""
    direct_answers: bool = False
    """A single value of the graph is the answer, without the model."""
    derived_answers: bool = False
    """Rules compute answers from the graph's values (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    answer_prompt: AnswerPromptName = "graph"
    answer_adapter: str | None = None
    """Prompt and adapter of answers from the graph's facts (db3 3.3)."""
    graph_only_domains: tuple[Literal["movie", "finance", "music", "sports", "open"], ...] = Field(
        default=(), strict=False
    )
    """Questions of these domains are never answered from the web (the USTC team: sports and finance)."""
    invalid_without_game: bool = False
    """Answer "invalid question" where a dated sports question matches no game: evidence of a false premise (db3)."""


LinkLevel = Literal["exact", "substring", "similarity"]


class LinkSettings(StrictModel):
    """How unlike a name of the tables a mention may be (db3 2.3: from strict to lenient, by domain)."""

    level: LinkLevel = "exact"
    """Each level includes the stricter ones."""
    minimum_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """Cosine of the dense encoder's vectors below which two names are not the same (level ``similarity``).

    Measured with bge-small-en-v1.5 on the shipped names, one typo each: 0.8 links 38 % of films and awards rightly and
    2 % wrongly. Names of companies are too much alike for it (33 % and 23 %): keep them at ``substring``.
    """


class PublicDataSettings(StrictModel):
    """Facts shipped with the submission and how a question finds them (db3 2.3)."""

    tables: str | None = None
    """Folder made by ``python -m agents.public_data build``, relative to the repository; None: the shipped one."""
    method: Literal["prompt", "spans"] = "prompt"
    """``prompt``: the language model names entities, prompted for the router's domain (db3). ``spans``: names of the
    tables are found in the question."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; a domain that is not named is matched exactly."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists in a paragraph are cut."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """For the entities of one question (method ``prompt``)."""
