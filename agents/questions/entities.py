"""Names in a question, found by rules: a cheap hint at what it is about, without a model and without a list of names.

Found are texts in quotation marks, runs of capitalised words (where the question is not all in capitals or all in small
letters), and otherwise runs of words between those that questions are built of ("who directed", "in the", "stock price
of"). What is left of "what was the closing price of acme corp yesterday" is "acme corp". The rules know no entity:
titles that consist of everyday words ("it", "love me do") are missed or cut unless they are quoted, and a rare common
noun ("violinists") is taken for a name. `agents.public_data` links names against tables; this does not.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

MAX_CHARACTERS = 600
MAX_ENTITIES = 8

_QUOTED = re.compile(r'"([^"]{1,100})"|“([^“”]{1,100})”')
_WORD = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$|['’]$")
_SEPARATOR = re.compile(r"[,;:?!()\"“”]")
_CONTRACTION = re.compile(
    r"\w+n['’]t|(?:i|you|he|she|it|we|they|who|what|when|where|how|that|there|let)['’](?:s|re|m|d|ll|ve)"
)

_COMMON_TEXT = (
    # what sentences are built of
    "a about above across after again against ago all also am among amongst an and any are around as at be became "
    "because become been before began begin being below beside best better between both but by came can come "
    "could did do does doing done down during each either else even ever every few first for former found from "
    "gave get give go going got had has have having he her here him his how i if in into is it its just last late "
    "later latest least less let like little many may me might mine month months more most much must my near "
    "never next no nor not now of off often on once one only onto or other our out over own per please previous "
    "quite recent recently same second since so some still such take than that the their them then there these "
    "they third this those though through till to together too toward towards under until up upon us very via was "
    "way we were what whatever when where whether which while who whole whom whose why will with within without "
    "won would year years yet you your "
    # asking
    "ask asked called compare compared comparing curious happen happened help know knows known looking mean means "
    "name named names tell think wanted wonder wondering kind sort type types title titled list "
    # counting and comparing
    "average amount big bigger biggest combined count difference earlier earliest early far fewer fewest greater "
    "greatest half high higher highest large larger largest long longer longest low lower lowest maximum minimum "
    "number numbers old older oldest percent percentage rate ratio short shorter shortest small smaller smallest "
    "sum tall taller tallest times top total two three four five six seven eight nine ten young younger youngest "
    "newest new "
    # time
    "april august birthday century christmas current currently date dates day days decade december february "
    "friday january july june march monday november october saturday september sunday thursday time today "
    "tomorrow tuesday wednesday week weeks yesterday season seasons era quarter "
    # what questions are about, of which none is a name
    "actor actors actress actresses age album albums annual appear appeared artist artists author award awards "
    "band bands based battle birth book books born box budget business capital capitalization career cast ceo "
    "champion championship championships character characters city close closed closing club coach companies "
    "company cost countries country created daily debt debut die died director directed directors directs "
    "dividend dividends earn earned earnings eps episode episodes event exchange film films final finals founded "
    "founder founders game games genre goal goals gross grossed grossing group growth hit hits hold holds host "
    "hosted individual industry join joined language lead leading league length life live location lose lost made "
    "main make makes market married match matches member members money movie movies music nominated nomination "
    "nominations office open opened opening original originally part people performance performed person place "
    "play played player players playing plays points popular population position president price prices produced "
    "producer producers profit queen king rank ranked received record released release releases revenue role "
    "roles run sales sang scored score scores sell series share shares show single singer singers singles sold "
    "song songs songwriter sports stadium star starred starring start started state states stock stocks studio "
    "team teams ticker top tour track tracks trade traded trading tv value video videos voice volume weekly win "
    "winner winners winning wins woman women man men won work works world worth write writer writers wrote "
    "written yearly "
    "award-winning brother child children cup daughter feature featured features festival following grow home hour "
    "hours husband include included includes including magazine minute minutes most-followed official parent parents "
    "past right sister speed terms went wife "
)
_COMMON = frozenset(_COMMON_TEXT.split())
"""Words that questions are made of. They end a name, except little words inside capitalised or quoted ones."""

_LINKS = frozenset({"of", "the", "and", "de", "for", "in", "la"})
"""Small words that may stand inside a run of capitalised words."""


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A name as it stands in the question: ``question[start:end] == text``."""

    text: str
    start: int
    end: int


def find_entities(question: str) -> list[EntitySpan]:
    """The names in the order of the question, none inside another, at most `MAX_ENTITIES`."""
    text = question[:MAX_CHARACTERS]
    matches = [(match, 1 if match[1] else 2) for match in _QUOTED.finditer(text)]
    quoted = [EntitySpan(match[kind], *match.span(kind)) for match, kind in matches if match[kind].strip()]
    for span in quoted:
        text = text[: span.start] + "," * len(span.text) + text[span.end :]
    found = quoted + [EntitySpan(question[start:end], start, end) for start, end in _runs(text)]
    return sorted(found, key=lambda span: span.start)[:MAX_ENTITIES]


def entity_entries(question: str) -> list[dict[str, Any]]:
    """The same as a route holds it."""
    return [asdict(span) for span in find_entities(question)]


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each run of words that belong to a name."""
    cased = text != text.lower() and text != text.upper()
    run: list[re.Match[str]] = []
    before = 0
    for number, word in enumerate(_WORD.finditer(text)):
        if run and _SEPARATOR.search(text, before, word.start()):
            yield from _name(run, cased=cased)
            run = []
        belongs = _belongs(word[0], cased=cased, starts_sentence=number == 0)
        if belongs or (run and cased and word[0] in _LINKS):
            run.append(word)
        if (not belongs and not (cased and word[0] in _LINKS)) or _POSSESSIVE.search(word[0]):
            yield from _name(run, cased=cased)
            run = []
        before = word.end()
    yield from _name(run, cased=cased)


def _belongs(word: str, *, cased: bool, starts_sentence: bool) -> bool:
    plain = _POSSESSIVE.sub("", word)
    if _CONTRACTION.fullmatch(word.lower()) or plain.isdecimal():
        return False
    if cased:
        return plain[0].isupper() and not (starts_sentence and plain.lower() in _COMMON)
    return plain.lower() not in _COMMON and not plain[0].isdecimal()


def _name(run: list[re.Match[str]], *, cased: bool) -> Iterator[tuple[int, int]]:
    """The span of a run, without little words at its end and without a possessive."""
    while cased and run and run[-1][0] in _LINKS:
        run = run[:-1]
    if run:
        last = _POSSESSIVE.sub("", run[-1][0])
        yield run[0].start(), run[-1].start() + len(last)
