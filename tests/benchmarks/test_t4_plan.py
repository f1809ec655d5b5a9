"""The plan for T4 beside a run of the language model, in the shapes of a stand-in: the wiring of a full-size run."""

import re
import sys
from importlib.util import find_spec

import pytest

from crag.commands.bench.t4_plan import main
from tests.engines.llm.conftest import NO_VLLM

NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM)
pytestmark = [pytest.mark.vllm, pytest.mark.models, NEEDS_VLLM]


def test_each_step_is_run_and_its_seconds_on_t4_follow_by_ratio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["t4_plan", "--run", "small", "--limit", "1", "--peak", "650", "3200"])
    main()
    out = capsys.readouterr().out
    assert re.search(r"keys and values of [\d,]+ tokens at once", out)
    for step in ("calls", "graph_answer", "answer"):
        row = re.search(rf"\| {step}: .* here ([\d.]+) s \(.*\) and ([\d.]+) s \(.*\) +\| ([\d.]+)", out)
        assert row, step
        read, write, on_t4 = map(float, row.groups())
        assert -0.6 < on_t4 - 5 * (read + write) < 4, step  # rounded; and what two cards exchange, some seconds
