"""Questions for something near a value of the graph: another time, another measure, somebody's child.

The writer of calls takes the nearest call that there is. "When was the trailer of Heat released" becomes the release
date of Heat, and "who had the larger market cap in 2010" the market caps of today.
"""

import re

from crag.graph.derive.readings import BIRTH_KEYS, Reading, RuleInputs

_OF_A_LIFE = re.compile(
    r"\bmarri|\bwedding\b|\bacting\b|\bcareer\b|\bliv(?:ed|es)\b"
    r"|\b(?:been|became|become) (?:an? )?(?:\w+ )?(?:famous|actor|actress|singer|director)\b"
)
_OF_A_FILM = r"\boscars?\b|\bawards?\b|\bactors?\b|\brat(?:ed|ings?)\b|\breviews?\b"
_ASKS_FOR_OTHER = {
    "birthday": _OF_A_LIFE,
    "birth_date": _OF_A_LIFE,
    "birth_place": re.compile(r"\bliv(?:es?|ed|ing)\b|\bgr[eo]w|\braised\b|\bdie[sd]?\b|\bburied\b"),
    "release_date": re.compile(
        r"\bfilm(?:ed|ing)\b|\bshot\b|\bshooting\b|\btakes? place\b|\bis set\b|\bnominat|\bwon\b|\bdvd\b|\bre-?release"
        r"|\b(?:released|shown|out|premiered?) in (?!\d|which|what|theat|cinema)"
    ),
    "revenue": re.compile(
        r"\bprofits?\b|\bopening\b|\bdomestic(?:ally)?\b|\boverseas\b|\binternational(?:ly)?\b"
        rf"|\bin (?:the )?(?:us|usa|uk|united|north|china|europe)\b|{_OF_A_FILM}"
    ),
    "budget": re.compile(_OF_A_FILM),
    "award_count": re.compile(
        r"\bnomin|\blatin\b|\blos[et]s?\b|\b(?:many|more|most|fewer) (?:\w+ )?(?:albums?|songs?|singles?)\b"
    ),
    "rank": re.compile(r"\bstay|\blong|\bpeak|\bweeks\b"),
    "GF": re.compile(r"\bconced|\ballow|\bhalf\b|\bhalftime\b"),
    "GA": re.compile(r"\bhalf\b|\bhalftime\b"),
    "opponent": re.compile(r"\bwho scored\b|\bscorers?\b"),
    "Captain": re.compile(r"\bcoach|\bmanag|\btrain"),
    "author": re.compile(r"\bproduce[rd]?s?\b|\bcover(?:ed|s)?\b|\bdirect"),
}
"""For a key the words with which a question asks for something else."""

_LATER_IN_LIFE = re.compile(r"\bwhen (?:he|she|they)\b|\bdie[sd]?\b|\bdead\b|\bdeath\b")
_OTHER_ROWS = {
    "get_movie_person_cast": re.compile(
        r"\bdirect|\bproduce[drs]|\bwr(?:ote|itten|iter)|\bcompos|\blanguages?\b|\baward|\boscar"
    ),
    "get_movie_person_crew": re.compile(r"\bacted\b|\bstarred\b|\blanguages?\b|\baward|\boscar"),
    "get_movie_person_oscar": re.compile(r"\bgrammys?\b|\bemmys?\b|\bbaftas?\b|\bgolden globes?\b|\btonys?\b"),
}
"""For a table the words with which a question counts something else than its rows."""
_YEAR = re.compile(r"\b(?:19|20)[0-9]{2}\b")
_KIN = (
    r"(?:sons?|daughters?|child(?:ren)?|kids?|wife|wives|husbands?|spouses?|partners?|mothers?|fathers?|parents?"
    r"|brothers?|sisters?)"
)
_RELATED_WORK = r"(?:trailer|teaser|sequel|prequel|soundtrack)s?"
_OF_ANOTHER = re.compile(
    rf"@\d+(?:'s|')\s(?:\w+\s)?(?:{_KIN}|{_RELATED_WORK})\b"
    rf"|\b(?:whose|which \w+'s)\s(?:{_KIN}|{_RELATED_WORK})\b"
    rf"|\b(?:{_KIN}|{_RELATED_WORK})\s(?:of|to|for)\s(?:the\s)?@\d"
)
"""Somebody or something else: "@0's daughter", "the trailer for @0"."""

_TABLES_OF_NOW = frozenset({"get_stock_market_cap", "get_stock_pe_ratio", "get_stock_eps"})
"""They have no dates: their values are those of the day of asking."""
_OTHER_TIME = re.compile(r"\b(?:(?P<year>(?:19|20)[0-9]{2})|(?:last|previous|next) (?:year|quarter|month)|will)\b")
_OTHER_MEASURE = re.compile(
    r"\b(?:forward|yield|per employee|gr[eo]w\w*|increas\w+|ris(?:e|en|ing)|rose|gain\w*"
    r"|(?:industry|sector)(?:'s)? (?:average|mean|median)"
    r"|average (?:of|for|in) (?:the|its) (?:\w+ )?(?:industry|sector))\b"
)


def asks_for_other(inputs: RuleInputs, reading: Reading) -> bool:
    """Whether the question asks for something near the values of the reading, but not for them."""
    question = inputs.masked.core
    other = _ASKS_FOR_OTHER.get(reading.key)
    if (other and other.search(question)) or _OF_ANOTHER.search(question):
        return True
    if reading.table.name not in _TABLES_OF_NOW:
        return False

    # Of the whole question: "in 2010, what was ..."
    time = _OTHER_TIME.search(inputs.question)
    is_this_year = time is not None and inputs.today is not None and time["year"] == str(inputs.today.year)
    return (time is not None and not is_this_year) or _OTHER_MEASURE.search(question) is not None


def counts_others(inputs: RuleInputs, reading: Reading) -> bool:
    """Whether the question counts other things than the rows of the reading: films that she directed, or of a year."""
    other = _OTHER_ROWS.get(reading.table.name)
    if other and other.search(inputs.question):
        return True
    asked = repr(reading.call) + repr(reading.conditions)
    return any(year not in asked for year in _YEAR.findall(inputs.question))


def compares_lives(inputs: RuleInputs) -> bool:
    """Whether births are compared by what came later: "who was older when they won", "who died first"."""
    are_births = all(reading.key in BIRTH_KEYS for reading in inputs.readings)
    return are_births and _LATER_IN_LIFE.search(inputs.question) is not None
