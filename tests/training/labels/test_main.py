"""`python -m training.labels`: a run in, labels, a table and a run card out; faults in one line."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from tests.training.labels.runs import CONTEXT, asked, written
from training.examples import read_examples
from training.labels.__main__ import main


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(
        tmp_path / "run",
        asked("a", "when did ada lovelace win an oscar?", INVALID_QUESTION, "1816"),
        asked("b", "when was ada lovelace born?", "1815-12-10", "10 December 1815"),
        asked("c", "in which city was ada lovelace born?", "london", "Paris"),
        asked("d", "where did ada lovelace die?", "marylebone", I_DONT_KNOW),
    )


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_labels_table_and_card(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "web.jsonl"
    assert main(["--run", str(run), "--out", str(out)]) == 0
    labels = [INVALID_QUESTION, "1815-12-10", "london", I_DONT_KNOW]
    assert [example.completion for example in read_examples(out)] == labels
    reported = capsys.readouterr().out
    assert "hittability" in reported.splitlines()[0]
    assert reported.splitlines()[1].split() == ["all", "1", "1", "1", "1", "0.667"]
    card = json.loads((tmp_path / "web" / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"] == {
        "answerer": "web",
        "judge": "rules@4",
        "context_check": "rules@2",
        "split": "0",
        "rows_of_other_splits": {},
    }
    assert card["metrics"]["domains"]["open"]["hittability"] == 0.667
    assert card["data"]["run traces.jsonl"]["bytes"] > 0


def test_a_model_looks_only_where_the_label_depends_on_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "web.jsonl"
    ask = ["--run", str(run), "--out", str(out), "--context-check", "llm", "--preset", "scripted", "--quiet"]
    assert main([*ask, "--set", "language_model.default_reply=yes"]) == 0
    assert [row["completion"] for row in rows_of(out)[2:]] == ["london", "marylebone"]
    assert [row["gold_in_context"] for row in rows_of(out)] == [None, None, True, True]
    assert len(rows_of(tmp_path / "web.jsonl.context_checks.jsonl")) == 2
    assert "'yes': 2" in capsys.readouterr().out
    assert main(ask) == 2
    assert "--resume uses them, --overwrite discards them" in capsys.readouterr().err
    assert main([*ask, "--resume", "--set", "language_model.default_reply=yes"]) == 0
    assert len(rows_of(tmp_path / "web.jsonl.context_checks.jsonl")) == 2, "nothing is asked twice"
    assert main([*ask, "--overwrite", "--set", "language_model.default_reply=no"]) == 0
    assert [row["completion"] for row in rows_of(out)[2:]] == [I_DONT_KNOW, I_DONT_KNOW]


def test_both_judgements_by_one_model_as_in_the_paper(
    run: Path, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The db3 rubric over HTTP; then the same model is asked for the contexts of wrong answers alone."""
    asked: list[list[dict[str, str]]] = []

    def reply(request: Request) -> Response:
        messages = request.get_json()["messages"]
        asked.append(messages)
        if "mention the right answer" in messages[-1]["content"]:
            text = "yes" if "london" in messages[-1]["content"] else "no"
        else:
            text = json.dumps({"accuracy": "10 December 1815" in messages[-1]["content"] or "four" in str(messages)})
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "judge", "choices": [choice]}
        return Response(json.dumps(body | {"usage": usage}), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(reply)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    out = tmp_path / "web.jsonl"
    judge = ["--judge", "llm", "--judge-rubric", "db3", "--judge-url", httpserver.url_for("/v1"), "--judge-model", "j"]
    ask = ["--run", str(run), "--out", str(out), *judge, "--judge-cache", "none", "--context-check", "llm", "--quiet"]
    assert main(ask) == 0
    assert [row["branch"] for row in rows_of(out)] == ["invalid question", "right", "wrong, in context", NOT_THERE]
    contexts = [messages for messages in asked if "mention the right answer" in messages[-1]["content"]]
    assert len(contexts) == 2, "only where the answer was wrong"
    parts = (CONTEXT, "in which city was ada lovelace born?", "london", "Reply yes or no")
    places = [next(m for m in contexts if "in which" in m[-1]["content"])[-1]["content"].index(part) for part in parts]
    assert places == sorted(places), "db3 C.2: context, question, right answer, yes or no"
    card = json.loads((tmp_path / "web" / "run_card.json").read_text(encoding="utf-8"))
    assert ":db3-" in card["settings"]["judge"]


NOT_THERE = "wrong, not in context"


def test_the_graphs_answerer_is_labelled_by_the_same_steps(tmp_path: Path) -> None:
    """db3 3.3: the facts that stood in the prompt are the context, whatever else the trace holds."""
    facts = '<doc source="knowledge graph: get_movie(...)">The length of Heat is 170 minutes.</doc>\n'
    pairs = []
    for name, query, gold, said in [
        ("a", "how long is heat?", "170 minutes", "About 170 minutes."),
        ("b", "how many minutes is heat?", "170 minutes", "200"),
        ("c", "who wrote heat?", "michael mann", "al pacino"),
        ("d", "why was heat never shown?", INVALID_QUESTION, "because"),
        ("e", "who is it?", "ann", "Ann"),
    ]:
        record, trace = asked(name, query, gold, "london", context="Michael Mann wrote Heat.")
        if name != "e":
            turn = {"role": "user", "content": f"Facts:\n{facts}\nQuestion: {query}\nAnswer:"}
            trace["prompts"]["graph_answer"] = [turn]
            trace["generations"]["graph_answer"] = {"text": said, "finish_reason": "stop"}
        pairs.append((record, trace))
    out = tmp_path / "graph.jsonl"
    assert main(["--run", str(written(tmp_path / "run", *pairs)), "--answerer", "graph", "--out", str(out)]) == 0
    assert [(row["branch"], row["completion"]) for row in rows_of(out)] == [
        ("right", "170 minutes"),
        ("wrong, in context", "170 minutes"),
        (NOT_THERE, I_DONT_KNOW),
        ("invalid question", INVALID_QUESTION),
    ]
    assert all(row["context"] == facts and "Facts:" in row["messages"][0]["content"] for row in rows_of(out))
    card = json.loads((tmp_path / "graph" / "run_card.json").read_text(encoding="utf-8"))
    assert card["metrics"]["left_out"] == {"not asked about facts of the graph": 1}


def test_faults_are_reported_in_a_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "web.jsonl")]
    known = ["--run", str(run), *out]
    torn = written(tmp_path / "torn", asked("a", "where?", "london", "London"))
    (torn / "traces.jsonl").write_text('{"interaction_id": "a", "occ', encoding="utf-8")
    for arguments, message in [
        (["--run", str(tmp_path / "nothing"), *out], "expected one written by local_evaluation.py"),
        (["--run", str(torn), *out], "traces.jsonl: no question has a trace"),
        (["--run", str(run), "--out", str(tmp_path / "labels")], "labels.jsonl, because"),
        ([*known, "--judge", "llm"], "llm judge"),
        ([*known, "--context-check", "llm"], "--preset NAME or FILE, or --judge llm"),
        ([*known, "--context-check", "llm", "--preset", "nosuch"], "there is no preset 'nosuch'"),
        (
            [
                *known,
                "--context-check",
                "llm",
                "--preset",
                "scripted",
                "--quiet",
                "--set",
                "language_model.fault=die_after",
            ],
            "--resume keeps its finished checks",
        ),
    ]:
        assert main(arguments) == 2
        reported = capsys.readouterr().err
        assert reported.startswith("error: ")
        assert message in reported
        assert reported.count("\n") == 1
    assert not (tmp_path / "web.jsonl").exists()
