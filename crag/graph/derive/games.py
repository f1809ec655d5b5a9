"""Answers from a team's games: wins and losses, opponents, outcome and venue of one game."""

import re
from dataclasses import replace

from crag.graph.derive.readings import NUMBERS, Derived, GraphEvidence, Reading
from crag.graph.masked_question import AWAY, BEATS, HOME, HOW_MANY, letters_of, meant_rows, result_against_others

_FARED = re.compile(r"\b(?:fared?|outcome|result)\b")
_WORDS = {"W": "W (win)", "D": "D (draw)", "L": "L (loss)"}


def number_of_games(case: GraphEvidence, reading: Reading) -> int | None:
    """How many games a team won, lost or drew, if the question counts them."""
    of_games = bool(reading.rows) and "result" in reading.rows[0].cells
    if not of_games or not (reading.counted or reading.key == "result"):
        return None
    letters = letters_of(case.text) or ({"W"} if re.search(r"\bsuccess", case.text) else set())
    played = [row for row in reading.rows if row.cells.get("result")]
    if len(letters) != 1 or not played or BEATS.search(case.text):
        return None
    meant = meant_rows(case.asked, played, reading.decided)
    return sum("result" in reading.decided or row.cells["result"] in letters for row in meant)


def part_of_games(case: GraphEvidence, reading: Reading) -> Reading:
    """The reading with only the games that the question means, such as home games."""
    rows = meant_rows(case.asked, reading.rows, reading.decided)
    column = reading.column
    if rows == reading.rows or column is None or column.type not in NUMBERS or reading.counted or reading.averaged:
        return reading
    cells = [row.cells.get(column.name) for row in rows]
    return replace(reading, rows=rows, values=tuple(cell for cell in cells if not isinstance(cell, tuple | None)))


def count_of_games(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The number of games that a team won, lost or drew, overall, at home or away."""
    if not HOW_MANY.search(case.text) or case.asked.is_yes_or_no:
        return None
    number = number_of_games(case, reading)
    if number is None:
        return None
    return Derived(str(number), f"counted {number} of {len(reading.rows)} games of {reading.name}")


def opponents(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The teams that beat the team in question, or that it beat."""
    if reading.key not in {"result", "opponent", ""} or not reading.rows or reading.counted:
        return None
    letter = result_against_others(case.asked, reading.rows)
    rows = [row for row in reading.rows if row.cells.get("result") == letter]
    if letter is None or not rows or reading.decided:
        return None
    done = "won" if letter == "W" else "lost"
    names = sorted({str(row.cells.get("opponent")) for row in rows})
    return Derived(", ".join(names), f"the opponents of the {len(rows)} games that {reading.name} {done}")


def one_game(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The outcome of one game, or its venue for "at home or away"."""
    if len(reading.values) != 1 or reading.counted:
        return None
    value = str(reading.values[0])
    if reading.key == "venue" and HOME.search(case.text) and AWAY.search(case.text):
        return Derived(value, f"the venue is {value}")
    asks = _FARED.search(case.text) or letters_of(case.text) >= {"W", "L"}
    if reading.key == "result" and value in _WORDS and asks:
        return Derived(_WORDS[value], f"the result is {value}")
    return None
