"""The folder that grows: questions keep their documents in front, and what is found is counted."""

import json
from pathlib import Path

import pytest

from crag.benchmarks.folder import document_path, make_folders, read_corpus
from crag.commands.bench.folder import main

CHANGES = ["--preset", "scripted", "--set", "web.extract.workers=0"]


def write_passages(path: Path, names: list[str]) -> Path:
    rows = [
        {
            "question": f"who founded the club of {name}?",
            "title": f"{name} club",
            "passage": f"The club of {name} was founded by Ines {name}son in a barn.",
            "answers": [f"Ines {name}son"],
        }
        for name in names
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def passages(tmp_path: Path) -> list[str]:
    asked = write_passages(tmp_path / "asked.jsonl", ["Aldren", "Brack", "Corvey"])
    others = write_passages(tmp_path / "others.jsonl", [f"Place{number}" for number in range(60)])
    return [str(asked), str(others)]


def test_documents_of_questions_come_first(passages: list[str]) -> None:
    corpus = read_corpus([Path(path) for path in passages], 3, 5)
    titles = [corpus.documents[question.document][0] for question in corpus.questions]
    assert titles == ["Aldren club", "Brack club", "Corvey club"]
    assert len(corpus.documents) == 5
    smaller = read_corpus([Path(path) for path in passages], 3, 2)
    assert len(smaller.documents) == 3, "no question loses its document"


def test_every_size_is_a_row(
    passages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_INDEX_DIR", "")  # the command sets its own
    plot = tmp_path / "plot.svg"
    sizes = ["--documents", "2", "3", "60", "--limit", "3", "--no-answers", "--plot", str(plot)]
    assert main(["--dataset", *passages, *sizes, *CHANGES]) == 0

    rows = [list(map(str.strip, line.split("|")))[1:-1] for line in capsys.readouterr().out.splitlines()[-3:]]
    assert [row[0] for row in rows] == ["2", "3", "60"]
    assert [row[5:7] for row in rows] == [["1.000", "1.000"]] * 3
    assert [row[4] != "0.000" for row in rows] == [False, False, True]  # only many documents are kept on disk

    chart = plot.read_text("utf-8")
    assert "document among those read: 1.00, 1.00, 1.00; document first: 1.00, 1.00, 1.00" in chart
    assert chart.count("<polyline") == 2


def test_fewer_documents_than_questions_are_several_folders(passages: list[str], tmp_path: Path) -> None:
    corpus = read_corpus([Path(path) for path in passages], 3, 5)
    asked = []
    for folder in make_folders(corpus, tmp_path, 2):
        assert len(list(folder.path.rglob("*.html"))) == 2
        for question in folder.corpus.questions:
            asked.append(question.text)
            assert question.answers[0] in document_path(folder.path, question.document).read_text("utf-8")
    assert asked == [question.text for question in corpus.questions]
