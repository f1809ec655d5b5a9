"""When a value of the graph is the answer by itself. The real labels say how often that is right."""

import pytest

from agents.kg.direct import direct_answer
from agents.kg.language import parse
from agents.kg.results import Result, Status, Value
from agents.kg.schema import Domain
from benchmarks.kg_execution import GRAPH, QUESTIONS, graph_server, run_rows
from evaluation.judge import make_judge
from evaluation.judge.base import Claim, Verdict, judge_claims


def answer(question: str, domain: Domain, calls: str, *values: tuple[Value, ...]) -> str | None:
    results = [Result(call, Status.OK, values=found) for call, found in zip(calls.split("\n"), values, strict=True)]
    return direct_answer(question, domain, parse(calls, domain), results)


@pytest.mark.parametrize(
    ("question", "domain", "calls", "values", "expected"),
    [
        (
            "when was big fish released?",
            "movie",
            'get_movie("big fish")["release_date"]',
            ("2003-12-25",),
            "2003-12-25",
        ),
        ("what year was big fish released?", "movie", 'get_movie("big fish")["release_date"]', ("2003-12-25",), "2003"),
        ("can you tell me who made big fish?", "movie", 'get_movie("big fish")["revenue"]', (1.0,), None),
        ("was big fish a hit?", "movie", 'get_movie("big fish")["revenue"]', (122919055,), None),
        ("how much did big fish make?", "movie", 'get_movie("big fish")["revenue"]', (122919055,), "$122,919,055"),
        ("how much did big fish make?", "movie", 'get_movie("big fish")["title"]', ("Big Fish",), None),
        ("how many members does tool have?", "music", 'get_person("tool")["members"]["len"]', (4,), "4"),
        (
            "who is in tool?",
            "music",
            'ALL get_person("tool")["members"]',
            ("Adam Jones", "Danny Carey"),
            "Adam Jones, Danny Carey",
        ),
        (
            "what did kr close at yesterday?",
            "finance",
            'get_stock_price("kr","yesterday")["close"]',
            (49.345,),
            "$49.35",
        ),
        (
            "kr volume this week, in total?",
            "finance",
            'get_stock_price("kr","this week")["volume"]',
            (10, 20),
            "30 shares",
        ),
        ("what was kr's volume this week?", "finance", 'get_stock_price("kr","this week")["volume"]', (10, 20), None),
        (
            "how old was he when big fish came out?",
            "movie",
            'get_movie("big fish")["release_date"]',
            ("2003-12-25",),
            None,
        ),
        ("did they play at home or away?", "sports", 'get_soccer_last_game("Nice")["venue"]', ("Home",), None),
    ],
)
def test_only_a_value_of_the_kind_asked_for_is_an_answer(
    question: str, domain: str, calls: str, values: tuple[Value, ...], expected: str | None
) -> None:
    assert answer(question, Domain(domain), calls, values) == expected


def test_two_entities_are_compared_by_the_model() -> None:
    calls = 'get_movie("heat")["length"]\nget_movie("casino")["length"]'
    assert answer("what is the length of heat, and of casino?", Domain.MOVIE, calls, (170,), (178,)) is None


def test_a_statement_that_failed_is_no_answer() -> None:
    calls = 'get_movie("heat")["length"]'
    failed = [Result(calls, Status.NOT_FOUND)]
    assert direct_answer("how long is heat?", Domain.MOVIE, parse(calls, Domain.MOVIE), failed) is None


@pytest.mark.skipif(
    not GRAPH.exists(), reason="needs the real graph under ../shared/data, which is not part of the project"
)
def test_on_verified_labels_nineteen_of_twenty_direct_answers_are_right() -> None:
    from agents.datasets import read_records

    rows = [row for _, row in read_records(QUESTIONS) if row["verified"] and row["answerable"]]
    with graph_server(None, None) as address:
        outcomes = run_rows(rows, address)
    claims = []
    for row, outcome in zip(rows, outcomes, strict=True):
        domain = Domain(row["domain"])
        said = direct_answer(row["query"], domain, parse("\n".join(row["calls"]), domain), outcome.results)
        if said is not None:
            claims.append(Claim(row["query"], (row["answer"], *map(str, row["alt_ans"])), said))
    verdicts = [judged.verdict for judged in judge_claims(make_judge("rules"), claims, str)]
    assert len(claims) > 0.5 * len(rows)
    assert verdicts.count(Verdict.CORRECT) >= 0.95 * len(claims)
