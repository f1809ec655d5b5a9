"""Finding mentions with the language model: one call for the names of a batch (db3 section 2.3, "Entity Prompt").

The domain of a question is what the router says; db3's domain prompt is one of `agents.questions.prompt_router`. The
wording is ours; the parts of the prompt and the ``&&`` between names are those of the paper.
"""

from collections.abc import Mapping, Sequence

from agents.contracts import I_DONT_KNOW, Query
from agents.deadline import Deadline
from agents.llm.base import GenerationRequest, LanguageModel, Message
from agents.public_data.names import normalise
from agents.public_data.questions import Mention

SEPARATOR = "&&"
NOTHING = "none"
MAX_NAME_WORDS = 15
MAX_NAMES = 6
"""A model that writes more names is rambling."""

_NO_NAME = frozenset({"", NOTHING, "n/a", "unknown", "i dont know", I_DONT_KNOW})

_ENTITY_SYSTEM = "You find names in questions. You reply with the names alone, in few words, and never answer."
_ENTITY_USER = (
    "List {what} that the question is about. Put && between several names. Reply none if there is none.\n"
    "{examples}\nQuestion: {query}\nNames:"
)
_WHAT = {
    "movie": "the movie titles, people and film awards",
    "music": "the artists, bands, songs, albums and music awards",
    "finance": "the companies and ticker symbols",
}
_EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "movie": (
        ("which is longer, notting hill or roman holiday?", "notting hill && roman holiday"),
        ("how old was agnès varda when she made her first feature?", "agnès varda"),
        ("who received the oscar for best costume design in 1996?", "best costume design"),
        ("how is a stunt insured?", NOTHING),
    ),
    "music": (
        ("who wrote the song wuthering heights?", "wuthering heights"),
        ("did blur or pulp form earlier?", "blur && pulp"),
        ("who took home the grammy for best polka album in 2001?", "best polka album"),
        ("how many strings does a harp have?", NOTHING),
    ),
    "finance": (
        ("is the p/e ratio of hsy above that of hormel foods?", "hsy && hormel foods"),
        ("when did kellogg last pay a dividend?", "kellogg"),
        ("what does a market maker do?", NOTHING),
    ),
}


class PromptFinder:
    """Asks the model which names a question is about, where its domain is known and has tables."""

    def __init__(self, model: LanguageModel, max_new_tokens: int) -> None:
        self._model = model
        self._max_new_tokens = max_new_tokens

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """Mentions of each question; none where the model fails, writes something else, or time runs out.

        Raises:
            agents.llm.LanguageModelDiedError: the engine itself is gone.
        """
        asked = [(place, domain) for place, domain in enumerate(domains) if domain in _WHAT]
        messages = [_entity_messages(queries[place].text, domain) for place, domain in asked]
        found: list[list[Mention]] = [[] for _ in queries]
        for (place, domain), reply in zip(asked, self._ask(messages, deadline), strict=True):
            names = without_echoes(parse_names(reply), queries[place].text, domain)
            found[place] = [Mention(name, domain) for name in names]
        return found

    def _ask(self, messages: Sequence[tuple[Message, ...]], deadline: Deadline) -> list[str]:
        """One text per prompt, empty where there is none; a single call of the model."""
        if not messages or deadline.expired:
            return [""] * len(messages)
        requests = [GenerationRequest(messages=own, max_tokens=self._max_new_tokens, stop=("\n",)) for own in messages]
        generations = self._model.generate(requests, deadline)[: len(requests)]
        texts = [made.text if made.finish_reason in {"stop", "length"} else "" for made in generations]
        return texts + [""] * (len(messages) - len(texts))


def parse_names(reply: str) -> list[str]:
    """The names between the ``&&`` of the first line that has any; none where it does not read like names."""
    line = next((line for line in reply.splitlines() if line.strip()), "")
    names = [part.strip(" \t\"'“”*.:") for part in line.split(SEPARATOR)]
    names = [name for name in names if name.lower() not in _NO_NAME and len(name.split()) <= MAX_NAME_WORDS]
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) <= MAX_NAMES else []


def without_echoes(names: Sequence[str], question: str, domain: str) -> list[str]:
    """The names without those that a weak model copied from the examples of the prompt."""
    asked = normalise(question)
    shown = {normalise(name) for _, answer in _EXAMPLES[domain] for name in answer.split(SEPARATOR)}
    foreign = [name for name in shown if f" {name} " not in f" {asked} "]
    return [name for name in names if not any(f" {other} " in f" {normalise(name)} " for other in foreign)]


def _entity_messages(question: str, domain: str) -> tuple[Message, Message]:
    examples = "\n".join(f"Question: {asked}\nNames: {names}" for asked, names in _EXAMPLES[domain])
    user = _ENTITY_USER.format(what=_WHAT[domain], examples=examples, query=question)
    return Message("system", _ENTITY_SYSTEM), Message("user", user)
