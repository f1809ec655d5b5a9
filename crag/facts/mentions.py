"""Find the names and years that a question is about: with the tables' own names, or with the language model.

`SpanFinder` matches names of the tables, the longest first. `PromptFinder` asks the model in one call for a batch (db3
section 2.3, "Entity Prompt"); the wording is ours, the parts of the prompt and the ``&&`` between names are db3's.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crag.core.contracts import I_DONT_KNOW, Query
from crag.core.deadline import Deadline
from crag.engines.llm.base import GenerationRequest, LanguageModel, Message
from crag.facts.tables import Entity
from crag.text.matching import plain_name, spellings, without_article, without_possessive

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CEREMONY = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)(?: annual)? (academy|oscar|grammy)")
_BEFORE_FIRST = {"academy": 1928, "oscar": 1928, "grammy": 1958}
"""Year of the ceremony minus its number: the 7th Academy Awards (1935) and the 4th Grammys (1962) and all since."""
_RELATIVE = {"this year": 0, "last year": 1, "previous year": 1}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it stands in the question or as a model wrote it, and the domain in whose tables it is looked up."""

    text: str
    domain: str


def years_of(query: Query) -> tuple[int, ...]:
    """The years that a question names: as a number, or as "this year" and "last year".

    The number of a ceremony ("the 80th Academy Awards") says it exactly: then its year counts alone.
    """
    text = query.text.lower()
    ceremonies = [_BEFORE_FIRST[prize] + int(number) for number, prize in _CEREMONY.findall(text)]
    if ceremonies:
        return tuple(dict.fromkeys(ceremonies))
    years = [int(year) for year in _YEAR.findall(text)]
    if query.asked_at is not None:
        years += [query.asked_at.year - back for words, back in _RELATIVE.items() if words in text]
    return tuple(dict.fromkeys(years))


_CUES: Mapping[str, frozenset[str]] = {
    "movie": _words(
        "movie movies film films cinema oscar oscars academy director directors directed direct actor actors actress "
        "actresses starred starring stars cast role roles played plays screenplay sequel franchise premiere"
    ),
    "music": _words(
        "song songs album albums band bands singer singers grammy grammys music musician musicians rapper artist "
        "artists track tracks lyrics billboard single singles sang sing sings concert tour record"
    ),
    "finance": _words(
        "stock stocks share shares price prices ticker company companies corporation eps earnings dividend dividends "
        "market cap capitalization capitalisation worth trading traded ipo ceo founder founded headquarters nasdaq "
        "nyse pe p e ratio revenue invest investors business"
    ),
}
"""Words that show a question's domain. Where a question has none, only names of several words count."""

_ALL_CUES = frozenset().union(*_CUES.values())

_ORDINARY = _words(
    "a about across actually after again all also am among an and another any april are around as ask asked at "
    "august average away back be became because become been before began being best better between big biggest both "
    "bought but by called came can change close closed closing come cost could country current currently day days "
    "debut december did difference different do does done during each earlier early earned end ended ever every far "
    "february final find first five for former found four friday from full fund gain gave get give go good got "
    "gross had happened has have he held help her here high higher highest him his home how i if in into is it its "
    "january join joined july june just kind know known large larger largest last late latest leading least leave "
    "left less life like line list little long longer look loss love low lower lowest made main make many march may "
    "me mean member members mentioned might million monday month months more most much must my name named names "
    "need never new next nine no nominated nor not november now number october of off often old older oldest on "
    "once one only open opened opening or original other our out over own paid part past pay people per perform "
    "performed place please popular possible previous put quarter read real received recent recently release "
    "released releases right run said same saturday say second see sell september seven she should show since six "
    "so sold some sound started still such sunday take taken tech tell ten than that the their them then there "
    "these they thing third this those three through thursday till time times title titled titles to today together "
    "told took top total tuesday two type under until up us usa use used version volume vs want was way we "
    "wednesday week weeks well went were what whats when where whether which while who whole whos whose why will "
    "win winner winners winning wins with won word work working works world worst would write written wrote year "
    "years yes yesterday yet you young your"
)
"""Words of questions that are also titles or tickers: no names, unless in quotation marks."""

_QUOTED = re.compile(r'["“]([^"“”]{1,100})["”]')


class SpanFinder:
    """Matches words of the question with the names of the entities.

    A title in quotation marks is one name. Where the domain of a question is not known, its words show it (`_CUES`).
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._domains: dict[str, set[str]] = defaultdict(set)
        for entity in entities:
            for name in entity.names:
                for form in spellings(name):
                    if form == plain_name(name) or " " in form:
                        self._domains[form].add(entity.domain)
        self._longest = max((name.count(" ") + 1 for name in self._domains), default=0)

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """The mentions of each question, in order; `domains` are those that a router knows already."""
        return [
            [] if deadline.expired else self._mentions(query, domain)
            for query, domain in zip(queries, domains, strict=True)
        ]

    def _mentions(self, query: Query, known: str | None) -> list[Mention]:
        text = without_possessive(query.text)
        quotes = [plain_name(title) for title in _QUOTED.findall(text)]
        mentions = [Mention(quote, domain) for quote in quotes for domain in self._asked(known, text, quote)]
        words = plain_name(_QUOTED.sub(" , ", text)).split()
        for start, name in self._names(words):
            if _is_name(name, words, start):
                mentions += [Mention(name, domain) for domain in self._asked(known, text, name)]
        return list(dict.fromkeys(mentions))

    def _asked(self, known: str | None, text: str, name: str) -> list[str]:
        """The domains in which the name is known and of which the question is."""
        words = set(plain_name(text).split())
        shown = {known} if known else {domain for domain, cues in _CUES.items() if not cues.isdisjoint(words)}
        domains = sorted(self._domains.get(name, ()))
        if not shown:
            return domains if " " in without_article(name) else []
        return [domain for domain in domains if domain in shown]

    def _names(self, words: Sequence[str]) -> list[tuple[int, str]]:
        """The names in the question and their first words' places; a longer name hides those inside it."""
        names: list[tuple[int, str]] = []
        hidden: set[int] = set()
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                name, places = " ".join(words[start : start + length]), range(start, start + length)
                if name in self._domains and hidden.isdisjoint(places):
                    hidden.update(places)
                    names.append((start, name))
        return sorted(names)


def _is_name(name: str, words: Sequence[str], start: int) -> bool:
    """Whether the words are a name here, rather than words of the question, or of a longer name, that are one too."""
    own, end = without_article(name).split(), start + len(name.split())
    if len(own) > 2:
        return True
    if all(word in _ORDINARY for word in own):
        return False
    if len(own) > 1:
        return True
    beside = {*words[max(start - 1, 0) : start], *words[end : end + 1]}
    if len(own[0]) < 3 or own[0].isdecimal():
        return not beside.isdisjoint(_ALL_CUES)
    return own[0] not in _ALL_CUES and beside <= _ORDINARY | _ALL_CUES


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
        """The mentions of each question; none where the model fails, writes something else, or time runs out."""
        asked = [(place, domain) for place, domain in enumerate(domains) if domain in _WHAT]
        prompts = [_entity_messages(queries[place].text, domain) for place, domain in asked]
        requests = [GenerationRequest(messages=own, max_tokens=self._max_new_tokens, stop=("\n",)) for own in prompts]
        mentions: list[list[Mention]] = [[] for _ in queries]
        if not requests or deadline.expired:
            return mentions
        for (place, domain), reply in zip(asked, self._model.generate(requests, deadline), strict=False):
            if reply.finish_reason in {"stop", "length"}:
                names = without_echoes(parse_names(reply.text), queries[place].text, domain)
                mentions[place] = [Mention(name, domain) for name in names]
        return mentions


def parse_names(reply: str) -> list[str]:
    """The names between the ``&&`` of the first line that has any; none where it does not read like names."""
    line = next((line for line in reply.splitlines() if line.strip()), "")
    names = [part.strip(" \t\"'“”*.:") for part in line.split(SEPARATOR)]
    names = [name for name in names if name.lower() not in _NO_NAME and len(name.split()) <= MAX_NAME_WORDS]
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) <= MAX_NAMES else []


def without_echoes(names: Sequence[str], question: str, domain: str) -> list[str]:
    """The names without those that a weak model copied from the examples of the prompt."""
    asked = plain_name(question)
    shown = {plain_name(name) for _, answer in _EXAMPLES[domain] for name in answer.split(SEPARATOR)}
    foreign = [name for name in shown if f" {name} " not in f" {asked} "]
    return [name for name in names if not any(f" {other} " in f" {plain_name(name)} " for other in foreign)]


def _entity_messages(question: str, domain: str) -> tuple[Message, Message]:
    examples = "\n".join(f"Question: {asked}\nNames: {names}" for asked, names in _EXAMPLES[domain])
    user = _ENTITY_USER.format(what=_WHAT[domain], examples=examples, query=question)
    return Message("system", _ENTITY_SYSTEM), Message("user", user)
