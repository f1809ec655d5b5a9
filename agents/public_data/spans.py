"""Finding mentions without a language model: names of the tables that stand in the question, the longest first."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.contracts import Query
from agents.deadline import Deadline
from agents.public_data.entity import Entity
from agents.public_data.names import normalise, spellings, without_article, without_possessive
from agents.public_data.questions import Mention


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CUES: Mapping[str, frozenset[str]] = {
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

_ALL_CUES = frozenset().union(*CUES.values())

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


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    name: str


class SpanFinder:
    """Matches words of the question with the names of the entities.

    A title in quotation marks is one name. Where the domain of a question is not known, its words show it (`CUES`).
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._domains: dict[str, set[str]] = defaultdict(set)
        for entity in entities:
            for name in entity.names:
                for form in spellings(name):
                    if form == normalise(name) or " " in form:
                        self._domains[form].add(entity.domain)
        self._longest = max((name.count(" ") + 1 for name in self._domains), default=0)

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """The mentions of each question in the order of the question; takes well under a millisecond each."""
        return [
            [] if deadline.expired else self._mentions(query, domain)
            for query, domain in zip(queries, domains, strict=True)
        ]

    def _mentions(self, query: Query, known: str | None) -> list[Mention]:
        text = without_possessive(query.text)
        quotes = [normalise(title) for title in _QUOTED.findall(text)]
        mentions = [Mention(quote, domain) for quote in quotes for domain in self._asked(known, text, quote)]
        words = normalise(_QUOTED.sub(" , ", text)).split()
        for span in sorted(self._spans(words), key=lambda span: span.start):
            if _is_name(span, words):
                mentions += [Mention(span.name, domain) for domain in self._asked(known, text, span.name)]
        return list(dict.fromkeys(mentions))

    def _asked(self, known: str | None, text: str, name: str) -> list[str]:
        """The domains in which the name is known and of which the question is."""
        words = set(normalise(text).split())
        shown = {known} if known else {domain for domain, cues in CUES.items() if not cues.isdisjoint(words)}
        domains = sorted(self._domains.get(name, ()))
        if not shown:
            return domains if " " in without_article(name) else []
        return [domain for domain in domains if domain in shown]

    def _spans(self, words: Sequence[str]) -> Iterator[_Span]:
        """The names in the question, longest first, none inside another."""
        taken: set[int] = set()
        for length in range(min(self._longest, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                if name in self._domains and taken.isdisjoint(range(start, start + length)):
                    taken.update(range(start, start + length))
                    yield _Span(start, start + length, name)


def _is_name(span: _Span, words: Sequence[str]) -> bool:
    """Whether the words are a name here, rather than words of the question, or of a longer name, that are one too."""
    own = without_article(span.name).split()
    if len(own) > 2:
        return True
    if all(word in _ORDINARY for word in own):
        return False
    if len(own) > 1:
        return True
    beside = {*words[max(span.start - 1, 0) : span.start], *words[span.end : span.end + 1]}
    if len(own[0]) < 3 or own[0].isdecimal():
        return not beside.isdisjoint(_ALL_CUES)
    return own[0] not in _ALL_CUES and beside <= _ORDINARY | _ALL_CUES
