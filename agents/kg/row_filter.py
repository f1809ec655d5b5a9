"""Which of the rows that a call found does the question mean? A model forgets conditions; the rows can still tell.

"How many games did they win at home" means the rows with a win and the venue "Home", whether or not the call said so.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from agents.kg.masked_question import Asked
from agents.kg.names import contains_words, fold
from agents.kg.results import Row

WIN = re.compile(r"\b(?:wins?|won|winning|winners?|victor(?:y|ies|ious)|triumph(?:s|ed)?)\b")
LOSS = re.compile(
    r"\b(?:los(?:e|es|t|ing|s|ses)|defeats|defeated by|beaten by|(?:come|came|fall|fell) (?:up )?short)\b"
)
DRAW = re.compile(r"\b(?:draws?|drew|drawn|ties?|tied)\b")
HOME = re.compile(r"\bhome\b|\bas hosts?\b|\bhosted\b")
AWAY = re.compile(r"\baway\b|\bon the road\b|\broad (?:team|games?)\b|\bvisit(?:ing|ors?)\b|\bforeign\b")
_BEATS = re.compile(
    r"\b(?:won|win|wins|victorious|triumph(?:ed)?|prevail(?:ed)?)(?: \w+){0,3}? (?:against|over)\b"
    r"|\b(?:beat|beaten|defeat(?:ed)?|outplay(?:ed)?|outscored?|overcome|overcame|bested|conquer(?:ed)?)\b"
)
_LOSES_TO = re.compile(r"\b(?:lost|lose|losing|fell|fall) (?:to|against)\b|\b(?:beaten|defeated) by\b")
_TEAMS = re.compile(r"^(?:which|what|who|the|all|every|name|list)\b.*?\bteams?\b")
_NOMINATED = re.compile(r"\bnomin")
_LEAST_NICKNAME = 5


def meant_rows(asked: Asked, rows: Sequence[Row], decided: Collection[str] = ()) -> tuple[Row, ...]:
    """The rows that fit the question's words about winning, losing, home, away and the other team.

    `decided` are the keys for which the call has conditions of its own; it is not second-guessed there.
    """
    kept = tuple(rows)
    known = (set(kept[0].cells) if kept else set()) - set(decided)
    if "venue" in known:
        kept = _at_the_place(asked.text, kept)
    if "opponent" in known:
        kept = _against_named(asked, kept)
    letters = letters_of(asked.text)
    against = result_against_others(asked, kept)
    if against:
        kept = tuple(row for row in kept if row.cells.get("result") == against)
    elif "result" in known and len(letters) == 1:
        kept = tuple(row for row in kept if row.cells.get("result") in letters)
    if "winner" in known and WIN.search(asked.text) and not _NOMINATED.search(asked.text):
        kept = tuple(row for row in kept if row.cells.get("winner"))
    return kept


def letters_of(text: str) -> set[str]:
    """The results of games that a text names: W, L, D."""
    return {letter for letter, words in (("W", WIN), ("L", LOSS), ("D", DRAW)) if words.search(text)}


def result_against_others(asked: Asked, rows: Sequence[Row]) -> str | None:
    """W or L of the games meant by "which teams beat A" (L: what A lost) or "which teams did A beat" (W)."""
    verb = _LOSES_TO.search(asked.core) or _BEATS.search(asked.core)
    mark = next((mark for row in rows[:1] if (mark := asked.mark(str(row.cells.get("team"))))), None) or "@0"
    if verb is None or mark not in asked.core or not _TEAMS.search(asked.core) or not rows:
        return None
    if "result" not in rows[0].cells:
        return None
    loses = bool(_LOSES_TO.search(asked.core))
    return "L" if (asked.core.find(mark) < verb.start()) is loses else "W"


def is_about_beating(text: str) -> bool:
    """Whether one team's win over another is named."""
    return bool(_BEATS.search(text))


def _at_the_place(text: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    home, away = bool(HOME.search(text)), bool(AWAY.search(text))
    if home is away:
        return rows
    return tuple(row for row in rows if row.cells.get("venue") == ("Home" if home else "Away"))


def _against_named(asked: Asked, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The games against the opponents that the question names, by their whole name or their own last word."""
    opponents = {str(row.cells.get("opponent")) for row in rows}
    own = {word for row in rows[:1] for word in fold(str(row.cells.get("team"))).split()}
    last = Counter(fold(name).rsplit(" ", 1)[-1] for name in opponents)
    named = {name for name in opponents if _is_named(asked.text, name, last, own)}
    return tuple(row for row in rows if not named or str(row.cells.get("opponent")) in named)


def _is_named(text: str, name: str, last: Counter[str], own: set[str]) -> bool:
    word = fold(name).rsplit(" ", 1)[-1]
    unmistakable = len(word) >= _LEAST_NICKNAME and last[word] == 1 and word not in own
    return contains_words(text, name) or (unmistakable and contains_words(text, word))
