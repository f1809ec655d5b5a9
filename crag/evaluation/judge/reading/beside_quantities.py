"""What the words beside a number say of it: its bound, its era, and whether it rose or fell."""

import re
from dataclasses import replace

from crag.evaluation.judge.reading.answer_quantity import AnswerQuantity, Bound
from crag.evaluation.judge.reading.patterns import any_of

_NO_MORE_THAN = r"(?:no|not)\s" + any_of("more greater higher longer later larger") + r"\sthan"
_NO_LESS_THAN = r"(?:no|not)\s" + any_of("less fewer lower earlier smaller shorter under") + r"\sthan"
_AT_MOST = any_of(r"at(?:\sthe)?(?:\svery)?\smost up\sto not\s(?:over|above|exceeding) capped\sat limited\sto <= ≤")
_AT_LEAST = any_of(r"at(?:\sthe)?(?:\svery)?\sleast not\s(?:under|below) >= ≥")
_BOUND_BEFORE = re.compile(
    rf"""
    (?:
        # "no more than" before "more than"
        (?P<at_most> {_NO_MORE_THAN} | {_AT_MOST} | (?:a\s)?maximum(?:\sof)? )
      | (?P<at_least> {_NO_LESS_THAN} | {_AT_LEAST} | (?:a\s)?minimum(?:\sof)? )
      | (?P<over> over | (?:more|greater|higher|larger|longer|bigger)\sthan | above | upwards?\sof | in\sexcess\sof
                | exceed(?:s|ed|ing)? | beyond | > )
      | (?P<under> under | (?:less|fewer|lower|smaller|shorter)\sthan | below | < )
      | (?P<nearly> nearly | almost | not\squite )
      | (?P<after> after | later\sthan )
      | (?P<before> before | prior\sto | earlier\sthan )
    )
    (?:\s(?:about|around|an?|the|some|us|approximately|roughly))?
    \s?$
    """,
    re.VERBOSE,
)
"""What says a bound before a number."""
_OR_MORE = r"\s(?:or|and)\s" + any_of("more over above older up better higher longer") + r"\b"
_OR_LESS = r"\s(?:or|and)\s" + any_of("less fewer under below younger lower shorter") + r"\b"
_BOUND_AFTER = re.compile(
    rf"""
    (?:\s[a-z]{{1,14}}){{0,2}}?                   # "300 seats or more"
    (?:
        # not the sum "300 plus 2"
        (?P<at_least> \s?\+(?!\d) | \splus\b(?!\s\d) | {_OR_MORE} | \sat\sleast\b | \sminimum\b )
      | (?P<at_most> {_OR_LESS} | \sat\s(?:the\s)?most\b | \smaximum\b | \stops\b )
    )
    """,
    re.VERBOSE,
)
"""What says a bound after a number."""
_BOUNDS = {
    "at_most": Bound.AT_MOST,
    "at_least": Bound.AT_LEAST,
    "over": Bound.OVER,
    "under": Bound.UNDER,
    "nearly": Bound.NEARLY,
    # Of years only
    "after": Bound.OVER,
    "before": Bound.UNDER,
}

# "lower" and "minus" are directions too: "12 lower", "minus 5"
_FALLS = any_of(
    "loss(?:es)? lost lose[sd]? deficits? shortfalls? declin(?:e[sd]?|ing) decreas(?:e[sd]?|ing) "
    "drop(?:s|ped|ping)? fell falls? fallen falling down dip(?:s|ped)? slid slump(?:ed)? tumbled plunged shrank "
    "sank shed cut reduced reduction contracted lower minus negative"
)
_RISES = any_of(
    "gain(?:s|ed|ing)? profits? rose risen rises? rising up increas(?:e[sd]?|ing) grew grown growth climbed "
    "jumped surged surplus higher advanced positive added"
)
_FILLER = any_of("of by was were is about around an? the approximately nearly almost over some net another more than")
_DIRECTION_BEFORE = re.compile(
    rf"""
    \b(?:
        (?P<down>{_FALLS})
      | (?P<up>{_RISES})
      | (?P<deficit>(?:net\s|operating\s)?(?:loss|losses|deficit)\s(?:[a-z]+\s){{1,3}}to)  # "a loss widened to"
    )
    (?:\s{_FILLER}){{0,3}}                    # not "to": "it fell to 30" gives a level
    \s?$
    """,
    re.VERBOSE,
)
_DIRECTION_AFTER = re.compile(
    r"""
    \s(?:(?:in\s)?(?:net|operating|annual|yearly|total|quarterly|points?)\s)?
    (?:
        (?P<down> loss(?:es)? | deficit | decline | decrease | drop | fall | dip | slump | reduction | lower | down
                | (?:less|fewer)(?!\sthan) )
      | (?P<up> gain | profits? | rise | increase | growth | jump | surplus | higher | up | more(?!\sthan) )
    )\b
    """,
    re.VERBOSE,
)
_DIRECTION_WORD = re.compile(rf"\b(?:(?P<down>{_FALLS})|(?P<up>{_RISES}))\b")
# Words that can follow a number without being counted by it
_NOT_COUNTED = any_of(
    "per an? in on at to from for over during last this that since by and compared year loss profit points? gain drop "
    "net or but with as below fewer less more lower higher up down degrees? decline decrease fall rise increase after "
    "before"
)
_COUNTS_SOMETHING = re.compile(rf"\s(?!{_NOT_COUNTED}\b)[a-z]")
"""What follows a number that counts things: "lost 5 games" is not a fall of 5."""
_LEVEL = re.compile(r"\b(?:to|at)\s?$")
"""What comes before a level, not a change: "it fell to 30"."""

_ERA_AFTER = re.compile(
    r"""
    \s?(?:century\s)?
    (?:
        (?P<bc> b\.?c\.?e?\b | before\schrist\b )
      | (?P<ad> a\.?d\b | c\.?e\b | anno\sdomini\b )
    )
    """,
    re.VERBOSE,
)
_ERA_BEFORE = re.compile(r"\b(?:(?P<bc>b\.?c\.?e?\.?)|(?P<ad>a\.?d\.?|c\.?e\.?))\s?$")

# Long enough for "no more than approximately "
LOOK_BACK = 34
"""Characters before a number that can say its bound or direction."""


def read_direction(question: str) -> int:
    """1 if a question asks how much something rose, -1 how much it fell; 0 if neither or both."""
    matches = list(_DIRECTION_WORD.finditer(question))
    # A question with both, "rose or fell", cancels out
    is_down = any(match["down"] for match in matches)
    is_up = any(match["up"] for match in matches)
    return int(is_up) - int(is_down)


def with_context(text: str, quantity: AnswerQuantity) -> AnswerQuantity:
    """With what the words around the number say: bound, era and direction."""
    # The era first: it makes a number such as 44 a year, of which "after" is a bound
    before = text[max(0, quantity.start - LOOK_BACK) : quantity.start]
    era, end = _read_era(text, before, quantity)
    if era:
        quantity = replace(quantity, era=era, end=end)

    bound = _read_bound(text, before, quantity)
    direction = _read_own_direction(text, before, quantity)
    if bound is Bound.NONE and not direction:
        return quantity
    return replace(quantity, bound=bound, direction=direction)


def _read_era(text: str, before: str, quantity: AnswerQuantity) -> tuple[str, int]:
    # "44 bc" is usual, "ad 79" is the other order
    match = _ERA_AFTER.match(text, quantity.end)
    if match is not None:
        return str(match.lastgroup), match.end()
    match = _ERA_BEFORE.search(before)
    return (str(match.lastgroup) if match else "", quantity.end)


def _read_bound(text: str, before: str, quantity: AnswerQuantity) -> Bound:
    match = _BOUND_BEFORE.search(before)
    if match is not None:
        name = str(match.lastgroup)
        # "after 1990", but not "after 3 games"
        return Bound.NONE if name in {"after", "before"} and not quantity.year_like else _BOUNDS[name]
    match = _BOUND_AFTER.match(text, quantity.end)
    return _BOUNDS[str(match.lastgroup)] if match else Bound.NONE


def _read_own_direction(text: str, before: str, quantity: AnswerQuantity) -> int:
    """The direction that words beside the number give; the count of something has none: "lost 5 games"."""
    # "it fell in 1990" says nothing about 1990
    if quantity.year_like or quantity.ordinal:
        return 0
    if not quantity.units and _COUNTS_SOMETHING.match(text, quantity.end):
        return 0

    match = _DIRECTION_BEFORE.search(before)
    if match is None:
        # "to 30, up from 20" gives a level, whatever follows
        match = None if _LEVEL.search(before) else _DIRECTION_AFTER.match(text, quantity.end)
    if match is None:
        return 0
    return 1 if match["up"] else -1
