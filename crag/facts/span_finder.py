"""Finds mentions without a model: names of the tables among the words of the question."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from crag.core.contracts import Query
from crag.core.deadline import Deadline
from crag.facts.entities import Entity
from crag.facts.mentions import Mention
from crag.text.matching import plain_name, spellings, without_article, without_possessive


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DOMAIN_WORDS: Mapping[str, frozenset[str]] = {
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
"""Words that show a question's domain. If a question has none, only names of several words count."""

_ALL_DOMAIN_WORDS = frozenset().union(*_DOMAIN_WORDS.values())

_ORDINARY_WORDS = _words(
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
_MIN_NAME_CHARACTERS = 3
"""A shorter single word is a name only beside a word of a domain: "on" is also a ticker."""


class SpanFinder:
    """Matches words of the question with the names of the entities, the longest name first.

    A title in quotation marks is one name. If the domain of a question is not known, its words show it.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._domains_by_name: dict[str, set[str]] = defaultdict(set)
        for entity in entities:
            for name in entity.names:
                for form in _searchable_forms(name):
                    self._domains_by_name[form].add(entity.domain)
        self._max_words = max((name.count(" ") + 1 for name in self._domains_by_name), default=0)

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """The mentions of each question, in order; `domains` are those that a router knows already."""
        mentions: list[list[Mention]] = []
        for query, domain in zip(queries, domains, strict=True):
            mentions.append([] if deadline.expired else self._find_mentions(query, domain))
        return mentions

    def _find_mentions(self, query: Query, domain: str | None) -> list[Mention]:
        text = without_possessive(query.text)
        question_domains = {domain} if domain else _domains_by_words(text)

        # What is in quotation marks is a name, even if its words are ordinary.
        names = [plain_name(title) for title in _QUOTED.findall(text)]
        words = plain_name(_QUOTED.sub(" , ", text)).split()
        for start, name in self._find_names(words):
            if _is_name(name, words, start):
                names.append(name)

        mentions: list[Mention] = []
        for name in names:
            mentions += [Mention(name, name_domain) for name_domain in self._matching_domains(name, question_domains)]
        return list(dict.fromkeys(mentions))

    def _matching_domains(self, name: str, question_domains: set[str]) -> list[str]:
        """The domains whose tables have the name and that the question is about."""
        domains = sorted(self._domains_by_name.get(name, ()))
        if question_domains:
            return [domain for domain in domains if domain in question_domains]

        has_several_words = " " in without_article(name)
        return domains if has_several_words else []

    def _find_names(self, words: Sequence[str]) -> list[tuple[int, str]]:
        """The names in the question with the positions of their first words; a longer name hides those inside it."""
        names: list[tuple[int, str]] = []
        taken: set[int] = set()
        longest = min(self._max_words, len(words))
        # The longest first, so that they take the words of the names inside them.
        for length in range(longest, 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                positions = range(start, start + length)
                if name in self._domains_by_name and taken.isdisjoint(positions):
                    taken.update(positions)
                    names.append((start, name))
        return sorted(names)


def _searchable_forms(name: str) -> list[str]:
    """The spellings of a name, without single words that are only a part of it, such as "end" of "The End"."""
    plain = plain_name(name)
    return [form for form in spellings(name) if form == plain or " " in form]


def _domains_by_words(text: str) -> set[str]:
    words = plain_name(text).split()
    domains: set[str] = set()
    for domain, domain_words in _DOMAIN_WORDS.items():
        if not domain_words.isdisjoint(words):
            domains.add(domain)
    return domains


def _is_name(name: str, words: Sequence[str], start: int) -> bool:
    """Whether the words are a name here, rather than words of the question, or of a longer name, that are one too."""
    name_words = without_article(name).split()
    if len(name_words) > 2:
        return True
    if all(word in _ORDINARY_WORDS for word in name_words):
        return False
    if len(name_words) > 1:
        return True

    end = start + len(name.split())
    neighbours = {*words[max(start - 1, 0) : start], *words[end : end + 1]}
    word = name_words[0]
    if len(word) < _MIN_NAME_CHARACTERS or word.isdecimal():
        return not neighbours.isdisjoint(_ALL_DOMAIN_WORDS)
    # Beside a rare word it is probably a part of a longer name that the tables lack.
    return word not in _ALL_DOMAIN_WORDS and neighbours <= _ORDINARY_WORDS | _ALL_DOMAIN_WORDS
