"""Whether the right answer can be had from a context, by kinds of answers."""

import pytest

from crag.evaluation.answer_in_text import RulesContextCheck
from crag.evaluation.judge import Claim, Judgement, Verdict


def doc(text: str, title: str = "") -> str:
    return f'<doc source="7.example" title="{title}">\n{text}\n</doc>\n'


def judged(query: str, context: str, *golds: str) -> Judgement:
    (judgement,) = RulesContextCheck().judge([Claim(query, golds, context)])
    return judgement


BRIDGE = doc(
    "The bridge was opened on 24 May 1883 after 14 years. It cost $15.5 million. Emily Warren Roebling, who led the "
    "work, crossed it first. Twenty men had lost their lives.",
    "Brooklyn Bridge",
)
BRIDGE_IN_A_LIST = doc(
    "Emily Warren Roebling crossed the bridge first.\n- The towers are of stone.\n- The cables are of steel.\n"
    "It is unclear who came second.",
    "Brooklyn Bridge",
)
MOONS = doc("Mars has two small moons.", "Mars") + doc("Jupiter has 95 known moons.", "Jupiter")


@pytest.mark.parametrize(
    ("query", "gold", "context", "found"),
    [
        # names: word by word, without middle names, misspelt; not a part of the name alone
        ("who crossed the brooklyn bridge first?", "emily warren roebling", BRIDGE, True),
        ("who crossed the brooklyn bridge first?", "washington roebling", BRIDGE, False),
        # the passage is about something else
        ("which novelist won the prize?", "emily warren roebling", BRIDGE, False),
        # beside a list, and beside a doubt about something else
        ("who crossed the brooklyn bridge first?", "emily warren roebling", BRIDGE_IN_A_LIST, True),
        # dates and years in any notation
        ("when was the brooklyn bridge opened?", "1883-05-24", BRIDGE, True),
        ("in which year was the brooklyn bridge opened?", "1883", BRIDGE, True),
        # numbers in any notation; small ones only beside the question's words, in the question's year
        ("how much did the brooklyn bridge cost?", "$15,500,000", BRIDGE, True),
        ("how many years did the brooklyn bridge take until it opened?", "14", BRIDGE, True),
        ("how many men lost their lives in 1902?", "20", BRIDGE, False),
        ("how many trains cross the river every hour?", "14", BRIDGE, False),
        ("how many sources are there?", "7", BRIDGE, False),  # it stands in an address only
        # sets: every item, anywhere
        ("which planets are named?", "mars and jupiter", MOONS, True),
        ("which planets are named?", "mars, jupiter and saturn", MOONS, False),
        # choices and yes or no: the text must speak of what is asked
        ("which has more moons, mars or jupiter?", "jupiter", MOONS, True),
        ("which has more craters on its poles, mars or jupiter?", "jupiter", MOONS, False),
        ("does mars have two moons?", "yes", MOONS, True),
        ("does mars have a breathable atmosphere?", "no", MOONS, False),
        # sentences: their core, or most of what they tell
        ("how many moons does mars have?", "mars has a total of two known moons around it.", MOONS, True),
        ("how many moons does mars have?", "mars has a total of nine known moons around it.", MOONS, False),
        ("how many moons does mars have?", "2", "", False),
    ],
)
def test_each_kind_of_answer_is_found_only_in_a_text_about_the_question(
    query: str, gold: str, context: str, found: bool
) -> None:
    judgement = judged(query, context, gold)
    assert judgement.verdict is (Verdict.CORRECT if found else Verdict.INCORRECT), judgement.reason


def test_an_alternative_will_do() -> None:
    judgement = judged("who crossed the bridge first?", BRIDGE, "mrs. r.", "emily warren roebling")
    assert judgement.verdict is Verdict.CORRECT
