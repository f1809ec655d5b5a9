"""`crag judge`."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from crag.commands.ending import EXIT_INTERRUPTED
from crag.commands.judge import main
from crag.core.deadline import Deadline
from crag.core.files import write_rows
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.evaluation.datasets import read_records
from crag.evaluation.judge import RulesJudge
from crag.evaluation.metrics import agreement, cohens_kappa
from crag.settings import PRESETS

ROWS: list[dict[str, Any]] = [
    {"query": "who?", "ground_truth": "ann lee", "prediction": "Ann Lee wrote it.", "kept": 1},
    {"query": "who?", "answer": "ann lee", "alternative_answers": '["bob ray"]', "prediction": "bob ray"},
    {"query": "who?", "answer": "ann lee", "prediction": "i don't know"},
    {"query": "who?", "answer": None, "prediction": "ann lee"},
    {"query": "who?", "answer": "ann lee", "prediction": "cy young"},
]
JUDGED = [
    {**ROWS[0], "judgement": "correct", "question_type": "simple"},
    {**ROWS[4], "judgement": "correct", "question_type": "simple"},
    {**ROWS[2], "judgement": "missing", "question_type": "set"},
    {**ROWS[3], "judgement": "incorrect", "question_type": "set"},
]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.bz2"])
def test_rows_get_verdict_and_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    write_rows(source, ROWS)
    assert main(["--in", str(source), "--out", str(target)]) == 0
    out = [record.data for record in read_records(target)]
    assert [row["verdict"] for row in out] == ["correct", "correct", "missing", "unscored", "incorrect"]
    assert all(row["reason"] for row in out)
    assert [{key: row[key] for key in given} for row, given in zip(out, ROWS, strict=True)] == ROWS
    assert "5 judged: 2 correct" in capsys.readouterr().out


def test_rows_with_a_verdict_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(tmp_path / "in.jsonl", [{**row, "human": place == 0} for place, row in enumerate(JUDGED)])
    assert main(["--in", str(tmp_path / "in.jsonl")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["all", "3", "0.667", "0.500", "correct->incorrect", "1"] in lines
    assert ["simple", "2", "0.500", "0.000", "correct->incorrect", "1"] in lines
    assert ["set", "1", "1.000", "1.000", "none"] in lines
    assert main(["--in", str(tmp_path / "in.jsonl"), "--against", "human", "--by", "answer"]) == 0
    out = capsys.readouterr().out
    assert ["all", "3", "1.000", "1.000", "none"] in [line.split() for line in out.splitlines()]
    assert "missing counts as incorrect" in out


def test_a_summary_needs_no_output_and_a_dash_is_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "in.jsonl", ROWS * 3)
    assert main(["--in", str(tmp_path / "in.jsonl")]) == 0
    out = capsys.readouterr().out
    assert "15 judged: 6 correct, 3 missing, 3 unscored, 3 incorrect\nall: score +0.250 [-0.250,+0.750]," in out
    assert ", n 12, 3 unscored\n" in out
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", "-"]) == 0
    printed = capsys.readouterr()
    assert [json.loads(line)["verdict"] for line in printed.out.splitlines()][:2] == ["correct", "correct"]
    assert "15 judged" in printed.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.csv", "Query, Ground Truth ,Prediction\nwho?,,Ann\nwho?, ,\nwho?,Ann,Ann\n"),
        ("in.tsv", "query\tanswer\tprediction\nwho?\t\tAnn\nwho?\t\t\nwho?\tAnn\tAnn\n"),
        ("in.csv", "query,ground_truth,answer,prediction\nwho?,,,Ann\nwho?,,,\nwho?,,Ann,Ann\n"),
        (
            "in.jsonl",
            "".join(
                json.dumps({"query": "q", "answer": gold, "prediction": "Ann"}) + "\n" for gold in ("", " ", "Ann")
            ),
        ),
        (
            "in.jsonl",
            "".join(
                json.dumps({"query": "q", "answer": None, "alt_ans": alt, "prediction": "Ann"}) + "\n"
                for alt in ([], [""], ["Ann"])
            ),
        ),
    ],
)
def test_an_empty_gold_answer_is_unscored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert main(["--in", str(tmp_path / name)]) == 0
    assert "3 judged: 2 unscored, 1 correct\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.json", "out.jsonl", "out.csv.bz2", "out"])
def test_the_format_follows_the_name(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**ROWS[1], "note": "a, b\nc", "sure": True}, {**ROWS[4], "pages": ["x"]}]
    write_rows(tmp_path / "in.jsonl", rows)
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / name)]) == 0
    if name == "out.csv":
        header, *_ = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert header == "query,answer,alternative_answers,prediction,note,sure,verdict,reason,pages"
    if name == "out.json":
        assert len(json.loads((tmp_path / name).read_text(encoding="utf-8"))) == 2
    capsys.readouterr()

    # What is written is read again, with the same verdicts
    assert main(["--in", str(tmp_path / name), "--against", "verdict"]) == 0
    out = capsys.readouterr().out
    assert "2 judged: 1 correct, 1 incorrect\nall: score +0.000 [-1.000,+1.000]" in out
    assert ["all", "2", "1.000", "1.000", "none"] in [line.split() for line in out.splitlines()]


RAGAS_ROWS = """
{"user_input": "who?", "response": "Ann", "reference": "Ann"}
{"user_input": "who?", "response": "", "reference": "Ann"}
{"user_input": "who?", "response": "Bo", "reference": null}
"""
OLD_RAGAS_ROWS = """[
{"question": "who?", "answer": "Annie", "ground_truths": ["Ann", "Annie"]},
{"question": "who?", "answer": "", "ground_truths": ["Ann"]},
{"question": "who?", "answer": "Bo", "ground_truths": []}]
"""
OF_TOOLS = [
    ("ragas.csv", "user_input,retrieved_contexts,response,reference\nwho?,x,Ann,Ann\nwho?,x,,Ann\nwho?,x,Bo,\n"),
    ("ragas.jsonl", RAGAS_ROWS),
    ("old_ragas.csv", "question,answer,contexts,ground_truth\nwho?,Ann,x,Ann\nwho?,,x,Ann\nwho?,Bo,x,\n"),
    ("old_ragas.json", OLD_RAGAS_ROWS),
    ("printed_lists.csv", "question,answer,ground_truths\nwho?,Annie,\"['Ann', 'Annie']\"\nwho?,Bo,\"['Ann']\"\n"),
    ("deepeval.json", '[{"input": "who?", "actual_output": "Ann", "expected_output": "Ann"}]'),
]


@pytest.mark.parametrize(("name", "content"), OF_TOOLS)
def test_columns_of_other_tools_are_known(
    tmp_path: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / name
    source.write_text(content, encoding="utf-8")
    assert main(["--in", str(source), "--out", str(tmp_path / "out.jsonl")]) == 0
    printed = capsys.readouterr()
    assert re.search(rf"{name}: query is '(user_input|question|input)', prediction is '", printed.err)
    rows = [record.data for record in read_records(tmp_path / "out.jsonl")]
    assert [row["verdict"] for row in rows] == ["correct", "incorrect", "unscored"][: len(rows)]
    assert "prediction" not in rows[0], "the file keeps its names"


def test_several_right_answers_may_stand_in_one_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"query": "who?", "prediction": "Annie", "ground_truth": ["Ann", "Annie"]}\n', encoding="utf-8")
    assert main(["--in", str(source)]) == 0
    assert "1 judged: 1 correct" in capsys.readouterr().out


def test_columns_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.csv"
    source.write_text("Frage,Antwort der KI,Soll\nwer?,Ann,Ann\n", encoding="utf-8")
    names = "query=Frage, prediction=antwort der ki,answer=Soll"
    assert main(["--in", str(source), "--columns", names]) == 0
    assert "1 judged: 1 correct" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ("", 'the header has no column "query", only Frage, Soll; --columns query=NAME,prediction=NAME,answer=NAME'),
        ("query=Fragen", "--columns query=Fragen: no row has 'Fragen'; its columns: Frage, Soll"),
        (
            "query=Frage,answer=Soll",
            'line 2, field "prediction": expected text, found nothing; "query" is "Frage" here',
        ),
        ("query", "must be OURS=THEIRS,... with ours from query, prediction"),
        ("question=Frage", "must be OURS=THEIRS,... with ours from query, prediction"),
    ],
)
def test_a_column_that_is_not_there_is_named_beside_those_that_are(
    tmp_path: Path, columns: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.csv"
    source.write_text("Frage,Soll\nwer?,Ann\n", encoding="utf-8")
    with suppress(SystemExit):
        assert main(["--in", str(source), *(["--columns", columns] if columns else [])]) == 2
    assert fault in capsys.readouterr().err


def test_a_format_that_is_not_written_is_refused_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path / "in.jsonl", ROWS)
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.xlsx")]) == 2
    assert "out.xlsx: the verdicts are written as .jsonl, .json, .csv or .tsv" in capsys.readouterr().err
    assert not (tmp_path / "out.xlsx").exists()


def test_whole_predictions_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(tmp_path / "in.jsonl", [{**ROWS[4], "prediction": "word " * 200 + "ann lee"}])
    for more, verdict in (([], "incorrect"), (["--whole"], "correct")):
        assert main(["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"), *more]) == 0
        assert f"1 judged: 1 {verdict}" in capsys.readouterr().out


def test_the_summary_says_what_hedged_abstentions_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(tmp_path / "in.jsonl", [{**ROWS[4], "prediction": "I'm not sure."}, ROWS[0]])
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl")]) == 0
    out = capsys.readouterr().out
    assert '1 answer hedges ("I\'m not sure") and counts as incorrect' in out
    rows = [record.data for record in read_records(tmp_path / "out.jsonl")]
    assert [row["reason"].split(":")[0] for row in rows] == ["hedged abstention", "gold phrase"]


def test_the_summary_says_why_a_model_gave_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(tmp_path / "in.jsonl", [FEW])
    words = ["--judge", "llm", "--judge-preset", "scripted", "--judge-cache", "none"]
    assert main(["--in", str(tmp_path / "in.jsonl"), *words]) == 0
    assert "1 unscored for lack of a verdict, the first: no verdict after 3 attempts: " in capsys.readouterr().out


FEW = {"query": "q", "answer": "a", "prediction": "x"}
BY = "error: --by alt_ans: no row has that field; fields with one value: answer, ground_truth, judgement, "


@pytest.mark.parametrize(
    ("rows", "arguments", "fault"),
    [
        ([*({**row, "human": True} for row in ROWS * 20), ROWS[0]], ["--against", "human"], 'line 101, field "human"'),
        ([{**ROWS[0], "judgement": "maybe"}], [], 'line 1, field "judgement": expected true, false or one of'),
        ([{**row, "alt_ans": []} for row in JUDGED], ["--by", "alt_ans"], BY),
        (ROWS, ["--out", "/proc"], "/proc: cannot be written: it is a folder\n"),
        (ROWS, ["--out", "/proc/none/o"], "cannot be written"),
        ([FEW, {"query": "q", "answer": "x"}], [], 'line 2, field "prediction": expected text'),
        ([FEW, {"query": "q", "prediction": "x"}], [], 'line 2, field "ground_truth or answer": expected text'),
        ([FEW, {"answer": "q", "prediction": "x"}], [], 'line 2, field "query": expected text'),
        ([FEW, {**FEW, "alt_ans": 5}], [], 'line 2, field "alt_ans"'),
        ([{"query": "q", "anwser": "a", "prediction": "x"}], [], 'found nothing; did you mean it by "anwser"?'),
        (None, [], "there is no such file"),
    ],
)
def test_nothing_is_paid_for_what_cannot_be_done(
    rows: list[dict[str, Any]] | None,
    arguments: list[str],
    fault: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crag.commands.judge_file.judge_from", lambda *_, **__: pytest.fail("a judge was made"))
    if rows is not None:
        (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert main(["--in", str(tmp_path / "in.jsonl"), *arguments]) == 2
    assert fault in capsys.readouterr().err


def test_an_llm_judges_a_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(tmp_path / "in.jsonl", ROWS)
    script = tmp_path / "script.toml"
    preset = (PRESETS / "scripted.toml").read_text(encoding="utf-8")
    engine = 'engine = "scripted"\n'
    script.write_text(preset.replace(engine, f"{engine}default_reply = '{{\"score\": 0}}'\n"), encoding="utf-8")
    command = ["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"), "--judge", "llm"]
    command += ["--judge-preset", str(script), "--judge-cache", str(tmp_path / "cache.jsonl")]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "5 judged: 2 incorrect, 1 correct, 1 missing, 1 unscored" in out
    assert "judge: llm@1:scripted:crag-" in out
    assert "judge: 3 requests" in out, "one to see that the model is there"
    assert main(command) == 0
    assert "judge: 0 requests, 0 prompt and 0 completion tokens; 2 of 2 verdicts (100%)" in capsys.readouterr().out
    nobody = ["--judge", "llm", "--judge-url", "http://127.0.0.1:9/v1", "--judge-cache", "none"]
    assert main([*command[:4], *nobody]) == 2
    assert "error: the llm judge cannot ask" in capsys.readouterr().err


def test_kappa_of_the_textbook_table() -> None:
    """Two readers of 50 grant proposals: 20 both yes, 5 yes/no, 10 no/yes, 15 both no; kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_a_persons_verdicts_are_counted_in_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**row, "interaction_id": f"id-{place // 2}", "occurrence": place % 2} for place, row in enumerate(ROWS)]
    write_rows(tmp_path / "in.jsonl", rows)
    own = {"interaction_id": "id-0", "query": "who?", "verdict": "incorrect", "note": "another Ann"}
    write_rows(tmp_path / "own.jsonl", [{**own, "occurrence": 0}, {**own, "occurrence": 1, "verdict": "correct"}])
    arguments = ["--in", str(tmp_path / "in.jsonl"), "--corrections", str(tmp_path / "own.jsonl")]
    assert main([*arguments, "--out", str(tmp_path / "out.jsonl")]) == 0
    told = "a person's verdicts counted in: correct -> correct 1, correct -> incorrect 1; score +0.250 -> -0.250"
    assert told in capsys.readouterr().out
    first, second, *_ = [record.data for record in read_records(tmp_path / "out.jsonl")]
    assert (first["verdict"], first["reason"]) == ("incorrect", "person: another Ann")
    assert (second["verdict"], second["reason"]) == ("correct", "person: another Ann")
    for change, message in (
        ({"interaction_id": "x"}, "no row of the judged file is x"),
        ({"verdict": "no"}, "verdict"),
    ):
        write_rows(tmp_path / "own.jsonl", [own | change])
        assert main(arguments) == 2
        assert message in capsys.readouterr().err


def test_a_misspelt_column_of_a_judged_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text("query,answer,Predicton\nwho?,Ann,Ann\n", encoding="utf-8")
    assert main(["--in", str(tmp_path / "in.csv")]) == 2
    assert "in.csv, line 1: unknown column 'Predicton': did you mean \"prediction\"?" in capsys.readouterr().err


def test_an_interrupted_judge_continues_from_its_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"query": f"who won race {number}?", "answer": "ann lee", "prediction": "cy young"} for number in range(40)]
    write_rows(tmp_path / "in.jsonl", rows)
    model = ["--judge", "llm", "--judge-preset", "scripted", "--judge-cache", str(tmp_path / "cache.jsonl")]
    model += ["--judge-set", "language_model.default_reply='{\"accuracy\": false}'"]
    command = ["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl"), *model]
    generate = ScriptedLanguageModel.generate
    sizes: list[int] = []

    def generate_until_interrupted(
        self: ScriptedLanguageModel, requests: Sequence[GenerationRequest], deadline: Deadline
    ) -> list[Generation]:
        sizes.append(len(requests))
        if len(sizes) == 3:
            raise KeyboardInterrupt
        return generate(self, requests, deadline)

    monkeypatch.setattr(ScriptedLanguageModel, "generate", generate_until_interrupted)
    assert main(command) == EXIT_INTERRUPTED
    said = capsys.readouterr().err
    assert said.endswith("interrupted: verdicts of the model so far are cached; the same command continues\n")
    assert not (tmp_path / "out.jsonl").exists()

    assert main(command) == 0
    _, first, _, _, *others = sizes
    assert first + sum(others) == len(rows), "none is asked about twice"


def test_an_interrupted_judge_by_rules_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    write_rows(tmp_path / "in.jsonl", ROWS)
    monkeypatch.setattr(RulesJudge, "judge", interrupt)
    assert main(["--in", str(tmp_path / "in.jsonl")]) == EXIT_INTERRUPTED
    assert capsys.readouterr().err.endswith("interrupted: nothing is written; the same command starts again\n")
