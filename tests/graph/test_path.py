"""What a lookup holds as its answer, and how the trace will explain it."""

from pathlib import Path

import pytest

from crag.core.deadline import Deadline
from crag.core.queries import parse_row
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph import open_knowledge_graph
from crag.graph.derive import JUST_THE_VALUE
from crag.graph.path import KnowledgeGraphPath
from crag.graph.writing import BankError
from crag.settings import KnowledgeGraphSettings, ScriptedEngine

COMPARED = 'get_movie("the red kite")["revenue"]\nget_movie("the red kite 2")["revenue"]'
ASKED = 'get_movie("the red kite")["length"]'


@pytest.mark.parametrize(
    ("question", "calls", "switches", "answer", "reason"),
    [
        ("how long is the red kite?", ASKED, {"direct_answers": True}, "90 minutes", JUST_THE_VALUE),
        ("how long is the red kite?", ASKED, {"derived_answers": True}, None, JUST_THE_VALUE),
        ("which made more, the red kite or the red kite 2?", COMPARED, {"direct_answers": True}, None, JUST_THE_VALUE),
        (
            "which made more, the red kite or the red kite 2?",
            COMPARED,
            {"derived_answers": True},
            "the red kite 2",
            "the largest of the red kite: $100, the red kite 2: $900",
        ),
    ],
)
def test_values_are_answers_as_far_as_the_settings_allow(
    graph_address: str, question: str, calls: str, switches: dict[str, bool], answer: str | None, reason: str
) -> None:
    settings = KnowledgeGraphSettings.model_validate(switches)
    model = ScriptedLanguageModel(ScriptedEngine(engine="scripted", replies={"Calls:\n": calls}))
    path = KnowledgeGraphPath(settings, graph_address, model)
    query = parse_row("1", question, [], "02/28/2024, 07:00:00 PT")
    lookup = path.look_up([query], ["movie"], Deadline(600.0))[0]
    path.close()
    assert (lookup.direct_answer, lookup.direct_reason) == (answer, reason)


def test_a_missing_folder_of_examples_is_not_blamed_on_the_address(tmp_path: Path) -> None:
    writer = {"selection": "fixed", "fixed_examples": str(tmp_path / "none")}
    settings = KnowledgeGraphSettings.model_validate({"writer": writer})
    model = ScriptedLanguageModel(ScriptedEngine(engine="scripted"))
    with pytest.raises(BankError, match=r"^\S+/none/movie\.toml: cannot be read: No such file or directory$"):
        open_knowledge_graph(settings, model, None, "http://127.0.0.1:8000")
