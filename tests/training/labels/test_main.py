"""`crag train labels`: a run in, labels by db3's steps, a table and a run card out."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.commands.train.labels import main
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.evaluation.judge import RulesJudge
from crag.settings import PRESETS
from crag.training.files import read_examples
from tests.toml_text import toml_table
from tests.training.labels.runs import CONTEXT, Pair, asked, written

BORN, DIED = "when was ada lovelace born?", "where did ada lovelace die?"
NOT_THERE = "wrong, not in context"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(
        tmp_path / "run",
        asked("a", "when did ada lovelace win an oscar?", INVALID_QUESTION, "1816"),
        asked("b", BORN, "1815-12-10", "10 December 1815"),
        asked("c", "in which city was ada lovelace born?", "london", "Paris"),
        asked("d", DIED, "marylebone", "Rome"),
    )


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labelled(folder: Path, *pairs: Pair, answerer: str = "web") -> list[dict[str, Any]]:
    out = folder / "labels.jsonl"
    run = written(folder / "run", *pairs)
    assert main(["--run", str(run), "--answerer", answerer, "--out", str(out)]) == 0
    return rows_of(out)


@pytest.mark.parametrize(
    ("query", "gold", "said", "branch", "completion"),
    [
        ("when did ada lovelace win an oscar?", INVALID_QUESTION, "1816", INVALID_QUESTION, INVALID_QUESTION),
        (BORN, "1815-12-10", "December 10, 1815.", "right", "1815-12-10"),
        ("who was her mother?", "Anne Milbanke", "anne milbanke", "right", "Anne Milbanke"),
        (BORN, "1815-12-10", "1852", "wrong, in context", "1815-12-10"),
        (BORN, "1815-12-10", I_DONT_KNOW, "wrong, in context", "1815-12-10"),
        (BORN, "1815-12-10", "", "wrong, in context", "1815-12-10"),
        (DIED, "marylebone", "London", NOT_THERE, I_DONT_KNOW),
        ("what is ada lovelace worth today?", I_DONT_KNOW, "a lot", NOT_THERE, I_DONT_KNOW),
    ],
)  # fmt: skip
def test_each_branch_of_the_paper_gives_its_completion(
    tmp_path: Path, query: str, gold: str, said: str, branch: str, completion: str
) -> None:
    (row,) = labelled(tmp_path, asked("a", query, gold, said))
    assert (row["branch"], row["completion"]) == (branch, completion)
    (example,) = read_examples(tmp_path / "labels.jsonl")
    assert (example.groups, example.source, example.query, example.answers) == ((query,), branch, query, (gold,))
    assert [message.content for message in example.messages] == ["Answer.", f"{CONTEXT}\n{query}"]
    assert (row["interaction_id"], row["domain"], row["context"]) == ("a", "open", CONTEXT)


def test_a_failed_answer_is_missing_and_a_text_prompt_stays_a_text(tmp_path: Path) -> None:
    record, trace = asked("a", BORN, "1815-12-10", "10 December 1815")
    trace["generations"]["answer"]["finish_reason"] = "deadline"
    trace["prompts"]["answer"] = "Text: ... Question: where?"
    (row,) = labelled(tmp_path, (record, trace))
    assert (row["basic_answer"], row["branch"]) == (I_DONT_KNOW, "wrong, in context")
    assert read_examples(tmp_path / "labels.jsonl")[0].prompt == "Text: ... Question: where?"


def test_of_several_right_answers_the_one_in_the_context_is_the_label(tmp_path: Path) -> None:
    pairs = [asked(name, f"where was {name}?", "the uk", "in london", alt_ans=["London"]) for name in "ab"]
    pairs[1][1]["context"] = "Nobody says."
    assert [row["completion"] for row in labelled(tmp_path, *pairs)] == ["London", "the uk"]


def test_the_card_counts_branches_and_what_was_left_out_and_why(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unasked = asked("graph", "who?", "ada", "Ada")
    unasked[1]["prompts"] = {"graph_answer": []}
    other = written(tmp_path / "2", asked("e", DIED, "marylebone", "Rome"), asked("f", "who?", None, "Ada"), unasked)

    assert main(["--run", str(run), "--run", str(other), "--out", str(tmp_path / "web.jsonl")]) == 0
    reported = capsys.readouterr().out
    assert reported.splitlines()[1].split() == ["all", "1", "1", "1", "1"]

    card = json.loads((tmp_path / "web" / "run_card.json").read_text(encoding="utf-8"))
    chosen = {"answerer": "web", "judge": f"rules@{RulesJudge.version}", "context_check": "rules@4"}
    assert card["settings"] == chosen | {"split": "0", "rows_of_other_splits": {}}
    assert card["metrics"]["domains"]["open"]["right"] == 1
    assert card["metrics"]["left_out"] == {
        "without a right answer": 1,
        "not asked about web pages": 1,
    }
    assert card["data"]["run traces.jsonl"]["bytes"] > 0


def test_both_judgements_by_one_model_as_in_the_paper(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The db3 rubric; then the same model is asked for the contexts of wrong answers alone; the cache keeps all."""
    right, wrong = '{"accuracy": true}', '{"accuracy": false}'
    replies = {
        '"prediction": "10 December 1815"': right,
        '["london"], "prediction": "\\u003cdoc': right,
        '["marylebone"], "prediction": "\\u003cdoc': "perhaps",
    }
    scripted = (PRESETS / "scripted.toml").read_text(encoding="utf-8")
    engine = 'engine = "scripted"\n'
    script = f"{engine}default_reply = {json.dumps(wrong)}\nreplies = {toml_table(replies)}\n"
    preset = tmp_path / "judge.toml"
    preset.write_text(scripted.replace(engine, script), encoding="utf-8")

    out = tmp_path / "web.jsonl"
    judge = ["--judge", "llm", "--judge-rubric", "db3", "--judge-preset", str(preset)]
    cache = ["--judge-cache", str(tmp_path / "cache.jsonl")]
    command = ["--run", str(run), "--out", str(out), *judge, *cache, "--context-check", "llm"]

    assert main(command) == 0
    assert [row["branch"] for row in rows_of(out)] == ["invalid question", "right", "wrong, in context"]

    reported = capsys.readouterr().out
    assert "left out: 1 without a verdict: the same command asks the model again" in reported
    assert "8 requests" in reported, "a probe, three answers, two contexts, one of which twice again"

    card = json.loads((tmp_path / "web" / "run_card.json").read_text(encoding="utf-8"))
    assert ":db3-" in card["settings"]["judge"]
    assert ":db3-context-" in card["settings"]["context_check"]

    assert main(command) == 0
    assert "4 requests" in capsys.readouterr().out, "what was read is not asked again"


def test_the_graphs_answerer_is_labelled_by_the_same_steps(tmp_path: Path) -> None:
    """db3 3.3: the facts that stood in the prompt are the context, whatever else the trace holds."""
    facts = '<doc source="knowledge graph: get_movie(...)">The length of Heat is 170 minutes.</doc>\n'
    pairs = []

    for name, query, gold, said in [
        ("a", "how long is heat?", "170 minutes", "About 170 minutes."),
        ("b", "how many minutes is heat?", "170 minutes", "200"),
        ("c", "who wrote heat?", "michael mann", "al pacino"),
        ("d", "why was heat never shown?", INVALID_QUESTION, "because"),
    ]:
        record, trace = asked(name, query, gold, "london", context="Michael Mann wrote Heat.")
        turn = {"role": "user", "content": f"Facts:\n{facts}\nQuestion: {query}\nAnswer:"}
        trace["prompts"]["graph_answer"] = [turn]
        trace["generations"]["graph_answer"] = {"text": said, "finish_reason": "stop"}
        pairs.append((record, trace))

    rows = labelled(tmp_path, *pairs, answerer="graph")
    assert [(row["branch"], row["completion"]) for row in rows] == [
        ("right", "170 minutes"),
        ("wrong, in context", "170 minutes"),
        (NOT_THERE, I_DONT_KNOW),
        ("invalid question", INVALID_QUESTION),
    ]
    assert all(row["context"] == facts and "Facts:" in row["messages"][0]["content"] for row in rows)


def test_faults_are_reported_in_a_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "web.jsonl")]
    torn = written(tmp_path / "torn", asked("a", "where?", "london", "London"))
    (torn / "traces.jsonl").write_text('{"interaction_id": "a", "occ', encoding="utf-8")

    for arguments, message in [
        (["--run", str(tmp_path / "nothing"), *out], "expected one written by local_evaluation.py"),
        (["--run", str(torn), *out], "traces.jsonl: no question has a trace"),
        (["--run", str(run), "--out", str(tmp_path / "labels")], "labels.jsonl, because"),
        (["--run", str(run), *out, "--judge", "llm"], "llm judge"),
        (["--run", str(run), *out, "--context-check", "llm"], "pass --judge llm"),
        (["--run", str(run), *out, "--answerer", "graph"], "nothing to label (4 not asked about facts of the graph)"),
    ]:
        assert main(arguments) == 2
        reported = capsys.readouterr().err
        assert reported.startswith("error: ")
        assert message in reported
        assert reported.count("\n") == 1

    assert not (tmp_path / "web.jsonl").exists()


def test_a_question_whose_trace_has_no_prompts_is_left_out(tmp_path: Path) -> None:
    record, trace = asked("b", "where?", "london", "London")
    trace["prompts"] = None
    rows = labelled(tmp_path, asked("a", "where?", "london", "London"), (record, trace))
    assert [row["interaction_id"] for row in rows] == ["a"]
