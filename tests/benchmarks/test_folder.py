"""The folder that grows: questions keep their documents in front, and what is found is counted."""

import json
from pathlib import Path

import pytest

from crag.benchmarks.folder import read_corpus
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


def test_every_size_is_a_row(
    passages: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_INDEX_DIR", "")  # the command sets its own
    sizes = ["--documents", "3", "60", "--limit", "3", "--no-answers"]
    assert main(["--dataset", *passages, *sizes, *CHANGES]) == 0
    *_, small, large = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in small.split("|")[5:7]] == ["1.000", "1.000"]
    assert [cell.strip() for cell in large.split("|")[5:7]] == ["1.000", "1.000"]
    assert main(["--dataset", *passages, "--documents", "2", "--limit", "3", *CHANGES]) == 2
    assert "more questions than documents" in capsys.readouterr().err
