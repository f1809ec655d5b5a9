"""Normalises a question for rules about its answer: lower case, without polite phrases, with masked names.

Names are masked because titles may contain any word: "the more the merrier" compares nothing.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from crag.graph.language import Average, Call, Program, names_in
from crag.graph.results import Row
from crag.graph.schema import Domain, load_schema
from crag.text.matching import contains_words, normalise_name

_WH = r"(?:what|when|who|whose|whom|which|where|how|why)\b"
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|will|can|could)\b"

_COURTESIES = re.compile(
    rf"""
    ^(?:
        (?:
            hey|hi|please|so|and|well|i'm[ ]curious|tell[ ]me
            |i(?:'d|[ ]would)[ ]like[ ]to[ ]know
            |(?:do|would)[ ]you[ ](?:happen[ ]to[ ])?know
            # "can you recall who ...": any verb, but only before a question word. "Did you win" is no courtesy.
            |(?:do|did|can|could|would|will|are)[ ]you[ ](?:[a-z']+[ ]){{0,3}}?[a-z']+(?=[ ]{_WH})
            # "could you give me the ...": the verbs of asking need no question word.
            |(?:can|could|would|will|are)[ ]you[ ](?:please[ ]|able[ ]to[ ])?
             (?:tell|give|name|list|share|provide|say|let|identify)(?:[ ]me|[ ]us)?(?:[ ]know)?(?:[ ]with)?
        )
        [,:]?[ ]+
    )+
    """,
    re.VERBOSE,
)
_CIRCUMSTANCE = re.compile(
    rf"""
    # "in 2022, who ...", but not "in which year, ...": that is the question itself.
    ^(?:in|on|during|for|at|over|throughout|within|from|as|this|last|by)\b(?![ ](?:which|what|whose|how)\b)
     [^,?]{{1,80}},[ ]+(?={_AUXILIARY}|{_WH})
    # "when we look at prices, which ...", but not "when did ...".
    |^when\b(?![ ]{_AUXILIARY})[^,?]{{1,80}}?
     (?:,[ ](?={_WH})|[ ](?=(?:what|who|which[ ]\w+)[ ]{_AUXILIARY}))
    """,
    re.VERBOSE,
)
_NUMERIC_DATE = re.compile(r"\b(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?\b")
_CHOICE = re.compile(r", (?:which|who|what|how)\b|^\w+ (?:the )?@[0-9]+ or (?:the )?@[0-9]+ ")
"""A choice between names: "..., which is brighter", "does A or B have more"."""

YES_OR_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should|if)\b|\bwhether\b|\bif\b"
)
HOW_MANY = re.compile(
    r"\bhow (?:many|much|often|frequently)\b|\b(?:number|amount|count|frequency|total) of\b"
    r"|\b\w+ frequency\b|\btotal \w+s\b"
)
TOTAL = re.compile(r"\b(?:total|combined|altogether|cumulative(?:ly)?|overall|sum)\b")
AVERAGE = re.compile(r"\b(?:average|mean)\b")
WHICH = re.compile(r"\b(?:which|what|who|whose)\b")

# --- words of games ---------------------------------------------------------------------------------------------------

WIN = re.compile(r"\b(?:wins?|won|winning|winners?|victor(?:y|ies|ious)|triumph(?:s|ed)?)\b")
LOSS = re.compile(
    r"\b(?:los(?:e|es|t|ing|s|ses)|defeats|defeated by|beaten by|(?:come|came|fall|fell) (?:up )?short)\b"
)
DRAW = re.compile(r"\b(?:draws?|drew|drawn|ties?|tied)\b")
HOME = re.compile(r"\bhome\b|\bas hosts?\b|\bhosted\b")
AWAY = re.compile(r"\baway\b|\bon the road\b|\broad (?:team|games?)\b|\bvisit(?:ing|ors?)\b|\bforeign\b")
BEATS = re.compile(
    r"\b(?:won|win|wins|victorious|triumph(?:ed)?|prevail(?:ed)?)(?: \w+){0,3}? (?:against|over)\b"
    r"|\b(?:beat|beaten|defeat(?:ed)?|outplay(?:ed)?|outscored?|overcome|overcame|bested|conquer(?:ed)?)\b"
)
_LOSES_TO = re.compile(r"\b(?:lost|lose|losing|fell|fall) (?:to|against)\b|\b(?:beaten|defeated) by\b")
_ASKS_FOR_TEAMS = re.compile(r"^(?:which|what|who|the|all|every|name|list)\b.*?\bteams?\b")
_NOMINATED = re.compile(r"\bnomin")

_MIN_NICKNAME_LENGTH = 5
"""A shorter last word of a team's name, such as "city", is not a nickname."""


@dataclass(frozen=True, slots=True)
class MaskedQuestion:
    """A question: `text` has "@0", "@1" ... in place of names, `names` has them as the question writes them.

    Example: "who directed @0?" with the names ("jaws",).
    """

    text: str
    names: tuple[str, ...] = ()

    @property
    def core(self) -> str:
        """The text without an introduction such as "in 2022, ..."."""
        text = _CIRCUMSTANCE.sub("", self.text)
        # Two in a row: "in 2022, when we look at prices, which ..."
        text = _CIRCUMSTANCE.sub("", text)
        return _COURTESIES.sub("", text)

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it asks for yes or no. "if i compare them, which is brighter" and "does A or B have more" do not."""
        return bool(YES_OR_NO.search(self.core)) and not _CHOICE.search(self.core)

    def mark(self, name: str) -> str | None:
        """The mark of a name in `text`, or None if the question lacks the name."""
        pattern = _name_pattern(name)
        for index, written in enumerate(self.names):
            if pattern.fullmatch(written):
                return f"@{index}"
        return None

    def find_position(self, name: str) -> int | None:
        """The first position of a name in `text`, or None."""
        mark = self.mark(name)
        return self.text.find(mark) if mark else None

    def written(self, name: str) -> str:
        """The name as the question writes it, or unchanged."""
        pattern = _name_pattern(name)
        for written in self.names:
            if pattern.fullmatch(written):
                return written
        return name


def mask_names(question: str, domain: Domain, program: Program) -> MaskedQuestion:
    """Mask the names of the program's calls in the question.

    Example: "Can you tell me who directed Jaws?" with the call `get_movie("jaws")["directed by"]` becomes
    "who directed @0?".
    """
    # The patterns know only the straight apostrophe: "i'd like to know"
    straight_quotes = question.lower().replace("\u2019", "'")
    single_blanks = " ".join(straight_quotes.split())
    text = _COURTESIES.sub("", single_blanks)

    # Longest first: "the red kite 2" before "the red kite".
    names = set(_called_names(domain, program))
    masked: list[str] = []
    for name in sorted(names, key=len, reverse=True):
        pattern = _name_pattern(name)
        match = pattern.search(text)
        if match is not None:
            text = pattern.sub(f"@{len(masked)}", text)
            masked.append(match.group())
    return MaskedQuestion(text, tuple(masked))


def keeps_dates(question: str, program: Program) -> bool:
    """Whether the calls contain the question's numeric days and months, such as 2023-01."""
    # Wherever they are in the program: arguments, conditions, lists
    calls = repr(program)
    return all(date in calls for date in _NUMERIC_DATE.findall(question))


def _called_names(domain: Domain, program: Program) -> Iterator[str]:
    """Entity names in arguments, and words in conditions, such as an award's category."""
    for statement in program.statements:
        if isinstance(statement, Call):
            yield from _entity_names(domain, statement)
        if isinstance(statement, Average):
            continue
        for condition in statement.conditions:
            if isinstance(condition.value, str) and " " in condition.value:
                yield condition.value


def _entity_names(domain: Domain, call: Call) -> Iterator[str]:
    parameters = load_schema(domain).tables[call.table].parameters
    for argument, parameter in zip(call.arguments, parameters, strict=False):
        if parameter.kind.is_entity:
            yield from names_in(argument)


def _name_pattern(name: str) -> re.Pattern[str]:
    """A pattern for the name with any punctuation between its words; it matches nothing for a name without words."""
    words = re.findall(r"\w+", name.casefold())
    if not words:
        return re.compile(r"(?!)")
    escaped_words = map(re.escape, words)
    # Not after "@": the name "1" must not be found in the mark "@1" of another name
    return re.compile(r"(?<![\w@])" + r"\W+".join(escaped_words) + r"(?!\w)")


# --- rows that the question means -------------------------------------------------------------------------------------


def meant_rows(
    masked: MaskedQuestion,
    rows: Sequence[Row],
    filtered_keys: Collection[str] = (),
) -> tuple[Row, ...]:
    """The rows that fit the question's words about winning, losing, home, away and opponents.

    `filtered_keys` have conditions in the call, which has filtered by them already.
    """
    meant = tuple(rows)
    if not meant:
        return meant

    keys = set(meant[0].cells) - set(filtered_keys)
    if "venue" in keys:
        meant = _at_venue(masked.text, meant)
    if "opponent" in keys:
        meant = _against_opponents(masked, meant)

    # By the verb towards the opponents, such as "beat" or "lost to", else by the only result that is named.
    against = result_against_others(masked, meant)
    letters = {against} if against else named_results(masked.text)
    if against or ("result" in keys and len(letters) == 1):
        meant = tuple(row for row in meant if row.cells.get("result") in letters)

    # Of an award's nominations "who won" means the winners.
    if "winner" in keys and WIN.search(masked.text) and not _NOMINATED.search(masked.text):
        meant = tuple(row for row in meant if row.cells.get("winner"))
    return meant


def named_results(text: str) -> set[str]:
    """The results of games that a question names, by the graph's letters: "W" for won, "L" for lost, "D" for drawn.

    >>> sorted(named_results("how often did they win or draw?"))
    ['D', 'W']
    """
    letters = set()
    for letter, words in (("W", WIN), ("L", LOSS), ("D", DRAW)):
        if words.search(text):
            letters.add(letter)
    return letters


def result_against_others(masked: MaskedQuestion, rows: Sequence[Row]) -> str | None:
    """The result, from A's side, of the games in "which teams beat A" ("L") and "which teams did A beat" ("W").

    None for another question, and for rows that are no games.
    """
    text = masked.core
    loses_to = _LOSES_TO.search(text)
    verb = loses_to or BEATS.search(text)
    if verb is None or not _ASKS_FOR_TEAMS.search(text):
        return None
    if not rows or "result" not in rows[0].cells:
        return None

    # The graph's spelling of the team can differ from the question's; then the first mark is tried
    mark = masked.mark(str(rows[0].cells.get("team"))) or "@0"
    if mark not in text:
        return None

    # The winner stands before "beat" and after "lost to".
    team_before_verb = text.find(mark) < verb.start()
    team_loses = team_before_verb if loses_to else not team_before_verb
    return "L" if team_loses else "W"


def _at_venue(text: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The home or away games, if the question names one of the two."""
    asks_home = bool(HOME.search(text))
    asks_away = bool(AWAY.search(text))
    # "At home or away" names both, which leaves all games
    if asks_home == asks_away:
        return rows
    venue = "Home" if asks_home else "Away"
    return tuple(row for row in rows if row.cells.get("venue") == venue)


def _against_opponents(masked: MaskedQuestion, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The games against the opponents in the question, named in full or by a unique last word."""
    if not rows:
        return rows
    team_words = normalise_name(str(rows[0].cells.get("team"))).split()

    # The last word of an opponent's name, such as "lakers".
    opponents = {str(row.cells.get("opponent")) for row in rows}
    nickname_by_name = {}
    for name in opponents:
        *_, nickname = normalise_name(name).split(" ")
        nickname_by_name[name] = nickname
    nickname_counts = Counter(nickname_by_name.values())

    mentioned: set[str] = set()
    for name, nickname in nickname_by_name.items():
        if contains_words(masked.text, name):
            mentioned.add(name)
            continue

        # Two opponents can share it ("united"), and so can the team itself.
        is_unique = nickname_counts[nickname] == 1 and nickname not in team_words
        if is_unique and len(nickname) >= _MIN_NICKNAME_LENGTH and contains_words(masked.text, nickname):
            mentioned.add(name)

    if not mentioned:
        return rows
    return tuple(row for row in rows if str(row.cells.get("opponent")) in mentioned)
