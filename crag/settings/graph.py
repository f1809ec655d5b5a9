"""Settings of the knowledge graph path: the call writer and which source may answer."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crag.core.environment import read_variable
from crag.core.text import is_server_address, without_credentials
from crag.settings.answering import AnswerPromptName, DomainName
from crag.settings.base import StrictModel
from crag.settings.errors import SettingsError
from crag.settings.places import LocalPath

KG_VARIABLE = "CRAG_MOCK_API_URL"
"""Environment variable with the address of the graph's server (tasks 2 and 3); without it there is none (task 1)."""


def graph_address(kg_url: str | None = None) -> str:
    """`kg_url`, or else the address in the evaluator's environment variable; empty without either.

    Raises SettingsError: it is no address of a server; the message says where it was set.
    """
    address = kg_url or read_variable(KG_VARIABLE)
    if not address or is_server_address(address):
        return address

    source = "kg_url" if kg_url else f"the environment variable {KG_VARIABLE}"
    raise SettingsError(
        f"{source}: {without_credentials(address)!r} is not an address such as http://127.0.0.1:8000; "
        "without it there is no knowledge graph"
    )


_Domains = Annotated[tuple[DomainName, ...], Field(strict=False)]


class KgWriterSettings(StrictModel):
    """How a question becomes calls (db3 3.2, "API Generation")."""

    adapter: str | None = None
    """Name in `language_model.adapters` (db3's tuned API generator)."""

    # The prompt.
    examples: Annotated[int, Field(ge=0, le=40)] = 6
    """Examples shown per question."""
    selection: Literal["similar", "fixed"] = "similar"
    """``similar``: the nearest of the bank; ``fixed``: the same for every question (db3)."""
    fixed_examples: LocalPath = "crag/graph/writing/fixed"
    """Folder from ``crag train choose-examples``, relative to the repository."""
    form: Literal["completion", "chat", "question"] = "completion"
    """``chat``: an instruction through the chat template (db3 C.3); ``completion``: raw text to continue, for small
    models. ``question``: the question alone, for a model tuned by ``crag train adapters kg_writer --config cpu``; it
    writes the domain, then the calls, and reads no examples. `crag bench kg-writing` measures each for a model."""
    schema_in_prompt: bool = True
    """Show tables, keys and rules; a tuned model does not need them."""
    schema_detail: Literal["names", "described"] = "names"
    """``names``: keys in one line, short rules. ``described``: type and meaning of each key, each rule (db3 C.3)."""

    # The output.
    grammar: bool = True
    """Constrain the output by the language's grammar if the engine can."""
    names_from_question: _Domains = ()
    """Domains whose grammar allows only names from the question, word for word: small models copy names wrongly."""
    repair: bool = True
    """Repeat the request, with the error, if the output cannot be parsed."""
    max_new_tokens: Annotated[int, Field(ge=16, le=512)] = 128

    @model_validator(mode="after")
    def _a_tuned_writer_names_freely(self) -> "KgWriterSettings":
        if self.form == "question" and self.names_from_question:
            raise ValueError("names_from_question is for writers that read examples: form question names freely")
        return self


class KnowledgeGraphSettings(StrictModel):
    """The knowledge-graph path: question -> calls -> facts -> answer."""

    writer: KgWriterSettings = KgWriterSettings()
    max_fact_tokens: Annotated[int, Field(ge=32, le=8_192)] = 800
    """Longer facts are cut; in tokens of the answering model."""

    # Which source answers, and how.
    source_policy: Literal["graph_first", "synthesis"] = "graph_first"
    """``graph_first``: the graph answers unless it says "i don't know" (db3 3.1). ``synthesis``: one answer from both;
    the graph's facts come first if the answer changes slowly or never (WeKnow-RAG, "Integrated method")."""
    direct_answers: bool = False
    """A single value of the graph is the answer, without the model."""
    derived_answers: bool = False
    """Rules compute answers from the graph's values (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    read_facts_of: _Domains = ("movie", "finance", "music", "sports", "open")
    """Domains of the graph whose facts the model reads where no value was given (db3 3.3). Without effect in
    ``synthesis``, where facts and pages share a context."""
    articles: Literal["facts", "pages"] = "facts"
    """``facts``: the beginning of an article is a fact like any other. ``pages``: articles are read like pages, by the
    passages that fit the question, also those whose titles stand in the question. Needs `web.after_graph`."""
    answer_prompt: AnswerPromptName = "graph"
    answer_adapter: str | None = None
    """Prompt and adapter of answers from the graph's facts (db3 3.3)."""
    graph_only_domains: _Domains = ()
    """Domains whose questions are never answered from the web (the USTC team: sports and finance)."""
    answer_not_found: bool = False
    """Also ask the model where the graph has nothing, with what was asked: db3's tuned answerer knows from it when a
    question is invalid (3.3)."""
    ask_above: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Write no calls for a question whose probability of an answer in the graph's tables is not above this."""
    invalid_without_game: bool = False
    """Answer "invalid question" if a dated sports question matches no game, without asking the model."""
    drop_doubtful_calls: bool = True
    """Drop calls with a date for which the question gives no reason: small models copy dates from the examples."""

    @model_validator(mode="after")
    def _adapter_has_facts_to_read(self) -> "KnowledgeGraphSettings":
        if self.answer_adapter is not None and not self.read_facts_of:
            raise ValueError("answer_adapter is for a model that reads facts, but read_facts_of names no domain")
        return self
