"""Normalises a question for rules about its answer: lower case, without polite phrases, with masked names.

Names are masked because titles may contain any word: "the more the merrier" compares nothing.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from crag.graph.language import Average, Call, Program
from crag.graph.results import Row
from crag.graph.schema import Domain, load_schema
from crag.text.matching import contains_words, normalise_name

_WH = r"(?:what|when|who|whose|whom|which|where|how|why)\b"
_COURTESIES = re.compile(
    r"^(?:(?:hey|hi|please|so|and|well|i'm curious|tell me|i(?:'d| would) like to know"
    r"|(?:do|would) you (?:happen to )?know|(?:do|did|can|could|would|will|are) you (?:[a-z']+ ){0,3}?[a-z']+(?= "
    + _WH
    + r")|(?:can|could|would|will|are) you (?:please |able to )?"
    r"(?:tell|give|name|list|share|provide|say|let|identify)(?: me| us)?(?: know)?(?: with)?)[,:]? +)+"
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|will|can|could)\b"
_CIRCUMSTANCE = re.compile(
    r"^(?:in|on|during|for|at|over|throughout|within|from|as|this|last|by)\b(?! (?:which|what|whose|how)\b)"
    r"[^,?]{1,80}, +(?=" + _AUXILIARY + "|" + _WH + ")"
    r"|^when\b(?! " + _AUXILIARY + r")[^,?]{1,80}?(?:, (?=" + _WH + r")| (?=(?:what|who|which \w+) " + _AUXILIARY + "))"
)
_DIGITS = re.compile(r"\b(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?\b")
_CHOICE = re.compile(r", (?:which|who|what|how)\b|^\w+ (?:the )?@[0-9]+ or (?:the )?@[0-9]+ ")
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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: `text` has "@0", "@1" ... in place of names, `names` has them as the question writes them."""

    text: str
    names: tuple[str, ...] = ()

    @property
    def core(self) -> str:
        """The text without an introduction such as "in 2022, ..."."""
        text = _CIRCUMSTANCE.sub("", self.text)
        return _COURTESIES.sub("", _CIRCUMSTANCE.sub("", text))

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it asks for yes or no. "if i compare them, which is brighter" and "does A or B have more" do not."""
        return bool(YES_OR_NO.search(self.core)) and not _CHOICE.search(self.core)

    def mark(self, name: str) -> str | None:
        """The mark of a name in `text`, or None if the question lacks the name."""
        wanted = _pattern(name)
        return next((f"@{place}" for place, written in enumerate(self.names) if wanted.fullmatch(written)), None)

    def place(self, name: str) -> int | None:
        """The first position of a name in `text`, or None."""
        mark = self.mark(name)
        return self.text.find(mark) if mark else None

    def written(self, name: str) -> str:
        """The name as the question writes it, or unchanged."""
        return next((written for written in self.names if _pattern(name).fullmatch(written)), name)


def ask(question: str, domain: Domain, program: Program) -> Asked:
    """Mask the names of the program's calls in the question."""
    text = _COURTESIES.sub("", " ".join(question.lower().replace("\u2019", "'").split()))
    names: list[str] = []
    for name in sorted(set(_names(domain, program)), key=len, reverse=True):
        if found := _pattern(name).search(text):
            text = _pattern(name).sub(f"@{len(names)}", text)
            names.append(found.group())
    return Asked(text, tuple(names))


def keeps_dates(question: str, program: Program) -> bool:
    """Whether the calls contain the question's numeric days and months, such as 2023-01."""
    return all(date in repr(program) for date in _DIGITS.findall(question))


def _names(domain: Domain, program: Program) -> Iterator[str]:
    """Entity names in arguments, and words in conditions, such as an award's category."""
    tables = load_schema(domain).tables
    for statement in program.statements:
        if isinstance(statement, Call):
            for argument, parameter in zip(statement.arguments, tables[statement.table].parameters, strict=False):
                if parameter.kind.is_entity:
                    names = argument if isinstance(argument, tuple) else (argument,)
                    yield from (name for name in names if isinstance(name, str))
        if not isinstance(statement, Average):
            for condition in statement.conditions:
                if isinstance(condition.value, str) and " " in condition.value:
                    yield condition.value


def _pattern(name: str) -> re.Pattern[str]:
    """A pattern for the name with any punctuation between its words."""
    words = re.findall(r"\w+", name.casefold())
    return re.compile(r"(?<![\w@])" + r"\W+".join(map(re.escape, words)) + r"(?!\w)" if words else r"(?!)")


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
_TEAMS = re.compile(r"^(?:which|what|who|the|all|every|name|list)\b.*?\bteams?\b")
_NOMINATED = re.compile(r"\bnomin")
_LEAST_NICKNAME = 5


def meant_rows(asked: Asked, rows: Sequence[Row], decided: Collection[str] = ()) -> tuple[Row, ...]:
    """The rows that fit the question's words about winning, losing, home, away and opponents.

    `decided` are the keys with conditions in the call; they are not filtered again.
    """
    kept = tuple(rows)
    known = (set(kept[0].cells) if kept else set()) - set(decided)
    if "venue" in known:
        kept = _at_the_place(asked.text, kept)
    if "opponent" in known:
        kept = _against_named(asked, kept)
    letters = letters_of(asked.text)
    if against := result_against_others(asked, kept):
        letters = {against}
    if against or ("result" in known and len(letters) == 1):
        kept = tuple(row for row in kept if row.cells.get("result") in letters)
    if "winner" in known and WIN.search(asked.text) and not _NOMINATED.search(asked.text):
        kept = tuple(row for row in kept if row.cells.get("winner"))
    return kept


def letters_of(text: str) -> set[str]:
    """The results of games that a text names: W, L or D."""
    return {letter for letter, words in (("W", WIN), ("L", LOSS), ("D", DRAW)) if words.search(text)}


def result_against_others(asked: Asked, rows: Sequence[Row]) -> str | None:
    """W or L of the games in "which teams beat A" (L: A lost) or "which teams did A beat" (W)."""
    text, loses = asked.core, _LOSES_TO.search(asked.core)
    verb = loses or BEATS.search(text)
    if verb is None or not rows or "result" not in rows[0].cells or not _TEAMS.search(text):
        return None
    mark = asked.mark(str(rows[0].cells.get("team"))) or "@0"
    if mark not in text:
        return None
    return "L" if (text.find(mark) < verb.start()) is bool(loses) else "W"


def _at_the_place(text: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    home, away = bool(HOME.search(text)), bool(AWAY.search(text))
    venue = "Home" if home else "Away"
    return tuple(row for row in rows if home is away or row.cells.get("venue") == venue)


def _against_named(asked: Asked, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The games against the opponents in the question, named in full or by a unique last word."""
    own = {word for row in rows[:1] for word in normalise_name(str(row.cells.get("team"))).split()}
    last_words = {
        name: normalise_name(name).rsplit(" ", 1)[-1] for name in {str(r.cells.get("opponent")) for r in rows}
    }
    times = Counter(last_words.values())
    named = {
        name
        for name, word in last_words.items()
        if contains_words(asked.text, name)
        or (len(word) >= _LEAST_NICKNAME and times[word] == 1 and word not in own and contains_words(asked.text, word))
    }
    return tuple(row for row in rows if not named or str(row.cells.get("opponent")) in named)
