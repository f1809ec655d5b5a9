"""What a run tells of its retrieval: each field by kinds of answers, and the means against another computation."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from crag.commands.evaluate import main as evaluate
from crag.commands.judge import main as judge
from crag.commands.runs import main as runs
from crag.evaluation.results import summarise
from crag.evaluation.results_text import results_footer
from crag.evaluation.retrieval_quality import FIELDS, measure_question, retrieval_line, summarise_retrieval
from tests.evaluation.run_folders import record

MILL = "The Orle mill was built in 1788 by Ann Tarvik. It ground 2.5 million sacks of rye. Its wheel is 12 feet high."
OTHER = "The town of Orle has a harbour, a school and a market on Mondays."


def passage(text: str, title: str = "") -> dict[str, Any]:
    return {"text": text, "page_name": title}


def measured(query: str, gold: str, *texts: str, prediction: str = "i don't know", **more: Any) -> dict[str, Any]:
    """The fields of a question whose context is all of its passages."""
    trace = {"passages": [passage(text) for text in texts], "context": "\n".join(texts), "pages_read": len(texts)}
    return measure_question({"query": query, "answer": gold, **more.pop("row", {})}, prediction, {**trace, **more})


@pytest.mark.parametrize(
    ("query", "gold", "texts", "rank", "share"),
    [
        ("who built the orle mill?", "Ann Tarvik", (OTHER, MILL), 2, 0.5),
        ("who built the orle mill?", "ann tarvik", (MILL, MILL, OTHER), 1, 0.6667),
        # in another notation
        ("how many sacks of rye did the orle mill grind?", "2,500,000", (OTHER, MILL), 2, 0.5),
        ("how high is the wheel of the orle mill?", "144 inches", (MILL,), 1, 1.0),
        ("when was the orle mill opened?", "1788-05-03", ("The Orle mill was opened on 3 May 1788.",), 1, 1.0),
        # a part of another number, name or word is not the answer
        ("in which year was the orle mill built?", "178", (MILL,), None, 0.0),
        ("who built the orle mill?", "Ann", ("The Orle mill was built by Hannah Tarvik.",), None, 0.0),
        ("when was the orle mill opened?", "1788-05-03", ("The Orle mill was opened on 5 March 1788.",), None, 0.0),
        # the words of the answer in a text about something else
        ("which composer wrote the snow opera?", "Ann Tarvik", (MILL,), None, 0.0),
        # nothing was found
        ("who built the orle mill?", "Bo Lind", (OTHER, MILL), None, 0.0),
    ],
)
def test_rank_and_share_are_of_the_passages_that_hold_the_answer(
    query: str, gold: str, texts: tuple[str, ...], rank: int | None, share: float
) -> None:
    fields = measured(query, gold, *texts)
    assert (fields["answer_rank"], fields["passages_with_answer"]) == (rank, share)
    assert fields["answer_in_context"] is (rank is not None)


def test_an_alternative_answer_counts_and_the_context_alone_may_have_it() -> None:
    row = {"alt_ans": ["the Tarvik brothers", "Ann Tarvik"]}
    assert measured("who built the orle mill?", "A. T.", OTHER, MILL, row=row)["answer_rank"] == 2
    cut = measured("who built the orle mill?", "Ann Tarvik", OTHER, MILL, context=OTHER)
    assert (cut["answer_in_context"], cut["answer_rank"]) == (False, 2), "the passage did not fit into the context"


def test_facts_of_the_graph_are_context() -> None:
    facts = [{"text": "The Orle mill was built by Ann Tarvik.", "source": "knowledge graph"}]
    fields = measured("who built the orle mill?", "Ann Tarvik", facts=facts, context="")
    assert (fields["answer_in_context"], fields["passages_with_answer"]) == (True, None)
    # In words of the graph, which are not those of the question
    facts = [{"text": "The creator of Orle Mill (1788) is Ann Tarvik.", "source": "knowledge graph"}]
    query = "which carpenter made the oldest wheel on the river?"
    assert measured(query, "Ann Tarvik", facts=facts, context="")["answer_in_context"] is True
    assert measured(query, "Ann Tarvik", facts=facts, context=OTHER)["answer_in_context"] is False, (
        "the model read else"
    )


@pytest.mark.parametrize(
    ("gold", "trace"),
    [
        ("yes", {"context": MILL, "passages": [passage(MILL)]}),
        ("No, it was not.", {"context": MILL, "passages": [passage(MILL)]}),
        ("invalid question", {"context": MILL, "passages": [passage(MILL)]}),
        ("", {"context": MILL, "passages": [passage(MILL)]}),
        ("Ann Tarvik", {"context": "", "passages": [], "pages_read": 0}),
        ("Ann Tarvik", {}),
        ("Ann Tarvik", {"context": 7, "passages": "of another shape", "facts": "none", "evidence": None}),
    ],
)
def test_what_cannot_be_measured_is_none(gold: str, trace: dict[str, Any]) -> None:
    fields = measure_question({"query": "was the orle mill built in 1788?", "answer": gold}, "i don't know", trace)
    assert fields == dict.fromkeys(FIELDS)


def test_pages_without_a_passage_are_a_failure_of_retrieval() -> None:
    trace = {"context": "", "passages": [], "pages_read": 5}
    fields = measure_question({"query": "who built it?", "answer": "Ann Tarvik"}, "i don't know", trace)
    assert fields["answer_in_context"] is False


@pytest.mark.parametrize(
    ("prediction", "sentence", "supported"),
    [
        ("Ann Tarvik", "The Orle mill was built in 1788 by Ann Tarvik.", True),
        ("1788", "The construction year is 1788.", True),
        ("178", "The construction year is 1788.", False),
        ("the wrong Bo Lind", "The Orle mill was built in 1788 by Ann Tarvik.", False),
        ("Ann Tarvik", None, False),
        ("i don't know", None, None),
        ("yes", "The Orle mill was built in 1788 by Ann Tarvik.", None),
        ("True", "The Orle mill was built in 1788 by Ann Tarvik.", None),
        ("invalid question", None, None),
    ],
)
def test_whether_the_evidence_holds_the_answer_given(
    prediction: str, sentence: str | None, supported: bool | None
) -> None:
    evidence = sentence and {"sentence": sentence, "source": "Mills"}
    row = {"query": "who built the orle mill?", "answer": "somebody else"}
    assert measure_question(row, prediction, {"evidence": evidence})["evidence_supports_answer"] is supported
    assert measure_question(row, prediction, {})["evidence_supports_answer"] is None, "another agent has no evidence"


QUESTIONS = {
    "how many crates does the record of the brevik pier list?": ("1.25 million", "1,250,000", "1250000"),
    "on what date was the record of the brevik pier begun?": ("7 February 1931", "February 7, 1931", "1931-02-07"),
    "who wrote the record of the brevik pier?": ("Edda Lorentzen", "EDDA LORENTZEN", "Édda Lorentzen"),
}
"""Each with an answer in several notations."""


def planted_questions(count: int) -> list[tuple[dict[str, Any], list[bool]]]:
    """The fields of questions whose passages hold the answer, in any notation, or not; and which passages do."""
    chance = random.Random(7)
    questions: list[tuple[dict[str, Any], list[bool]]] = []
    for _ in range(count):
        query, notations = chance.choice(list(QUESTIONS.items()))
        planted = [chance.random() < 0.3 for _ in range(chance.randint(1, 8))]
        texts: list[str] = []
        for has_it in planted:
            answer = chance.choice(notations) if has_it else "nothing"
            texts.append(f"The record of the Brevik pier, on its date begun and written: crates list {answer}.")
        questions.append((measured(query, chance.choice(notations), *texts), planted))
    return questions


def test_the_means_are_those_of_an_independent_computation() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    questions = planted_questions(60)
    summary = summarise_retrieval([fields for fields, _ in questions])

    assert summary["answer_in_context"] == pytest.approx(sum(any(planted) for _, planted in questions) / 60, abs=1e-4)
    shares = [sum(planted) / len(planted) for _, planted in questions]
    assert summary["passages_with_answer"] == pytest.approx(sum(shares) / 60, abs=1e-4)
    # With one relevant item a row, label ranking average precision is the mean reciprocal rank
    found = [planted for _, planted in questions if any(planted)]
    relevant = [[place == planted.index(True) for place in range(8)] for planted in found]
    scores = [[-place for place in range(8)]] * len(found)
    reciprocal = metrics.label_ranking_average_precision_score(relevant, scores) * len(found) / 60
    assert summary["mean_reciprocal_rank"] == pytest.approx(reciprocal, abs=1e-4)


def test_the_summary_has_one_line_and_older_runs_have_none(tmp_path: Path) -> None:
    rows = [
        record(0, "correct", **measured("who built the orle mill?", "Ann Tarvik", OTHER, MILL)),
        record(1, "missing", **measured("who built the orle mill?", "Bo Lind", OTHER, MILL)),
    ]
    rows[0]["evidence_supports_answer"] = True
    results = summarise(rows, {}, {})
    line = (
        "retrieval: answer in context 0.500 of 2, mean reciprocal rank of its passage 0.250, passages with it 0.250, "
        "evidence supports the answer 1.000 of 1"
    )
    assert line in results_footer(results, tmp_path).splitlines()
    assert retrieval_line(summarise([record(0, "correct")], {}, {})) == ""

    del results["retrieval"]
    assert "retrieval:" not in results_footer(results, tmp_path)


def test_a_run_has_the_fields_in_its_rows_its_report_and_a_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One question is answered from a page that holds the answer, for the other nothing does."""
    pages = [
        {"page_name": "Mills", "page_url": "https://m.example/", "page_snippet": "", "page_result": f"<p>{MILL}</p>"}
    ]
    rows = [
        {"interaction_id": "a", "query": "who built the orle mill?", "answer": "Ann Tarvik"},
        {"interaction_id": "b", "query": "who painted the orle mill?", "answer": "Bo Lind"},
    ]
    for row in rows:
        row |= {"query_time": "03/05/2024, 23:18:31 PT", "search_results": pages}  # type: ignore[dict-item]
    dataset = tmp_path / "two.jsonl"
    dataset.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    run = tmp_path / "run"
    replies = 'language_model.replies = { "who built the orle mill?" = "Ann Tarvik" }'
    where = ["--dataset", str(dataset), "--output", str(run), "--quiet", "--in-process"]
    assert evaluate(["--preset", "scripted", "--set", replies, "--set", "web.extract.workers=0", *where]) == 0
    assert "retrieval: answer in context 0.500 of 2" in capsys.readouterr().out
    first, second = [json.loads(line) for line in (run / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [first[name] for name in FIELDS] == [True, 1, first["passages_with_answer"], True]
    assert [second[name] for name in FIELDS] == [False, None, 0.0, None]
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "the context holds a right answer (context recall)" in report

    runs([str(tmp_path), "--csv"])
    (figures,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (figures["answer_in_context"], figures["evidence_supports_answer"]) == ("0.5", "1.0")

    table = tmp_path / "judged.csv"
    judge(["--in", str(run / "predictions.jsonl"), "--out", str(table)])
    assert set(FIELDS) <= set(table.read_text(encoding="utf-8").splitlines()[0].split(","))
