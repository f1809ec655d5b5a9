"""What a comparison says of two runs, from their folders and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.compare import main
from evaluation.compare import VerdictPair, compare_runs
from evaluation.judge import Verdict
from evaluation.store import SavedRun, StoreError
from tests.evaluation.run_folders import record, write_run

A = ["incorrect", "missing", "correct", "correct", "incorrect", "unscored"]
B = ["correct", "correct", "correct", "incorrect", "missing", "correct"]


def two_runs(folder: Path, **signature_of_b: Any) -> tuple[str, str]:
    write_run(folder / "a", [record(number, verdict) for number, verdict in enumerate(A)], {"python": "3.11"})
    rows = [record(number, verdict) for number, verdict in enumerate(B)]
    write_run(folder / "b", rows, {"python": "3.11", **signature_of_b})
    return str(folder / "a"), str(folder / "b")


def test_numbers_and_flips(tmp_path: Path) -> None:
    first, second = two_runs(tmp_path)
    found = compare_runs(SavedRun.read(Path(first)), SavedRun.read(Path(second)))
    assert (found.common, found.scored, found.only_first, found.only_second) == (6, 5, 0, 0)
    assert found.signature_changes == []
    assert found.differences["score"].change == pytest.approx(0.4)
    assert {(kind.first, kind.second): len(pairs) for kind, pairs in found.flips.items()} == {
        ("correct", "incorrect"): 1,
        ("incorrect", "correct"): 1,
        ("incorrect", "missing"): 1,
        ("missing", "correct"): 1,
        ("unscored", "correct"): 1,
    }
    (lost,) = found.flips[VerdictPair(Verdict.CORRECT, Verdict.INCORRECT)]
    assert lost.to_dict()["predictions"] == ["correct answer 3", "incorrect answer 3"]
    assert {label: part.n for label, part in found.slices["domain"].items()} == {"movie": 3, "music": 2}
    assert found.slices["domain"]["movie"].differences["score"].change == pytest.approx((2 + 0 + 1) / 3)
    assert "popularity" not in found.slices, "nobody labelled it"


def test_what_a_person_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = two_runs(tmp_path, preset="x@2", python="3.12")
    assert main([first, second]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "The signatures differ in",
        "  preset: A x@1",
        "          B x@2",
        "  python: A 3.11",
        "          B 3.12",
    ]
    text = "\n".join(lines)
    assert "1 of them are unscored in A or B" in text
    assert "A: score +0.000" in text
    assert "5 of 6 questions flipped" in text
    place = lines.index("right -> wrong")
    assert lines[place + 1 : place + 5] == [
        "  question 3?  (music)",
        "      expected  gold 3",
        "      A         correct answer 3",
        "      B         incorrect answer 3",
    ]
    figures = [line for line in lines if line.startswith(("score  ", "accuracy  ", "  movie", "  music"))]
    assert len(figures) == 4
    assert "[" not in text, "intervals of fewer than ten questions are a dash"


def test_intervals_of_ten_questions_line_up_with_the_dashes_of_nine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, verdict in (("a", "correct"), ("b", "missing")):
        write_run(
            tmp_path / name,
            [record(0, verdict, domain="ten" if n else "one", interaction_id=str(n)) for n in range(11)],
        )
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    lines = capsys.readouterr().out.splitlines()
    one, ten = (next(line for line in lines if line.startswith(f"  {label}")) for label in ("one", "ten"))
    assert ten.index("[") < one.index("-   ") < ten.index("]")
    assert one.index("n 1") == ten.index("n 10")


def test_everything_as_json(tmp_path: Path) -> None:
    first, second = two_runs(tmp_path, judge="llm@1")
    target = tmp_path / "new/folder/comparison.json"
    assert main([first, second, "--out", str(target)]) == 0
    found = json.loads(target.read_text(encoding="utf-8"))
    assert found["signature_changes"] == [{"name": "judge", "first": "rules@1", "second": "llm@1"}]
    assert found["questions"] == {"common": 6, "scored_in_both": 5, "only_in_first": 0, "only_in_second": 0}
    assert set(found["differences"]["score"]) == {"first", "second", "change", "p_value", "ci"}
    assert found["slices"]["domain"]["music"]["n"] == 2
    assert len(found["flips"]) == 5


def test_a_folder_in_the_place_of_the_json_is_reported_before_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*two_runs(tmp_path), "--out", str(tmp_path)]) == 2
    reported = capsys.readouterr()
    assert (reported.out, reported.err) == ("", f"error: {tmp_path}: cannot be written: it is a folder\n")


def test_only_common_questions_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", [record(number, "correct") for number in range(4)])
    others = [record(2, "missing"), record(3, "missing", query="another question of the same id"), record(9, "missing")]
    write_run(tmp_path / "b", others)
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "Only the 1 common questions are compared: 3 are only in A, 2 only in B." in out
    assert "1 of 1 questions flipped" in out


def test_runs_without_a_common_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", [record(1, "correct")])
    write_run(tmp_path / "b", [record(2, "correct"), record(3, "correct")])
    with pytest.raises(StoreError, match=r"a \(1 questions\) and .*b \(2 questions\) have no question in common"):
        compare_runs(SavedRun.read(tmp_path / "a"), SavedRun.read(tmp_path / "b"))
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_slice_by_any_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = two_runs(tmp_path)
    assert main([first, second, "--by", "batch_size"]) == 0
    assert "score by batch_size" in capsys.readouterr().out
    assert main([first, second, "--by", "colour"]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith(
        "error: --by colour: no common question has that field; fields with one value: answer, "
    )
    assert "domain, " in reported.err
    assert "gates" not in reported.err


@pytest.mark.parametrize("field", ["alt_ans", "gates"])
def test_a_field_of_several_values_is_no_slice(tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str) -> None:
    first, second = two_runs(tmp_path)
    assert main([first, second, "--by", field]) == 2
    assert capsys.readouterr().err.startswith(f"error: --by {field}: expected a field with one value")


def test_an_unfinished_run_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", [record(0, "correct"), record(1, "correct")], questions=None)
    write_run(tmp_path / "b", [record(0, "correct")])
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "A is not finished: 2 of ? questions" in out
    assert "B is not finished" not in out


def test_nothing_scored_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        write_run(tmp_path / name, [record(0, "unscored")])
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "No question is scored in both runs" in out
    assert "A: nothing scored, 1 unscored" in out
    assert "interval" not in out


def test_a_slice_of_which_nothing_is_scored_has_dashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        write_run(tmp_path / name, [record(0, "correct"), record(1, "unscored")])
    folders, target = [str(tmp_path / "a"), str(tmp_path / "b")], tmp_path / "comparison.json"
    assert main([*folders, "--by", "domain", "--out", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    movie, music = (next(line for line in lines if line.startswith(f"  {label}")) for label in ("movie", "music"))
    assert music.split() == ["music", "-", "-", "-", "-", "-", "n", "0"]
    assert movie.index("n 1") == music.index("n 0")
    assert json.loads(target.read_text(encoding="utf-8"))["slices"]["domain"]["music"] == {"n": 0}
