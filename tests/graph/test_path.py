"""What a lookup holds as its answer, and how the trace will explain it."""

import pytest

from crag.core.deadline import Deadline
from crag.core.queries import parse_row
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph.derive import JUST_THE_VALUE
from crag.graph.path import KnowledgeGraphPath
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
def test_answers_as_far_as_the_settings_allow(
    graph_address: str, question: str, calls: str, switches: dict[str, bool], answer: str | None, reason: str
) -> None:
    settings = KnowledgeGraphSettings.model_validate(switches)
    model = ScriptedLanguageModel(ScriptedEngine(engine="scripted", replies={"Calls:\n": calls}))
    path = KnowledgeGraphPath(settings, graph_address, model)
    query = parse_row("1", question, [], "02/28/2024, 07:00:00 PT")
    lookup = path.look_up([query], ["movie"], Deadline(600.0))[0]
    path.close()
    assert (lookup.direct_answer, lookup.direct_reason) == (answer, reason)
