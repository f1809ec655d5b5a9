"""The benchmark of routes, on toy questions."""

import json
from pathlib import Path

import pytest

from agents.questions import DOMAINS
from benchmarks import routing
from tests.benchmarks.conftest import Cells
from tests.training.router.toy import toy_rows, write_toy


def write_out_of_fold(path: Path) -> Path:
    """Every third question is taken for a question about finance."""
    rows = []
    for number, row in enumerate(toy_rows(60)):
        chosen = "finance" if number % 3 == 0 else row["domain"]
        probabilities = {name: 0.8 if name == chosen else 0.05 for name in DOMAINS}
        route = {"domain": {"label": chosen, "probabilities": probabilities}}
        rows.append({"interaction_id": row["interaction_id"], "fold": number % 4, "route": route})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_our_figures_stand_beside_those_of_the_baseline(
    tmp_path: Path, printed: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "milliseconds", lambda *_: 1.5)
    data, predicted = write_toy(tmp_path / "toy.jsonl", 60), write_out_of_fold(tmp_path / "oof.jsonl")
    picture = tmp_path / "pictures" / "confusion.svg"
    arguments = ["--out-of-fold", str(predicted), "--data", str(data), "--picture", str(picture)]
    assert routing.main(arguments) == 0
    (figures,) = printed("domain")
    assert float(figures[1]) == pytest.approx(2 / 3, abs=1e-3)
    assert float(figures[3]) == pytest.approx(0.8 - 2 / 3, abs=1e-3)
    assert float(figures[4]) > 0.9, "the baseline solves the toy task"
    assert "static_or_dynamic" not in picture.read_text(encoding="utf-8")
    assert ">20<" in picture.read_text(encoding="utf-8")


def test_predictions_of_other_questions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, predicted = write_toy(tmp_path / "toy.jsonl", 50), write_out_of_fold(tmp_path / "oof.jsonl")
    assert routing.main(["--out-of-fold", str(predicted), "--data", str(data)]) == 2
    assert "does not have the questions" in capsys.readouterr().err
