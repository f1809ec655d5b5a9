"""A run in this process: which questions are asked, in which batches, and what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.common.files import write_rows
from evaluation.agent_host import AgentSpec
from evaluation.batches import Shard
from evaluation.datasets import DatasetError
from evaluation.judge import RulesJudge
from evaluation.runner import Evaluation, FailedBatchError, RunOptions
from evaluation.store import RunStore, StoreError
from evaluation.trim import Trim

FAKES = "tests.evaluation.fake_agents"
TRIM = Trim("none", str)


def questions(folder: Path, *words: str, **more: Any) -> Path:
    path = folder / "q.jsonl"
    rows = [
        {"interaction_id": f"id{number}", "query": f"say {word}", "answer": word, "domain": "movie", **more}
        for number, word in enumerate(words)
    ]
    write_rows(path, rows)
    return path


def run(folder: Path, data: Path, agent: str = "EchoAgent", *, resume: bool = False, **options: Any) -> dict[str, Any]:
    store = RunStore(folder / "out", {"preset": "x"}, {"preset": "x"}, resume=resume)
    chosen = RunOptions(data, agent=AgentSpec(f"{FAKES}:{agent}"), in_process=True, **options)
    try:
        with Evaluation(chosen, store, RulesJudge(), TRIM, {"preset": "x"}, show_progress=False) as evaluation:
            return {**evaluation.run(), "records": list(store.records.values())}
    finally:
        store.close()


def test_the_last_batch_is_shorter_and_shares_its_own_time(tmp_path: Path) -> None:
    records = run(tmp_path, questions(tmp_path, *"abcde"))["records"]
    assert [(row["batch"], row["batch_size"]) for row in records] == [(0, 2), (0, 2), (1, 2), (1, 2), (2, 1)]
    assert [row["prediction"] for row in records] == list("abcde")
    assert records[0]["seconds"] == pytest.approx(records[0]["batch_seconds"] / 2, abs=0.001)
    assert records[4]["seconds"] == records[4]["batch_seconds"]


@pytest.mark.parametrize("content", ["", "\n\n", "[]\n"])
def test_a_dataset_without_questions_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"q\.jsonl: it has no questions"):
        run(tmp_path, path)
    assert not (tmp_path / "out/results.json").exists()


def test_a_shard_asks_whole_batches_of_the_undivided_run(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abcdefg")
    whole = run(tmp_path, data)["records"]
    shards = [run(tmp_path / str(number), data, shard=Shard(number, 3))["records"] for number in (1, 2, 3)]
    assert [[row["prediction"] for row in rows] for rows in shards] == [list("abg"), list("cd"), list("ef")]
    asked = sorted((row for rows in shards for row in rows), key=lambda row: row["batch"])
    place = ("interaction_id", "occurrence", "batch", "batch_size", "prediction")
    assert [[row[name] for name in place] for row in asked] == [[row[name] for name in place] for row in whole]


def test_how_many_questions_there_are_is_known_only_of_a_complete_run(tmp_path: Path) -> None:
    data, run_file = questions(tmp_path, "a", "b", "crash"), tmp_path / "out/run.json"
    run(tmp_path, data, limit=2)
    assert json.loads(run_file.read_text(encoding="utf-8"))["questions"] == 2
    with pytest.raises(FailedBatchError):
        run(tmp_path, data, "CrashingAgent", resume=True, fail_on_error=True)
    assert json.loads(run_file.read_text(encoding="utf-8"))["questions"] is None


def test_equal_ids_are_separate_questions_and_resume_knows_them_apart(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abc", interaction_id="same")
    assert [row["prediction"] for row in run(tmp_path, data, limit=2)["records"]] == ["a", "b"]
    records = run(tmp_path, data, resume=True)["records"]
    assert [(row["occurrence"], row["prediction"]) for row in records] == [(0, "a"), (1, "b"), (2, "c")]


def test_only_failed_questions_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, mended = questions(tmp_path, "a", "b", "crash", "d", "e"), tmp_path / "mended"
    monkeypatch.setenv("FAKE_AGENT_MENDED", str(mended))
    first = run(tmp_path, data, "RecoveringAgent")
    assert [row["verdict"] for row in first["records"]] == ["correct", "correct", "missing", "missing", "correct"]
    assert (first["errors"], first["retried"]) == (1, 0)
    again = run(tmp_path, data, "RecoveringAgent", resume=True, retry_failed=True)
    assert [row["attempt"] for row in again["records"]] == [1, 1, 2, 2, 1], "it failed once more"
    mended.touch()
    last = run(tmp_path, data, "RecoveringAgent", resume=True, retry_failed=True)
    assert [row["attempt"] for row in last["records"]] == [1, 1, 3, 3, 1]
    assert [row["interaction_id"] for row in last["records"]] == [f"id{number}" for number in range(5)]
    assert (last["score"], last["errors"], last["retried"]) == (1.0, 0, 2)
    assert run(tmp_path, data, "RecoveringAgent", resume=True, retry_failed=True)["retried"] == 2, "nothing is left"


def test_a_resumed_run_keeps_its_batch_size(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abcd")
    run(tmp_path, data, limit=2)
    with pytest.raises(StoreError, match=r"has batches of 2, the agent asks for 3; answers can depend on batch mates"):
        run(tmp_path, data, resume=True, batch_size=3)


def test_a_higher_limit_goes_on_from_whole_batches_only(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abcdef")
    run(tmp_path, data, limit=3)
    with pytest.raises(StoreError, match=r"ended within a batch \(--limit 3, batches of 2\).*give the same --limit"):
        run(tmp_path, data, resume=True, limit=5)
    assert run(tmp_path, data, resume=True, limit=3)["n"] == 3


def test_a_lower_limit_does_not_cut_a_run(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abcdef")
    run(tmp_path, data, limit=4)
    with pytest.raises(StoreError, match="has 4 questions, more than --limit 2"):
        run(tmp_path, data, resume=True, limit=2)
    assert run(tmp_path, data, resume=True)["n"] == 6


def test_the_answer_is_judged_as_the_evaluator_cuts_it(tmp_path: Path) -> None:
    data = questions(tmp_path, "ann lee", answer="ann")
    store = RunStore(tmp_path / "out", {}, {})
    options = RunOptions(data, agent=AgentSpec(f"{FAKES}:EchoAgent"), in_process=True)
    cut = Trim("three", lambda text: text[:3])
    with Evaluation(options, store, RulesJudge(), cut, {}, show_progress=False) as evaluation:
        assert evaluation.run()["accuracy"] == 1
    (record,) = store.records.values()
    assert record["prediction"] == "ann lee", "the file keeps all of it"
    store.close()


def test_what_gates_withheld_is_kept_with_its_verdict(tmp_path: Path) -> None:
    results = run(tmp_path, questions(tmp_path, "a", "b"), "GatedAgent")
    firings = [gate for row in results["records"] for gate in row["gates"]]
    kept = [tuple(gate[key] for key in ("name", "withheld", "withheld_verdict")) for gate in firings]
    assert kept == [("sure", "a", "correct"), ("class", None, None)]
    assert (results["gates"]["sure"]["right_lost"], results["gates"]["class"]["unknown"]) == (1, 1)
    assert results["gates"]["sure"]["score_effect"] == -0.5


def test_generations_that_ran_out_of_time_are_kept_and_counted(tmp_path: Path) -> None:
    results = run(tmp_path, questions(tmp_path, *"abcde"), "LateAgent")
    assert results["generations_out_of_time"] == {"not_begun": 6, "cut_short": 3}
    assert [row["out_of_time"] for row in results["records"]] == [{"not_begun": 2, "cut_short": 1}] * 5
