"""The thresholds for pages that a person chose, and what is told of an answer that they withhold."""

from collections.abc import Sequence

import pytest

from crag.asking.asker import CitedAnswer
from crag.asking.chosen_pages import settings_for_chosen_pages
from crag.core.contracts import I_DONT_KNOW, WEB, Candidate, GateFiring, Trace, abstain
from crag.settings import load_settings

OWN = "answering.confidence.threshold_on_chosen_pages=0.2"
GATE = 'answering.gates=[{gate="score", score="top_passage", minimum=0.9}]'


@pytest.mark.parametrize(
    ("changes", "asked", "threshold", "gates"),
    [
        pytest.param([OWN], None, 0.2, 0, id="the preset's own for chosen pages, without a gate on the best passage"),
        pytest.param([OWN], 0.7, 0.7, 0, id="the command line's"),
        pytest.param([OWN, "answering.confidence.threshold=0.6"], None, 0.6, 0, id="one that a change names"),
        pytest.param([OWN, GATE], None, 0.2, 1, id="a gate that a change names"),
        pytest.param(["answering.confidence.threshold_on_chosen_pages=none"], None, 0.5, 1, id="none: as elsewhere"),
    ],
)
def test_which_threshold_decides(changes: Sequence[str], asked: float | None, threshold: float, gates: int) -> None:
    settings = settings_for_chosen_pages(load_settings("cpu", changes), changes, asked)
    confidence = settings.answering.confidence
    assert confidence is not None
    assert confidence.threshold == threshold
    assert len(settings.answering.gates) == gates


def test_every_gate_that_withheld_an_answer_is_named() -> None:
    trace = Trace("1", "where did the ship leave from?", "")
    trace.candidates.append(Candidate("Antwerp", WEB, {}, 0.37))
    trace.gates += [
        GateFiring("top_passage above 0.98", "the best passage fits with 0.40 at most", I_DONT_KNOW, "Antwerp"),
        GateFiring("expected score", "P(correct) is 0.37, not above 0.5", I_DONT_KNOW, "Antwerp"),
    ]
    trace.answer = abstain("the best passage fits with 0.40 at most", WEB)
    answer = CitedAnswer.from_trace(trace)
    assert answer.withheld_by == (
        "top_passage above 0.98 (the best passage fits with 0.40 at most); "
        "expected score (P(correct) is 0.37, not above 0.5)"
    )
    assert str(answer).splitlines()[1:3] == [
        "    not sure enough (0.37): Antwerp",
        f"    withheld by {answer.withheld_by}",
    ]
