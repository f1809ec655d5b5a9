"""Which answers count as lost under real faults, to what, and how they are asked again."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError, read_jsonl, write_rows
from crag.core.progress import ProgressMode
from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.judge import RulesJudge
from crag.evaluation.lost import DeadServerError, RetryPolicy, lost_advice
from crag.evaluation.results import count_lost
from crag.evaluation.results_text import metrics_table
from crag.evaluation.runner import Evaluation
from crag.evaluation.store import RunStore, SavedRun
from crag.evaluation.worker import AgentSpec
from crag.settings import KG_VARIABLE, OVERRIDES_VARIABLE, PRESET_VARIABLE

SAMPLE = Path("data/sample/questions.jsonl")
CALL = """language_model.replies = { "Calls:" = 'get_movie("titanic")["revenue"]' }"""


def results_of_our_agent(folder: Path, *overrides: str, graph: str = "") -> dict[str, Any]:
    """Of the scripted preset with these faults, on two questions."""
    environment = {PRESET_VARIABLE: "scripted", OVERRIDES_VARIABLE: "\n".join(overrides), KG_VARIABLE: graph}
    worker = InProcessWorker(AgentSpec(environment=environment))
    store = RunStore(folder, {})

    try:
        results = Evaluation(
            dataset=SAMPLE,
            store=store,
            worker=worker,
            judge=RulesJudge(),
            trim=str,
            limit=2,
            progress=ProgressMode.NONE,
        ).run()
    finally:
        store.close()

    assert json.loads((folder / "results.json").read_text(encoding="utf-8")) == json.loads(json.dumps(results))
    assert count_lost(list(store.records.values())) == results["lost"]
    return results


@pytest.mark.parametrize(
    ("overrides", "graph", "lost"),
    [
        ([], "", {}),
        (['language_model.fault = "error"'], "", {"fault": 2}),
        (['language_model.fault = "die_after"'], "", {"fault": 2}),
        (['language_model.fault = "short_list"'], "", {"fault": 2}),
        (["language_model.seconds_per_request = 9.0", "deadline.seconds_per_query = 3.0"], "", {"clock": 2}),
        ([CALL], "http://127.0.0.1:9", {"graph": 1}),
    ],
)
def test_what_our_agent_loses_is_counted(
    tmp_path: Path, overrides: list[str], graph: str, lost: dict[str, int]
) -> None:
    """The second question is about sports, where a call about a movie is not made."""
    results = results_of_our_agent(tmp_path / "run", *overrides, graph=graph)
    assert results["lost"] == {"clock": 0, "fault": 0, "graph": 0, **lost}
    assert (" lost: " in metrics_table(results)) == bool(lost)


# --- asked again ------------------------------------------------------------------------------------------------------


class LosingRun:
    """A run of `LosingAgent` over questions of one letter each, in batches of two."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("FAKE_AGENT_LOST", str(folder / "lost.txt"))
        monkeypatch.setenv("FAKE_AGENT_LOG", str(folder / "log.txt"))

    def lose(self, letters: str) -> None:
        (self.folder / "lost.txt").write_text(" ".join(letters), encoding="utf-8")

    def run(self, letters: str, *, resume: bool = False, **options: Any) -> dict[str, Any]:
        rows = [{"interaction_id": letter, "query": f"say {letter}", "answer": letter} for letter in letters]
        write_rows(self.folder / "q.jsonl", rows)
        store = RunStore(self.folder / "out", {"preset": "x"}, resume=resume)
        worker = InProcessWorker(AgentSpec("tests.evaluation.fake_agents:LosingAgent"))
        options = {"judge": RulesJudge(), "trim": str, "progress": ProgressMode.NONE, **options}
        try:
            return Evaluation(dataset=self.folder / "q.jsonl", store=store, worker=worker, **options).run()
        finally:
            store.close()

    def asked(self) -> list[str]:
        """The batches since the last time."""
        path = self.folder / "log.txt"
        batches = path.read_text(encoding="utf-8").splitlines()
        path.write_text("", encoding="utf-8")
        return batches

    def rows(self) -> list[dict[str, Any]]:
        return [record.data for record in read_jsonl(self.folder / "out" / "predictions.jsonl")]


@pytest.fixture
def losing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LosingRun:
    return LosingRun(tmp_path, monkeypatch)


def test_resume_asks_lost_questions_again_and_no_others(losing: LosingRun) -> None:
    losing.lose("bef")
    first = losing.run("abcdefg")
    assert (first["lost"]["fault"], first["missing"], first["asked_again"]) == (3, pytest.approx(3 / 7), 0)
    assert losing.asked() == ["a b", "c d", "e f", "g"]
    assert [row["lost_because"] for row in losing.rows()][1:3] == ["no server", None]

    losing.lose("f")
    second = losing.run("abcdefg", resume=True)
    assert losing.asked() == ["b", "e f"]
    assert (second["lost"]["fault"], second["asked_again"]) == (1, 3)

    losing.lose("")
    third = losing.run("abcdefg", resume=True)
    assert losing.asked() == ["f"]
    assert (third["score"], third["lost"]["fault"], third["asked_again"]) == (1.0, 0, 3)

    rows = losing.rows()
    assert [row["prediction"] for row in rows] == list("abcdefg")
    assert [row["attempts"] for row in rows] == [1, 2, 1, 1, 2, 3, 1]
    assert [row["batch_size"] for row in rows] == [2, 2, 2, 2, 2, 2, 1], "their batches stay whole"
    traces = [record.data for record in read_jsonl(losing.folder / "out" / "traces.jsonl")]
    assert [(trace["interaction_id"], trace["lost"]) for trace in traces] == [(letter, None) for letter in "abcdefg"]
    assert losing.run("abcdefg", resume=True)["score"] == 1.0
    assert losing.asked() == []


def test_a_run_that_is_cut_off_while_it_asks_again_keeps_what_it_had(losing: LosingRun) -> None:
    losing.lose("b")
    losing.run("abcd")
    predictions = losing.folder / "out" / "predictions.jsonl"
    whole = predictions.read_bytes()

    # The batch is written again behind the others; every cut of it leaves the earlier rows
    losing.lose("")
    store = RunStore(losing.folder / "out", {"preset": "x"}, resume=True)
    row = next(row for row in store.records.values() if row["interaction_id"] == "b")
    store.replace([{**row, "lost": None, "prediction": "b"}], [])
    store.close()
    longer = predictions.read_bytes()

    for end in range(len(whole) + 1, len(longer), 97):
        predictions.write_bytes(longer[:end])
        saved = SavedRun.read(losing.folder / "out")
        assert [row["prediction"] for row in saved.records.values()] == ["a", "i don't know", "c", "d"]

    predictions.write_bytes(longer)
    saved = SavedRun.read(losing.folder / "out")
    assert [row["prediction"] for row in saved.records.values()] == list("abcd")


def test_lost_questions_are_asked_again_within_a_run(losing: LosingRun) -> None:
    """Each after a pause that doubles; meanwhile the server has come back."""
    pauses: list[float] = []
    said: list[str] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            losing.lose("")

    losing.lose("bcd")
    results = losing.run("abcde", policy=RetryPolicy(retries=3), say=said.append, sleep=sleep)
    assert losing.asked() == ["a b", "b", "b", "c d", "e"]
    assert pauses == [2.0, 4.0]
    assert said[0] == "1 answer was lost: asking again in 2 s (retry 1 of 3)"
    assert (results["score"], results["asked_again"]) == (1.0, 1)


def test_a_question_that_stays_lost_is_given_up(losing: LosingRun) -> None:
    losing.lose("b")
    results = losing.run("abcd", policy=RetryPolicy(retries=2, first_pause=0))
    assert losing.asked() == ["a b", "b", "b", "c d"]
    assert results["lost"]["fault"] == 1
    assert losing.rows()[1]["attempts"] == 3


def test_a_dead_server_ends_the_run_early(losing: LosingRun) -> None:
    losing.lose("cdefgh")
    with pytest.raises(DeadServerError, match="2 batches in a row have no answer"):
        losing.run("abcdefghij", policy=RetryPolicy(most_dead_batches=2))
    assert losing.asked() == ["a b", "c d", "e f"]
    assert len(losing.rows()) == 6

    losing.lose("")
    assert losing.run("abcdefghij", resume=True)["score"] == 1.0
    assert losing.asked() == ["c d", "e f", "g h", "i j"]


@pytest.mark.parametrize(
    ("lost", "most_dead_batches"),
    [
        pytest.param("abefij", 2, id="an answered batch between the dead ones"),
        pytest.param("bdfhj", 1, id="an answer in each batch"),
        pytest.param("abcdefghij", 0, id="no limit"),
    ],
)
def test_a_server_that_may_still_live_is_asked_to_the_end(losing: LosingRun, lost: str, most_dead_batches: int) -> None:
    losing.lose(lost)
    losing.run("abcdefghij", policy=RetryPolicy(most_dead_batches=most_dead_batches))
    assert losing.asked() == ["a b", "c d", "e f", "g h", "i j"]


def test_what_people_are_told_about_lost_answers() -> None:
    rows: list[dict[str, Any]] = [
        {"lost": "fault", "lost_because": "no\nserver"},
        {"lost": "fault", "lost_because": "no\nserver"},
        {"lost": "clock", "lost_because": "time ran out"},
        {"lost": None, "lost_because": None},
        {},
    ]

    assert lost_advice(rows, "crag evaluate --resume") == [
        "3 answers lost: 1 to the clock, 2 to a fault",
        "  why (2): no server",
        "  ask them again: crag evaluate --resume",
    ]
    assert lost_advice(rows[3:], "crag evaluate --resume") == []


# --- another model ----------------------------------------------------------------------------------------------------


def test_a_run_is_not_resumed_with_another_model(losing: LosingRun) -> None:
    losing.lose("b")
    first = losing.run("abcd", identify_model=lambda: "small at http://a/v1")
    assert first["signature"]["model"] == "small at http://a/v1"
    losing.asked()

    with pytest.raises(DatasetError, match="model was small at http://a/v1, now large at http://a/v1"):
        losing.run("abcd", resume=True, identify_model=lambda: "large at http://a/v1")
    assert losing.asked() == [], "no question went to it"

    losing.lose("")
    again = losing.run("abcd", resume=True, identify_model=lambda: "small at http://a/v1")
    assert (again["score"], again["signature"]["model"]) == (1.0, "small at http://a/v1")


def test_another_model_behind_the_address_is_noticed_before_a_retry(losing: LosingRun) -> None:
    losing.lose("b")
    # Once before the first question, then before the retry
    models = iter(["small", "large"])
    with pytest.raises(DatasetError, match="model was small, now large"):
        losing.run("abcd", policy=RetryPolicy(retries=1, first_pause=0), identify_model=lambda: next(models))
    assert losing.asked() == ["a b"]
