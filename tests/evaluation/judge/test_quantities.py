"""Rules for numbers, pairs of numbers and missing values as answers."""

import pytest

from evaluation.judge.case import Case, Finding
from evaluation.judge.quantities import no_value, same_pair, same_quantity


def decided(finding: Finding | None) -> bool | None:
    return None if finding is None else finding.correct


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "correct"),
    [
        ("how many films?", "5", "Five films.", True),
        ("how many films?", "five", "5", True),
        ("how many films?", "5", "6", False),
        ("how many films?", "5", "15", False),
        ("how many films?", "5", "many", False),
        ("how many films?", "0", "She has never made any.", True),
        ("how many films?", "0", "She made 3.", False),
        ("how many films?", "0", "She has made 12 films, not 10.", False),
        ("how many films?", "0", "no idea", False),
        ("how many films?", "0", "As of 2024 she has not made any.", True),
        ("how many of the 12 films?", "0", "None of the 12.", True),
        ("how many of the 12 films?", "5", "Of the 12 films, 5.", True),
        ("how many of the 12 films?", "12", "All 12 films.", True),
        ("how many films?", "5", "By 1998 she had made 5 films.", True),
        ("how many films?", "5", "She made 6 films. The 5 oldest are lost. One was found, so 7.", False),
        ("which year?", "1998", "It was 1998.", True),
        ("which year?", "1998", "It was 1999.", False),
        ("which year?", "1998", "On May 3, 1998.", True),
        ("which year?", "1998", "1998.5", False),
        ("how much did it make?", "$1.23 billion", "about $1,230,000,000", True),
        ("how much did it make?", "$1.23 billion", "1.23 million dollars", False),
        ("how much did it make?", "1.23 billion", "1230 million", True),
        ("what share?", "12.5%", "12.5 percent", True),
        ("what share?", "12.5%", "12.5 per cent", True),
        ("what share?", "12.5%", "$12.5", False),
        ("how cold?", "-4", "4", False),
        ("who?", "ann lee", "5", None),
        ("when?", "may 5", "5", None),
        ("how many films?", "12", "a dozen", True),
        ("how tall is it?", "2,717 feet", "approximately 2,720 feet", True),
        ("how tall is it?", "2,717 feet", "2,720 feet", False),
        ("what did it cost?", "$2,717", "about $2,720", False),
        ("what share?", "12%", "0.12", True),
        ("what share?", "12.4%", "12 percent", True),
        ("what was its profit in 2020?", "5 million", "9 million in 2020, and 5 million in 2019", False),
        ("what was its profit in 2020?", "5 million", "9 million in 2019, and 5 million in 2020", True),
        ("how many million people live there?", "3 million", "3", True),
        ("how many regions?", "2", "There are 2 regions:\n1. A\n2. B\n3. C", False),
    ],
)
def test_same_quantity(query: str, gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_quantity(Case(query, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("3-1", "It ended 3–1.", True),
        ("3-1", "three to one", True),
        ("3-1", "1-3", False),
        ("3-1", "3", False),
        ("1968-1972", "between 1968 and 1972", True),
        ("1968-72", "from 1968 to 1972", True),
        ("1968-1972", "1968", False),
        ("3", "3-1", None),
        ("2021-04-03", "3-1", None),
    ],
)
def test_same_pair(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_pair(Case("what was it?", gold, prediction))) is correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("nan", "There is no such ratio.", True),
        ("N/A", "not available", True),
        ("none", "She had no children.", True),
        ("nan", "", False),
        ("nan", "23.1", False),
        ("nan", "The dividend was 0.35", False),
        ("nan", "12.5, not 13", False),
        ("nan", "no idea", False),
        ("nan", "There was none in march 2024.", True),
        ("none", "It has 0 of them.", True),
        ("none", "0%", False),
        ("none of them", "no", None),
    ],
)
def test_no_value(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(no_value(Case("what is the ratio?", gold, prediction))) is correct


PRIZES = "ann lee won 5 prizes, in 1999, 2001, 2004, 2006 and 2012, of 12 nominations."


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "correct"),
    [
        ("how many prizes has ann lee won?", PRIZES, "five", True),
        ("how many prizes has ann lee won?", PRIZES, "1999", False),
        ("how many nominations does ann lee have?", PRIZES, "12", True),
        ("how many times was it one of the best?", "it was one of the best once, in 2011.", "once", True),
        ("how many times was it one of the best?", "it was one of the best once, in 2011.", "2011", False),
        ("how long is the road?", "road 20, the longest, is 3,365 miles long.", "It has 3,365 miles.", True),
        ("how long is the road?", "road 20, the longest, is 3,365 miles long.", "20 miles", False),
        ("what year did it end?", "it ended in 2019 after eight seasons.", "After 8 seasons, in 2019.", True),
        ("what year did it end?", "it ended in 2019 after eight seasons.", "After 8 seasons, in 2018.", False),
    ],
)
def test_of_several_numbers_of_a_sentence_the_one_asked_for_counts(
    query: str, gold: str, prediction: str, correct: bool
) -> None:
    assert decided(same_quantity(Case(query, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("prediction", "correct"),
    [
        ("1", True),
        ("It scored 1 goal in the League 1.", True),
        ("It scored 7 goals in the League 1.", False),
        ("Its goals in the French League 1 were 10.", False),
        ("Its goals in the LIGUE-1 were 1.", True),
    ],
)
def test_a_number_in_a_name_of_the_question_is_no_answer(prediction: str, correct: bool) -> None:
    query = "how many goals did the club score in its last game of the fra-ligue 1?"
    assert decided(same_quantity(Case(query, "1", prediction))) is correct
