"""The soak run on a few questions: every fault is met and no row is missing."""

import re

import pytest

from agents.crag_agent import CragAgent
from benchmarks import soak


def test_every_row_is_complete_whatever_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "")
    assert soak.main(["--questions", "160", "--seed", "2"]) == 0
    said = capsys.readouterr().out
    assert "160 of 160 rows complete" in said
    met = dict(re.findall(r"\| (\w[\w ]+?) +\| (\d+) +\|", said))
    assert set(met) >= {*soak.PAGES, *soak.MODELS}
    assert all(int(met[name]) for name in (*soak.PAGES, *soak.MODELS))


def test_a_missing_row_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "")
    whole = CragAgent.answer_batch

    def short(agent: CragAgent, batch: soak.Batch) -> object:
        answers, traces = whole(agent, batch)
        return answers[:-1], traces

    monkeypatch.setattr(CragAgent, "answer_batch", short)
    assert soak.main(["--questions", "8"]) == 1
    assert "0 of 8 rows complete" in capsys.readouterr().out
