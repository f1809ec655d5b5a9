"""Classes of English words that tell whether a word beside them is used as a date (`crag.text.dates.usage`).

They are words of grammar and kinds of things, never names: which titles exist does not matter.
"""

from crag.text.dates.vocabulary import MONTH_ABBREVIATIONS, WEEKDAY_ABBREVIATIONS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- words before a date ----------------------------------------------------------------------------------------------
WEEKDAY_PREPOSITIONS = _words("on by since until till before after from through for during every each following")
"""What announces "friday". Not "in" and "of": "starred in friday", "the cast of friday"."""

MONTH_PREPOSITIONS = _words("in during since until till by before after from through for early mid late within")
"""What announces "march". Not "of", which is also inside names: "the ides of march"."""

YEAR_PREPOSITIONS = _words(
    "in during since until till by before after from through for within around circa early mid late between with"
    " than versus vs post pre year years fiscal fy"
)
"""What announces "2012": "compared with 2018", "between the years 1975 and 1980". Not "on": "the songs on 1989"."""

PREPOSITIONS_OF_COUNTS = _words("with than within around for by")
"""Of these, what also announces a count: "more than two thousand"."""

WORDS_BEFORE_TO = _words("prior up due back compared relative")
"""With "to", prepositions of years: "prior to 2019"; not "the sequel to 2012"."""

DAY_PREPOSITIONS = _words("on by since until till before after from through for during of between ending ended as")
"""What announces "march 5"."""

LOOSE_PREPOSITIONS = _words("by for from about")
"""Prepositions that are more often not of time."""

FIRM_PREPOSITIONS = _words("since until till during early mid late within")
"""Prepositions of time alone: they announce a month whatever follows. "By" and "in" can have another object."""

PARTICIPLES = _words("born made lost left gone")
"""What a title may begin with, where a question has its subject."""

TIME_NOUNS = _words(
    "day days night evening morning afternoon week weeks weekend month months quarter half year years season end"
    " beginning start middle close rest part as spring summer fall autumn winter"
)
"""What a month or year is a part of, or the other way round: "end of march", "fall of 2022"."""

DETERMINERS = _words(
    "the a an this that these those which what whose his her its their our my your every each all any some best most"
)
"""What begins a noun phrase: "the 2024 oscars", "which 2010 film"."""

# --- words after a date -----------------------------------------------------------------------------------------------
TIMES_OF_DAY = _words("morning afternoon evening night nights noon")

DAY_NOUNS = _words(
    "game games match matches session sessions trading close closing open opening price prices volume earnings report"
    " results sales deliveries inflation jobs episode show broadcast edition race fight meeting hearing vote"
) | {"debate", "deal", "announcement", "fixture", "draw", "jackpot", "high", "low", "gain", "loss", "play", "election"}
"""What belongs to a day or month: "friday's game", "the march deliveries"."""

RECURRING_EVENTS = _words(
    "cup bowl open championship championships tournament olympics games league election elections primary awards award"
    " oscars grammys grammy emmys final finals playoffs playoff season draft prix half-time halftime marathon derby"
    " masters nominees series standings budget"
)
"""Events that are told apart by their year: "super bowl 2018", "euro 2022 final"."""

SINGLE_EVENTS = RECURRING_EVENTS - _words("games awards finals")
"""The same without those that can be counted: "the two thousand games"."""

AWARDS = _words(
    "award awards oscar oscars grammy grammys emmy emmys prize prizes nomination nominations trophy medal medals globe"
    " globes bafta baftas"
)
"""What a work wins: "an oscar for 1917"."""

WINNING_VERBS = _words("win wins won nominated")
DETERMINERS_OF_EDITIONS = _words("the this that best")
"""An award with one of these is that of a year: "the prize for 2019", "best actor award for 2019"."""

CONTEST_WORDS = _words("win wins won winner winners lose lost champion champions host hosts hosted held")
"""What is asked of an event whose year stands last: "who won figure skating 2018"."""

# --- titles -----------------------------------------------------------------------------------------------------------
NAMING_WORDS = _words("called named titled entitled")
WORK_NOUNS = _words(
    "film movie song album single book novel musical band sitcom miniseries comedy drama thriller poem painting"
)
"""What a title stands behind: "the film friday"."""

SHOW_NOUNS = _words("show series program programme podcast magazine newspaper")
"""The same, but a day beside them may also be the day of a broadcast."""

WORK_VERBS = _words(
    "direct directs directed write writes wrote sing sings sang compose composes composed produce produces produced"
    " record records recorded create creates created voice voices voiced cover covers covered narrate narrates narrated"
    " pen penned publish publishes published illustrate illustrated release released stream streams"
)
"""What takes a title as its object: "who directed friday?". In the passive a day may follow: "was released friday"."""

ACTING_VERBS = _words("star stars starred starring act acts acted")
"""With "in", they take a title too."""

ROLE_VERBS = _words("plays portrays")
"""With "in", someone's part in a work of today."""

WORK_ROLES = _words(
    "cast director directors star stars author writer plot soundtrack trailer singer composer producer screenwriter"
    " creator sequel prequel remake lyrics narrator villain protagonist characters runtime genre screenplay"
)
"""What a work has: "the director of 1917"."""

PARTS_OF_WORKS = _words("soundtrack screenplay script lyrics trailer")
"""What is made for a work: "wrote the screenplay for 1917"."""

PASSIVE_AUXILIARIES = _words("is are was were be been being gets got")

# --- events -----------------------------------------------------------------------------------------------------------
EVENT_VERBS = _words(
    "close closes open opens reopen reopens end ends start starts begin begins began trade trades rise rises rose fall"
    " falls fell gain gains drop drops climb climbs slip slips jump jumps surge surges plunge plunges lose loses lost"
    " win won beat score die dies happen happens announce report took met sold hit died happened closed opened reopened"
    " ended started scored resigned retired collapsed erupted"
)
"""Verbs that a bare day may follow: "did it close friday?"."""

BARE_VERBS = _words("come make do go get play earn set shot compare perform reach cost change finish rank take show")
"""Other verbs in the form that follows "did" or "was", where no ending tells them from nouns."""

DIRECTIONS = _words("up down off out higher lower flat")
"""A bare day may follow these too: "did it end higher friday?"."""

ASKING_WORDS = _words("who which what")
"""What may stand for the subject of a question."""

# --- words of grammar -------------------------------------------------------------------------------------------------
FUNCTION_WORDS = (
    _words(
        "a an the this that these those last next and or but nor so if as than then when where while"
        " who whom whose what which why how"
    )
    | _words("i you he she it we they me him her us them my your his its our their there here")
    | _words("is are was were be been being am do does did has have had will would can could shall should might must")
    | _words("in on at by to of for from with without about after before between during since until till through over")
    | _words(
        "under into onto within against among around behind per via due regarding including versus vs compared despite"
    )
    | _words("not no only also alone overall total already again still just later ago too either both all each any")
    | _words("higher lower up down off out more less most least better worse back together")
)
"""A date may stand before any of these. Other words are taken for nouns, which make a name with the word before."""

AFTER_MAY = _words("i you he she it we they be have not or also the a an")
"""What follows the verb "may"."""

SHORT_NAMES = frozenset(MONTH_ABBREVIATIONS) | frozenset(WEEKDAY_ABBREVIATIONS) | _words("tues thur thurs sept")
WORDS_THAT_ARE_ALSO_MONTHS = SHORT_NAMES | _words("march april may june august")
"""Also given names, verbs or symbols of stocks: a possessive is no sign of a month ("june's husband")."""

NO_NOUNS = FUNCTION_WORDS | DAY_NOUNS | TIMES_OF_DAY | EVENT_VERBS | BARE_VERBS
"""Words that do not make a name with a date before them."""
