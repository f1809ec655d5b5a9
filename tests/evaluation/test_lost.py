"""Which answers of our own agent count as lost under real faults, and to what."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.core.progress import ProgressMode
from crag.evaluation.batches import GRAPH_VARIABLE
from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.judge import RulesJudge
from crag.evaluation.results import count_lost, metrics_table
from crag.evaluation.runner import Evaluation
from crag.evaluation.store import RunStore
from crag.evaluation.worker import AgentSpec
from crag.settings import OVERRIDES_VARIABLE, PRESET_VARIABLE

SAMPLE = Path("data/sample/questions.jsonl")
CALL = """language_model.replies = { "Calls:" = 'get_movie("titanic")["revenue"]' }"""


def results_of_our_agent(folder: Path, *overrides: str, graph: str = "") -> dict[str, Any]:
    """Of the scripted preset with these faults, on two questions."""
    environment = {PRESET_VARIABLE: "scripted", OVERRIDES_VARIABLE: "\n".join(overrides), GRAPH_VARIABLE: graph}
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
