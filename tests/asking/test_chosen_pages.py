"""The thresholds for pages that a person chose, and what is told of an answer that they withhold."""

import math
from collections.abc import Sequence

import pytest

from crag.answering import ConfidenceModel, load_confidence
from crag.asking.asker import CitedAnswer
from crag.asking.chosen_pages import settings_for_chosen_pages
from crag.core.contracts import I_DONT_KNOW, WEB, Candidate, GateFiring, Trace, abstain
from crag.settings import ConfidenceSettings, load_settings

CALIBRATION = "answering.confidence.log_odds_on_chosen_pages"
GATE = 'answering.gates=[{gate="score", score="top_passage", minimum=0.9}]'


@pytest.mark.parametrize(
    ("changes", "asked", "threshold", "log_odds", "gates"),
    [
        pytest.param([f"{CALIBRATION}=0.7"], None, 0.5, 0.7, 0, id="fitted: no gate on the best passage"),
        pytest.param([f"{CALIBRATION}=0.7"], 0.3, 0.3, 0.7, 0, id="the threshold of the command line"),
        pytest.param([f"{CALIBRATION}=0.7", GATE], None, 0.5, 0.7, 1, id="a gate that a change names"),
        pytest.param([f"{CALIBRATION}=none"], None, 0.5, 0.0, 1, id="not fitted: as elsewhere"),
        pytest.param([f"{CALIBRATION}=none"], 0.0, 0.0, 0.0, 0, id="0 gives every answer"),
    ],
)
def test_what_decides_about_answers_from_chosen_pages(
    changes: Sequence[str], asked: float | None, threshold: float, log_odds: float, gates: int
) -> None:
    settings = settings_for_chosen_pages(load_settings("cpu", changes), changes, asked)
    confidence = settings.answering.confidence
    assert confidence is not None
    assert (confidence.threshold, confidence.log_odds) == (threshold, log_odds)
    assert len(settings.answering.gates) == gates


def test_the_odds_of_chosen_pages_change_answers_from_pages_alone() -> None:
    model = ConfidenceModel.load("cpu")
    doubled = load_confidence(ConfidenceSettings(model="cpu", log_odds=math.log(2)))
    assert doubled is not None
    before, after = model.probability({}), doubled.probability({})
    assert before is not None
    assert after is not None
    assert after / (1 - after) == pytest.approx(2 * before / (1 - before))
    from_graph = {"from_graph": 1.0}
    assert doubled.probability(from_graph) == model.probability(from_graph)


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
