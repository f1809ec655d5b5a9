"""Answers from a team's games: wins and losses, opponents, outcome and venue of one game."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import replace

from crag.graph.derive.readings import Derived, Reading, RuleInputs, plain_values
from crag.graph.language import Call, Program
from crag.graph.masked_question import AWAY, BEATS, HOME, HOW_MANY, meant_rows, named_results, result_against_others
from crag.graph.results import Result
from crag.graph.tables.nearest_games import LONGEST_BREAK, asks_for_last_game
from crag.graph.wording import GAME_RESULTS
from crag.text.dates import MONTH_NAME, month_number
from crag.text.matching import words

_ASKS_FOR_OUTCOME = re.compile(r"\b(?:fared?|outcome|result)\b")
_SUCCESS = re.compile(r"\bsuccess")
_DID_THEY = re.compile(
    r"""
    (?:did|have|has|was|were) \s (?:the\s)? @0 \s
    (?: (?:able|managed?|going) \s to \s )?
    (?: (?:secure|get|take|claim|earn|record|pull\soff|come\saway\swith|come\sout|emerge|end\sup) \s (?:an?\s|the\s)? )?
    (?P<outcome> win | won | winning | victory | victorious | lose | lost | losing | defeated | draw | drawn | tie )
    (?P<when> (?: \s [\w'-]+ ){0,10} )   # bounded; see the words below: not "win by ten points", "win the title"
    [ ?.!]{0,3}
    """,
    re.VERBOSE,
)
_WORDS_OF_A_GAME = frozenset(
    words(
        "a an at during for in of on the their its last latest most recent previous game match contest fixture outing "
        "nba league basketball football soccer yesterday yesterday's today today's tonight night time out"
    )
)
_THE_LEAGUE = ("the", "league")
_OTHER_COUNT = re.compile(
    r"""
    \b(?: in\ a\ row | consecutive(?:ly)? | straight | streaks?                        # a series of games
      | play-?offs? | post-?season | pre-?season | finals? | overtime | extra\ time       # games of a kind
      | titles? | championships? | cups? | trophies | awards? | medals? | rings?          # no games
      | points | goals | players?
      | not | without | by\ (?:at\ least\ |more\ than\ |over\ )?(?:\d+|\w+\ or\ more)    # other games
    )\b | n't\b
    """,
    re.VERBOSE,
)
"""What is counted, if it is not simply the games won, lost or drawn."""
_MONTH = re.compile(rf"\bin ({MONTH_NAME})")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_RESULTS = {letter: f"{letter} ({word})" for letter, word in GAME_RESULTS.items()}
"""The graph's letters of results, as they are answered: "W (win)"."""


def number_of_games(inputs: RuleInputs, reading: Reading) -> int | None:
    """How many games a team won, lost or drew, if the question counts them."""
    has_games = bool(reading.rows) and "result" in reading.rows[0].cells
    if not has_games or not (reading.counted or reading.key == "result"):
        return None

    # Exactly one of won, lost and drawn. Wins over certain opponents are not counted here.
    letters = named_results(inputs.question)
    if not letters and _SUCCESS.search(inputs.question):
        letters = {"W"}
    if len(letters) != 1 or BEATS.search(inputs.question) or _counts_others(inputs, reading):
        return None

    # Games to come have no result yet
    played = [row for row in reading.rows if row.cells.get("result")]
    if not played:
        return None

    games = meant_rows(inputs.masked, played, reading.filtered_keys)
    if "result" in reading.filtered_keys:  # the call has already filtered them
        return len(games)
    return sum(row.cells["result"] in letters for row in games)


def _counts_others(inputs: RuleInputs, reading: Reading) -> bool:
    """Whether the question counts other things than all games of the call: titles, games in a row, those of a month."""
    if _OTHER_COUNT.search(inputs.question):
        return True
    call = repr(reading.call).lower()
    # "December" is 2022-12 in the call, or as the question has it
    months = _MONTH.findall(inputs.question)
    return any(month[:3] not in call and f"-{month_number(month):02}" not in call for month in months)


def part_of_games(inputs: RuleInputs, reading: Reading) -> Reading:
    """The reading with only the games that the question means, such as home games."""
    rows = meant_rows(inputs.masked, reading.rows, reading.filtered_keys)
    column = reading.column
    if rows == reading.rows or column is None or not column.type.is_number:
        return reading
    if reading.counted or reading.averaged:
        return reading
    return replace(reading, rows=rows, values=plain_values(rows, column.name))


def count_of_games(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The number of games that a team won, lost or drew, overall, at home or away."""
    if not HOW_MANY.search(inputs.question) or inputs.is_yes_or_no:
        return None
    number = number_of_games(inputs, reading)
    if number is None:
        return None
    return Derived(str(number), f"counted {number} of {len(reading.rows)} games of {reading.requested_name}")


def opponents(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The teams that beat the team in question, or that it beat."""
    if reading.key not in {"result", "opponent", ""}:
        return None
    if not reading.rows or reading.counted or reading.filtered_keys:
        return None

    letter = result_against_others(inputs.masked, reading.rows)
    if letter is None:
        return None
    games = [row for row in reading.rows if row.cells.get("result") == letter]
    if not games:
        return None

    # An opponent that was met twice is named once; the order must not change from run to run
    names = {str(row.cells.get("opponent")) for row in games}
    answer = ", ".join(sorted(names))
    verb = "won" if letter == "W" else "lost"
    return Derived(answer, f"the opponents of the {len(games)} games that {reading.requested_name} {verb}")


def one_game(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The outcome of one game, or its venue for "at home or away"."""
    if len(reading.values) != 1 or reading.counted:
        return None
    value = str(reading.values[0])
    question = inputs.question

    if reading.key == "venue" and HOME.search(question) and AWAY.search(question):
        return Derived(value, f"the venue is {value}")
    if reading.key != "result" or value not in _RESULTS:
        return None
    if _ASKS_FOR_OUTCOME.search(question) or named_results(question) >= {"W", "L"}:
        return Derived(_RESULTS[value], f"the result is {value}")
    return None


def whether_won(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """Yes or no, for "did they win their last game?"; None if the question asks for more than the result."""
    if reading.key != "result" or reading.counted or len(reading.values) != 1:
        return None
    match = _DID_THEY.fullmatch(inputs.masked.core)
    if match is None:
        return None
    when = tuple(match["when"].split())
    # A title, not a game
    if when == _THE_LEAGUE:
        return None
    for word in when:
        if word not in _WORDS_OF_A_GAME and not _DAY.fullmatch(word):
            return None

    letters = named_results(match["outcome"]) or {"L"}  # "were they defeated"
    value = str(reading.values[0])
    if len(letters) != 1 or value not in _RESULTS:
        return None
    return Derived("yes" if value in letters else "no", f"the result is {_RESULTS[value]}")


def may_be_outdated(program: Program, results: Sequence[Result], today: dt.date) -> bool:
    """Whether a last game that was found is so long ago that the graph probably lacks later ones."""
    for statement, result in zip(program.statements, results, strict=False):
        if not isinstance(statement, Call) or not asks_for_last_game(statement.table, statement.arguments):
            continue
        days = [dt.date.fromisoformat(str(row.cells["date"])) for row in result.rows if row.cells.get("date")]
        if days and today - max(days) > LONGEST_BREAK:
            return True
    return False
