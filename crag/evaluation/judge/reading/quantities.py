"""Reads the quantities of an answer: numbers with their sign, unit or currency, era and bound."""

import enum
import re
from dataclasses import dataclass, replace
from itertools import product

from crag.evaluation.judge.reading.patterns import any_of
from crag.evaluation.judge.reading.units import CURRENCY_BEFORE, UnitsInText, currency_before, is_money, units_at
from crag.text.matching import MAGNITUDES, PERCENT, Unit

# "m" stands for a million only beside a currency: see `currency_letter` below
SCALES = {
    **MAGNITUDES,
    "lakh": 1e5,
    "lac": 1e5,
    "crore": 1e7,
    "cr": 1e7,
    "quadrillion": 1e15,
    "mil": 1e6,
    "mio": 1e6,
    "bil": 1e9,
    "trn": 1e12,
}

_NUMBER = re.compile(
    rf"""
    (?<![\w.,])                                  # not inside a word or a number: "b2", "1.2.3"
    (?P<sign>[-+](?=[\d.$€£¥₹]))?                # not the hyphen of "1929-1941", which follows a digit
    (?P<currency>{CURRENCY_BEFORE})?
    \s?
    (?P<inner_sign>(?<=[$€£¥₹])-)?               # "$-5"
    (?P<digits>
        \d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?         # "1,234.5"
      | \d{{1,2}}(?:,\d{{2}})+,\d{{3}}           # "1,50,000", as India writes it
      | \d*\.\d+
      | \d+
    )
    (?:e(?P<exponent>[+-]?\d{{1,2}})\b)?         # "3.2e5"
    (?:
        \s?(?P<percent> % | percent\b | per\ cent\b )
      | (?:\s|-)?(?P<word> hundred | thousand | lakh | lac | crore | million | billion | trillion | quadrillion
                         | mn | mln | mio | mil | bn | bln | bil | tn | trn | cr )s?\b
        (?: \s(?P<second_word> thousand | lakh | crore | million | billion | trillion )s?\b )?   # "2 lakh crore"
      | \s?(?P<currency_letter>mm?)\b            # a million after a currency only: "180m" can be metres
      | (?P<letter> [kbt] )\b
    )?
    (?P<ordinal>st|nd|rd|th)?
    (?![\d])                                     # not the first digits of a longer number
    """,
    re.VERBOSE,
)

_EARLIEST_PLAUSIBLE_YEAR = 1000
_LATEST_PLAUSIBLE_YEAR = 2100


# The sign of a value is the side on which the true number lies
class Bound(enum.Enum):
    """What a number limits; `NONE` for a number that is the value itself."""

    NONE = 0
    OVER = 1
    AT_LEAST = 2
    UNDER = -1
    AT_MOST = -2
    NEARLY = -3

    @property
    def is_lower(self) -> bool:
        """Whether the value is that number or more."""
        return self.value > 0


@dataclass(frozen=True, slots=True)
class AnswerQuantity:
    """A number in an answer, with what says what it means.

    `step` is the value of its last written digit: 10 million for "1.23 billion". `units` are the possible units,
    empty if none is named. `signed`: written with a sign. `direction` is -1 after "a loss of", 1 after "rose by",
    else 0. `ordinal`: written as 3rd; `grouped`: with thousands separators; `decade`: ten years, the 1930s. `start`
    and `end` are its position in the text.
    """

    value: float
    step: float
    units: tuple[Unit, ...] = ()
    bound: Bound = Bound.NONE
    signed: bool = False
    direction: int = 0
    era: str = ""
    ordinal: bool = False
    grouped: bool = False
    decade: bool = False
    start: int = 0
    end: int = 0

    @property
    def percent(self) -> bool:
        """Whether it is a percentage."""
        return bool(self.units) and self.units[0].dimension == PERCENT.dimension

    @property
    def currency(self) -> bool:
        """Whether it is an amount of money."""
        return bool(self.units) and is_money(self.units[0])

    @property
    def year_like(self) -> bool:
        """Whether it could be a calendar year."""
        is_plain = not (self.units or self.ordinal or self.grouped or self.signed) and self.step == 1
        return is_plain and (_EARLIEST_PLAUSIBLE_YEAR <= self.value <= _LATEST_PLAUSIBLE_YEAR or bool(self.era))

    def towards(self, asked_direction: int) -> "AnswerQuantity":
        """The same with the sign of its direction: its own, or that of the question "how much did it fall?"."""
        # A written sign already says what happened: "-5" to "how much did it fall?" stays -5
        direction = self.direction or (0 if self.signed else asked_direction)
        return replace(self, value=direction * abs(self.value)) if direction else self


# --- reading ----------------------------------------------------------------------------------------------------------

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

_SUPERLATIVE = any_of(
    "most best greatest largest biggest highest oldest longest top finest richest fastest tallest earliest youngest "
    "strongest"
)
_ONE_OF_THE_BEST = re.compile(rf"\sof\s(?:[\w'’]{{1,20}}\s){{1,4}}?{_SUPERLATIVE}\b")
_ONE_ANOTHER = re.compile(r"\sanother\b")
_BEFORE_ONE = re.compile(r"\b(?:no|any|every|each|this|that|which|another|other|last|first|next|new|old|the)\s$")
_AFTER_ONE = re.compile(
    r"\s?(?:$|[.,;:!?)])|\s(?:who|whom|that|which|with|was|is|has|had|did|does|knows|can|could|else|to|from|in)\b"
)
"""What stands around a "one" that counts nothing: "the last one was"."""

# Long enough for "no more than approximately "
_LOOK_BACK = 34
"""Characters before a number that can say its bound or direction."""
_LONGEST_JOINT = 5
"""Characters between two parts of a measure: ", and "."""
_JOINS_PARTS = re.compile(r"\.?\s?(?:,|and\b|-|)\s?")
_FEET = frozenset({"feet", "'"})
_INCHES_PER_FOOT = 12
_INCHES = re.compile(r"""\s?(?:in\b\.?|")|(?=\W|$)""")
"""The ending of 11 in "6 ft 11 in", `6'11"` and "six foot eleven"."""


def read_quantities(text: str) -> list[AnswerQuantity]:
    """The quantities of a text from `plain_text` in order. Its whole dates must be gone.

    >>> [(quantity.value, quantity.units[0].name) for quantity in read_quantities("5 ft 11 in or $-2 million")]
    [(71.0, 'inches'), (-2000000.0, '$')]
    """
    matches = [match for match in _NUMBER.finditer(text) if not _is_pronoun(text, match)]
    # Parts are joined last, as the inches of "6 ft 11" get their unit from the feet
    quantities = [_read_quantity(text, match) for match in matches]
    return _join_parts(text, quantities)


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    """Whether a 1 was a pronoun: "no one", "the last one", "one of the most famous singers"."""
    if match[0] != "1":
        return False
    if _ONE_OF_THE_BEST.match(text, match.end()) or _ONE_ANOTHER.match(text, match.end()):
        return True
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return _BEFORE_ONE.search(before) is not None and _AFTER_ONE.match(text, match.end()) is not None


def read_direction(question: str) -> int:
    """1 if a question asks how much something rose, -1 how much it fell; 0 if neither or both."""
    matches = list(_DIRECTION_WORD.finditer(question))
    # A question with both, "rose or fell", cancels out
    is_down = any(match["down"] for match in matches)
    is_up = any(match["up"] for match in matches)
    return int(is_up) - int(is_down)


def _read_quantity(text: str, match: re.Match[str]) -> AnswerQuantity:
    """The quantity of a match of `_NUMBER`, with what the words around it say."""
    # "1,50,000" and "150,000" are the same digits
    digits = match["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = _read_scale(match)
    # Only four bare digits can be a decade: "1930s", but "1,930 s" are seconds
    may_be_decade = scale == 1 and match["digits"].isdigit() and len(digits) == 4
    units, end = _read_units(text, match, may_be_decade=may_be_decade)

    # "($1.25)" and "$(1.25)" are losses in accounts, "$40 million (€37 million)" is none.
    is_in_brackets = match.start() <= 1 and text[: match.start()] == "(" and text[end:].strip(" .") == ")"
    is_loss = bool(match["currency"]) and is_in_brackets
    is_negative = match["sign"] == "-" or bool(match["inner_sign"]) or is_loss
    value = float(digits) * scale

    # The last digit of "1.23 million" is worth 10,000: scale and decimals make the step
    quantity = AnswerQuantity(
        value=-value if is_negative else value,
        step=scale * 10.0**-decimals,
        units=units,
        signed=is_negative or bool(match["sign"]),
        ordinal=bool(match["ordinal"]),
        grouped="," in match["digits"],
        decade=may_be_decade and digits.endswith("0") and text[end : end + 1] == "s",
        start=match.start(),
        end=end,
    )
    return _with_context(text, quantity)


def _read_scale(match: re.Match[str]) -> float:
    """By what the digits are multiplied: 1e12 for "2 lakh crore", 1e5 for "3e5"."""
    # "$75m" is money; without a currency the "m" is left for the units
    magnitude = match["word"] or match["letter"]
    if match["currency"] and match["currency_letter"]:
        magnitude = match["currency_letter"]

    scale = SCALES[magnitude] if magnitude else 1.0
    if match["second_word"]:
        scale *= SCALES[match["second_word"]]
    if match["exponent"]:
        scale *= 10.0 ** int(match["exponent"])
    return scale


def _read_units(text: str, match: re.Match[str], *, may_be_decade: bool) -> UnitsInText:
    """The possible units of a number, which end the number too: a currency before it, else what follows."""
    end = match.end()
    if match["percent"]:
        return UnitsInText((PERCENT,), end)
    if match["ordinal"] or (may_be_decade and text[end : end + 1] == "s"):
        return UnitsInText((), end)  # 3rd, the 1930s

    # Without a currency the letter is a unit: "75m tall".
    if match["currency_letter"] and not match["currency"]:
        end = match.start("currency_letter")
    following = units_at(text, end)
    if not match["currency"]:
        return following

    # "$5 dollars" names the currency twice.
    is_named_twice = bool(following.units) and is_money(following.units[0])
    return UnitsInText((currency_before(match["currency"]),), following.end if is_named_twice else end)


def _with_context(text: str, quantity: AnswerQuantity) -> AnswerQuantity:
    """With what the words around the number say: bound, era and direction."""
    # The era first: it makes a number such as 44 a year, of which "after" is a bound
    before = text[max(0, quantity.start - _LOOK_BACK) : quantity.start]
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


def _join_parts(text: str, quantities: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The parts of a measure as one quantity: 5 ft 11 in, 2 hours and 5 minutes."""
    joined: list[AnswerQuantity] = []
    for quantity in quantities:
        if joined:
            # A joined measure can take a third part: hours, minutes, seconds
            whole = _join_pair(text, joined[-1], quantity)
            if whole is not None:
                joined[-1] = whole
                continue
        joined.append(quantity)
    return joined


def _join_pair(text: str, first: AnswerQuantity, second: AnswerQuantity) -> AnswerQuantity | None:
    """Both as one quantity in the smaller unit; None if they are no parts of one measure."""
    gap = text[first.end : second.start]
    if not first.units or len(gap) > _LONGEST_JOINT or not _JOINS_PARTS.fullmatch(gap):
        return None

    # "6 ft 11": the second number needs no unit of its own
    if not second.units:
        second = _in_inches(text, first.units[0], second)

    # An ambiguous unit such as m, metres or minutes, is settled by the unit beside it
    for whole_unit, part_unit in product(first.units, second.units):
        is_same_dimension = part_unit.dimension == whole_unit.dimension
        # A part is less than one of the larger unit: "2 hours 5 minutes".
        if is_same_dimension and second.value * part_unit.size < whole_unit.size:
            parts_in_whole = float(whole_unit.size / part_unit.size)
            value = parts_in_whole * first.value + second.value
            return replace(
                first,
                value=value,
                step=second.step,
                units=(part_unit,),
                end=second.end,
            )
    return None


def _in_inches(text: str, whole_unit: Unit, number: AnswerQuantity) -> AnswerQuantity:
    """A number after feet as inches if it can be: the 11 of "6 ft 11 in"; else as it is."""
    inches = _INCHES.match(text, number.end)
    if inches is None or whole_unit.name not in _FEET or number.value >= _INCHES_PER_FOOT:
        return number
    unit = Unit("inches", "length", whole_unit.size / _INCHES_PER_FOOT)
    return replace(number, units=(unit,), end=inches.end())
