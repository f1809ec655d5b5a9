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
    """Requests in flight at a time, over the whole batch."""
    connect_seconds: Annotated[float, Field(gt=0, le=30)] = 2.0
    read_seconds: Annotated[float, Field(gt=0, le=30)] = 5.0
    """Upper limits; the deadline of the stage cuts them further."""
    max_attempts: Annotated[int, Field(ge=1, le=5)] = 2
    """Every call only reads, so that a lost connection or a 502, 503, 504 may be tried again."""
    max_response_bytes: Annotated[int, Field(ge=10_000, le=100_000_000)] = 8_000_000


class KgLimits(StrictModel):
    """What one question may cost, whatever a model wrote."""

    rows: Annotated[int, Field(ge=1, le=10_000)] = 2_000
    """Rows that a statement may hold."""
    calls: Annotated[int, Field(ge=1, le=2_000)] = 500
    """HTTP calls of one question; the films of a person cost one each."""


class KgWriterSettings(StrictModel):
    """How a question becomes calls (db3 3.2, "API Generation")."""

    adapter: str | None = None
    """Name in `language_model.adapters` (db3's tuned API generator)."""
    examples: Annotated[int, Field(ge=0, le=40)] = 6
    """Examples shown per question."""
    selection: Literal["similar", "fixed"] = "similar"
    """``similar``: the nearest of the bank, which db3 expected much of; ``fixed``: the same for every question."""
    fixed_examples: str = "agents/kg/writing/fixed"
    """Folder of the examples of selection ``fixed``, made by ``python -m training.choose_examples``, relative to the
    repository; the first `examples` of each domain are shown."""
    form: Literal["completion", "chat"] = "completion"
    """``chat``: an instruction through the model's chat template (db3 C.3); ``completion``: a text that the model goes
    on with, for small models. `benchmarks.kg_writing` measures which suits a model."""
    schema_in_prompt: bool = True
    """Show tables, keys and rules; a tuned model can do without."""
    schema_detail: Literal["names", "described"] = "names"
    """``names``: the keys of a table in a line, the rules in a few. ``described``: type and meaning of each key, and
    the rules one by one (db3 C.3)."""
    grammar: bool = True
    """Hold the output to the language's grammar where the engine can."""
    names_from_question: tuple[Literal["movie", "finance", "music", "sports", "open"], ...] = Field(
        default=(), strict=False
    )
    """Domains in which the grammar lets a call name only what stands in the question, word for word; small models copy
    names wrongly. An article may be about something that the question only describes."""
    repair: bool = True
    """Ask once more, with the named error, where the output cannot be read."""
    max_new_tokens: Annotated[int, Field(ge=16, le=512)] = 128


class KnowledgeGraphSettings(StrictModel):
    """The knowledge-graph path: question -> calls -> facts -> answer."""

    client: KgClientSettings = KgClientSettings()
    limits: KgLimits = KgLimits()
    writer: KgWriterSettings = KgWriterSettings()
    max_fact_tokens: Annotated[int, Field(ge=32, le=8_192)] = 800
    """Longer facts are cut, with the count told; counted with the answering model's tokenizer."""
    source_policy: Literal["graph_first", "by_dynamism", "together", "synthesis"] = "graph_first"
    """``graph_first``: an answer from the graph that is not "i don't know" is accepted (db3 3.1). ``together``: one
    answer from graph and web; where it is none, a value of the graph that answers by itself. ``synthesis``: always one
    answer from both and nothing else; the graph's facts lead where the answer changes slowly or never, the pages where
    it changes faster (WeKnow-RAG, "Integrated method", as it was submitted). ``by_dynamism``: no synthesis but a turn
    for each source: graph first where the answer changes slowly or never, together where it changes fast, web first
    where it changes by the minute."""
    direct_answers: bool = False
    """Where the graph gives just the value that was asked for, it is the answer, and no model repeats it."""
    derived_answers: bool = False
    """Where rules can compute the answer from the graph's values (which is larger, how many days between ...), their
    result is the answer (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    answer_prompt: AnswerPromptName = "graph"
    """The prompt of answers from the graph's facts."""
    answer_adapter: str | None = None
    """Name in `language_model.adapters` for the same (db3 3.3)."""
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
    """Entities named by the language model (db3), asked in the words of the domain that the router gives; or names of
    the tables found in the question, which needs neither."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; a domain that is not named is matched exactly."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists within a paragraph are cut and their length told."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """Of the names that the model writes for one question (method ``prompt``)."""
