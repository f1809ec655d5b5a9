"""Finds mentions with the language model, in one call for a batch (db3 section 2.3, "Entity Prompt").

The wording is ours; the parts of the prompt and the ``&&`` between names are db3's.
"""

from collections.abc import Mapping, Sequence

from crag.core.contracts import I_DONT_KNOW, Query
from crag.core.deadline import Deadline
from crag.engines.llm.base import GenerationRequest, LanguageModel, Message
from crag.facts.mentions import Mention
from crag.text.matching import plain_name

NAME_SEPARATOR = "&&"
NO_NAMES = "none"
MAX_NAME_WORDS = 15
MAX_NAMES = 6
"""A model that writes more names is rambling."""

_NO_NAME = frozenset({"", NO_NAMES, "n/a", "unknown", "i dont know", I_DONT_KNOW})

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
        ("how is a stunt insured?", NO_NAMES),
    ),
    "music": (
        ("who wrote the song wuthering heights?", "wuthering heights"),
        ("did blur or pulp form earlier?", "blur && pulp"),
        ("who took home the grammy for best polka album in 2001?", "best polka album"),
        ("how many strings does a harp have?", NO_NAMES),
    ),
    "finance": (
        ("is the p/e ratio of hsy above that of hormel foods?", "hsy && hormel foods"),
        ("when did kellogg last pay a dividend?", "kellogg"),
        ("what does a market maker do?", NO_NAMES),
    ),
}


class PromptFinder:
    """Asks the model which names a question is about, if its domain is known and has tables."""

    def __init__(self, model: LanguageModel, max_new_tokens: int) -> None:
        self._model = model
        self._max_new_tokens = max_new_tokens

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """The mentions of each question; none if the model fails, writes something else, or time runs out."""
        mentions: list[list[Mention]] = [[] for _ in queries]
        positions = [position for position, domain in enumerate(domains) if domain in _WHAT]
        if not positions or deadline.expired:
            return mentions

        requests: list[GenerationRequest] = []
        for position in positions:
            messages = _entity_messages(queries[position].text, str(domains[position]))
            requests.append(
                GenerationRequest(
                    messages=messages,
                    max_tokens=self._max_new_tokens,
                    stop=("\n",),
                )
            )

        replies = self._model.generate(requests, deadline)
        for position, reply in zip(positions, replies, strict=False):  # a failing model may return fewer
            if reply.finish_reason not in {"stop", "length"}:
                continue
            domain = str(domains[position])
            names = parse_names(reply.text)
            names = without_echoes(names, queries[position].text, domain)
            mentions[position] = [Mention(name, domain) for name in names]
        return mentions


def _entity_messages(question: str, domain: str) -> tuple[Message, Message]:
    examples = "\n".join(f"Question: {example}\nNames: {names}" for example, names in _EXAMPLES[domain])
    user = _ENTITY_USER.format(what=_WHAT[domain], examples=examples, query=question)
    return Message("system", _ENTITY_SYSTEM), Message("user", user)


def parse_names(reply: str) -> list[str]:
    """The names between the ``&&`` of the first line that has any; none if it does not read like names.

    >>> parse_names('"Heat" && **Ronin**.')
    ['Heat', 'Ronin']
    """
    first_line = next((line for line in reply.splitlines() if line.strip()), "")
    names: dict[str, None] = {}
    for part in first_line.split(NAME_SEPARATOR):
        name = part.strip(" \t\"'“”*.:")
        if name.lower() not in _NO_NAME and len(name.split()) <= MAX_NAME_WORDS:
            names[name] = None
    return list(names) if len(names) <= MAX_NAMES else []


def without_echoes(names: Sequence[str], question: str, domain: str) -> list[str]:
    """The names without those that a weak model copied from the examples of the prompt."""
    padded_question = f" {plain_name(question)} "
    # Names of the examples, unless the question itself has them.
    foreign: set[str] = set()
    for _, answer in _EXAMPLES[domain]:
        for name in answer.split(NAME_SEPARATOR):
            padded_name = f" {plain_name(name)} "
            if padded_name not in padded_question:
                foreign.add(padded_name)

    kept_names: list[str] = []
    for name in names:
        padded_name = f" {plain_name(name)} "
        is_echo = any(example in padded_name for example in foreign)
        if not is_echo:
            kept_names.append(name)
    return kept_names
