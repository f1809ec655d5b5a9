"""A run in this process: which questions are asked, in which batches, and what is kept; where it comes from."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError, write_rows
from crag.core.progress import ProgressMode
from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.judge import RulesJudge
from crag.evaluation.origin import describe_origin
from crag.evaluation.runner import Evaluation
from crag.evaluation.store import RunStore
from crag.evaluation.worker import AgentSpec

FAKES = "tests.evaluation.fake_agents"


def questions(folder: Path, *words: str, **more: Any) -> Path:
    path = folder / "q.jsonl"
    rows = [
        {"interaction_id": f"id{number}", "query": f"say {word}", "answer": word, "domain": "movie", **more}
        for number, word in enumerate(words)
    ]
    write_rows(path, rows)
    return path


def run(
    folder: Path,
    data: Path,
    agent: str = "EchoAgent",
    *,
    resume: bool = False,
    trim: Callable[[str], str] = str,
    **options: Any,
) -> dict[str, Any]:
    store = RunStore(folder / "out", {"preset": "x"}, resume=resume)
    worker = InProcessWorker(AgentSpec(f"{FAKES}:{agent}"))
    options |= {"judge": RulesJudge(), "trim": trim, "progress": ProgressMode.NONE}
    try:
        results = Evaluation(dataset=data, store=store, worker=worker, **options).run()
        return {**results, "records": list(store.records.values())}
    finally:
        store.close()


def contents_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_the_last_batch_is_shorter_and_shares_its_own_time(tmp_path: Path) -> None:
    records = run(tmp_path, questions(tmp_path, *"abcde"))["records"]
    assert [(row["batch"], row["batch_size"]) for row in records] == [(0, 2), (0, 2), (1, 2), (1, 2), (2, 1)]
    assert [row["prediction"] for row in records] == list("abcde")
    assert records[0]["seconds"] == pytest.approx(records[0]["batch_seconds"] / 2, abs=0.001)
    assert records[4]["seconds"] == records[4]["batch_seconds"]


def test_a_faulty_last_row_is_told_before_a_question_is_asked(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abcd")
    with data.open("a", encoding="utf-8") as file:
        file.write('{"query": 5}\n')
    with pytest.raises(DatasetError, match=r'q\.jsonl, line 5, field "query": expected a string, found 5'):
        run(tmp_path, data)
    assert not (tmp_path / "out/predictions.jsonl").exists()
    assert len(run(tmp_path, data, limit=4)["records"]) == 4, "what is not asked for is not checked"


def test_a_dataset_without_questions_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("\n\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"q\.jsonl: it has no rows"):
        run(tmp_path, path)


def test_equal_ids_are_separate_questions_and_resume_knows_them_apart(tmp_path: Path) -> None:
    data = questions(tmp_path, *"abc", interaction_id="same")
    assert [row["prediction"] for row in run(tmp_path, data, limit=2)["records"]] == ["a", "b"]
    records = run(tmp_path, data, resume=True)["records"]
    assert [(row["occurrence"], row["prediction"]) for row in records] == [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize(
    ("before", "now", "refusal"),
    [
        (2, {"batch_size": 3}, "has batches of 2, the agent asks for 3; answers can depend on batch mates"),
        (3, {"limit": 5}, r"ended within a batch \(--limit 3, batches of 2\).*give the same --limit"),
        (4, {"limit": 2}, "has 4 questions, more than --limit 2"),
    ],
)
def test_a_resumed_run_keeps_its_batches(tmp_path: Path, before: int, now: dict[str, Any], refusal: str) -> None:
    data = questions(tmp_path, *"abcdef")
    run(tmp_path, data, limit=before)
    (tmp_path / "out/report.html").write_text("the report", encoding="utf-8")
    finished = contents_of(tmp_path / "out")
    with pytest.raises(DatasetError, match=refusal):
        run(tmp_path, data, resume=True, **now)
    assert contents_of(tmp_path / "out") == finished
    assert run(tmp_path, data, resume=True, limit=before)["n"] == before


def test_the_answer_is_judged_as_the_evaluator_cuts_it(tmp_path: Path) -> None:
    data = questions(tmp_path, "ann lee", answer="ann")
    results = run(tmp_path, data, trim=lambda text: text[:3])
    assert results["accuracy"] == 1
    assert results["records"][0]["prediction"] == "ann lee", "the file keeps all of it"


def test_what_gates_withheld_is_kept_with_its_verdict_and_late_generations_are_counted(tmp_path: Path) -> None:
    results = run(tmp_path, questions(tmp_path, "a", "b"), "GatedAgent")
    firings = [gate for row in results["records"] for gate in row["gates"]]
    kept = [tuple(gate[key] for key in ("name", "withheld", "withheld_verdict")) for gate in firings]
    assert kept == [("sure", "a", "correct"), ("class", None, None)]
    assert (results["gates"]["sure"]["right_lost"], results["gates"]["class"]["unknown"]) == (1, 1)
    assert results["gates"]["sure"]["score_effect"] == -0.5
    assert results["generations_out_of_time"] == {"not_begun": 2, "cut_short": 1}
    assert [row["out_of_time"] for row in results["records"]] == [{"not_begun": 2, "cut_short": 1}] * 2


# --- where it comes from, and how it is ended -------------------------------------------------------------------------


def test_the_origin_tells_date_machine_command_and_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    origin = describe_origin(["--preset", "cpu", "--kg-url", "http://me:secret@graph:8000", "--set", "a b=1"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", origin["date"])
    assert re.search(r"\d+ cores, .+, \d+ GiB", origin["machine"])
    assert origin["command"] == "crag evaluate --preset cpu --kg-url http://graph:8000 --set 'a b=1'"
    assert "commit" not in origin

    file = tmp_path / "file"
    file.write_text("one", encoding="utf-8")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *words], check=True)

    clean = describe_origin([])["commit"]
    assert re.fullmatch(r"[0-9a-f]{12}", clean)

    file.write_text("two", encoding="utf-8")
    assert describe_origin([])["commit"] == f"{clean} with changes"
