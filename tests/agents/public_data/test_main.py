from pathlib import Path

import pytest

from agents.public_data.__main__ import main


def test_show_prints_paragraphs_with_their_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "the godfather"]) == 0
    assert "exact 1.00  [films]" in capsys.readouterr().out
    assert main(["show", "shawshank redemption story"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("substring 0.")
    assert "Frank Darabont" in shown


def test_show_says_when_nothing_links(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "qqqq"]) == 1
    assert "nothing links to 'qqqq'" in capsys.readouterr().err


def test_build_makes_a_folder_that_show_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "figures.json"
    source.write_text('{"EX": {"name": "Example Inc.", "eps": 2}}', encoding="utf-8")
    out = tmp_path / "tables"
    assert main(["build", "--companies", str(source), "--as-of", "2024-03-01", "--out", str(out)]) == 0
    assert "1 rows of companies" in capsys.readouterr().out
    assert main(["show", "example", "--tables", str(out)]) == 0
    assert "The earnings per share is 2." in capsys.readouterr().out


def test_mistakes_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: nothing to build")
    assert main(["show", "x", "--tables", str(tmp_path / "absent")]) == 1
    assert "cannot be read" in capsys.readouterr().err
