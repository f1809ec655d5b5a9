"""What a comparison says of two runs, on the command line and in numbers: against scipy and against every toss."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from crag.commands.compare import main
from crag.evaluation.judge import Verdict
from crag.evaluation.paired_statistics import MEASURES, VerdictPair, paired_differences
from tests.evaluation.run_folders import record, write_run

A = ["incorrect", "missing", "correct", "correct", "incorrect", "unscored"]
B = ["correct", "correct", "correct", "incorrect", "missing", "correct"]


def two_runs(folder: Path, **signature_of_b: Any) -> list[str]:
    write_run(folder / "a", [record(number, verdict) for number, verdict in enumerate(A)], {"python": "3.11"})
    rows = [record(number, verdict) for number, verdict in enumerate(B)]
    write_run(folder / "b", rows, {"python": "3.11", **signature_of_b})
    return [str(folder / "a"), str(folder / "b")]


def same_verdicts(folder: Path, *verdicts: str) -> list[str]:
    for name in "ab":
        write_run(folder / name, [record(number, verdict) for number, verdict in enumerate(verdicts)])
    return [str(folder / "a"), str(folder / "b")]


def test_two_runs_are_printed_with_signatures_differences_and_flips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*two_runs(tmp_path, preset="x@2", code="c0de"), "--by", "domain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["The signatures differ in", "  preset: A x@1", "          B x@2"]
    assert lines[3:5] == ["  code: A -", "        B c0de"], "a dash where a run has no such entry"

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
    assert len([line for line in lines if line.startswith(("score  ", "accuracy  ", "  movie", "  music"))]) == 4
    assert "[" not in text, "intervals of fewer than ten questions are a dash"


def test_columns_line_up_with_an_interval_a_dash_and_nothing_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = ["one", *["ten"] * 10, "none"]

    for name, verdict in (("a", "correct"), ("b", "missing")):
        verdicts = [verdict] * 11 + ["unscored"]
        rows = [record(0, v, domain=labels[n], interaction_id=str(n)) for n, v in enumerate(verdicts)]
        write_run(tmp_path / name, rows)

    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    one, ten, none = (
        next(line for line in out.splitlines() if line.startswith(f"  {label}")) for label in ("one", "ten", "none")
    )
    assert ten.index("[") < one.index("-   ") < ten.index("]")
    assert one.index("n 1") == ten.index("n 10") == none.index("n 0")
    assert none.split() == ["none", "-", "-", "-", "-", "-", "n", "0"]
    assert "A: score +1.000 [+1.000,+1.000], accuracy 1.000" in out


def test_out_has_the_whole_comparison_as_json(tmp_path: Path) -> None:
    target = tmp_path / "new/folder/comparison.json"
    assert main([*two_runs(tmp_path, judge="llm@1"), "--out", str(target)]) == 0
    data = json.loads(target.read_text(encoding="utf-8"))
    assert data["signature_changes"] == [["judge", "rules@1", "llm@1"]]
    assert [data[name] for name in ("common", "scored", "only_first", "only_second")] == [6, 5, 0, 0]
    assert set(data["differences"]["score"]) == {"first", "second", "change", "p_value", "ci"}
    assert data["slices"]["domain"]["music"]["n"] == 2
    assert data["differences"]["score"]["change"] == pytest.approx(0.4)
    assert len(data["flips"]) == 5


def test_only_common_questions_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", [record(number, "correct") for number in range(4)], questions=None)
    others = [record(2, "missing"), record(3, "missing", query="another question of the same id"), record(9, "missing")]
    write_run(tmp_path / "b", others)
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "Only the 1 common questions are compared: 3 are only in A, 2 only in B." in out
    assert "1 of 1 question flipped" in out
    assert "A is not finished: 4 of ? questions" in out
    assert "B is not finished" not in out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ["--by", "colour"],
            "--by colour: no common question has that field; fields with one value: answer, ",
        ),
        (["--by", "alt_ans"], "--by alt_ans: expected a field with one value"),
        (["--by", "gates"], "--by gates: expected a field with one value"),
        (["--out", "."], ".: cannot be written: it is a folder\n"),
        (["--html", "."], ".: cannot be written: it is a folder\n"),
    ],
)
def test_a_fault_is_reported_before_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str
) -> None:
    assert main([*two_runs(tmp_path), *arguments]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith(f"error: {fault}")


def test_runs_without_a_common_question_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "a", [record(1, "correct")])
    write_run(tmp_path / "b", [record(2, "correct"), record(3, "correct")])
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "b (2 questions) have no question in common" in capsys.readouterr().err


def test_seconds_and_tokens_of_both_runs_are_printed_with_their_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, seconds, read in (("a", 1.0, 100), ("b", 2.5, 300)):
        tokens = {"prompt": read, "completion": 4}
        rows = [record(number, "correct", seconds=seconds, tokens=tokens) for number in range(2)]
        write_run(tmp_path / name, rows)
    assert main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["seconds", "per", "question", "1.00", "2.50", "+1.50"] in lines
    assert ["tokens", "read/question", "100.00", "300.00", "+200.00"] in lines
    assert ["tokens", "written/question", "4.00", "4.00", "+0.00"] in lines


def test_several_runs_get_a_line_each_against_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = {"prompt": 90, "completion": 10}
    write_run(tmp_path / "a", [record(number, "incorrect", tokens=tokens) for number in range(12)])
    write_run(tmp_path / "b", [record(number, "correct", tokens=tokens) for number in range(12)], {"preset": "b@1"})
    write_run(tmp_path / "c", [record(number, "incorrect", tokens={}) for number in range(11)])

    folders = [str(tmp_path / name) for name in "abc"]
    assert main([*folders, "--out", str(tmp_path / "all.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["A", folders[0], "12", "-1.000", "-", "-", "-", "0", "12", "1.00", "100"]
    assert lines[2].split()[:4] == [folders[1], "12", "+1.000", "+2.000"]
    assert lines[2].split()[-5:] == ["0.0005", "12", "0", "1.00", "100"]
    assert lines[3].split()[-4:] == ["0", "11", "1.00", "-"]
    assert len({len(line) for line in lines[:4]}) == 1, "the columns line up"

    text = "\n".join(lines)
    assert "different questions in common" in text
    assert f"{folders[1]}: differs in preset; 12 of 12 flipped: 12 wrong -> right" in text
    assert f"{folders[2]}: has the same signature; 0 of 11 flipped" in text

    written = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [written[folder]["common"] for folder in folders[1:]] == [12, 11]


def test_a_page_of_more_than_two_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["a", "b", "c", "--html", str(tmp_path / "x.html")])
    assert "--html and --by are for two runs" in capsys.readouterr().err


# --- paired statistics ------------------------------------------------------------------------------------------------

C, W, M = Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING


def some_pairs(n: int, seed: int) -> list[VerdictPair]:
    draw = random.Random(seed)
    first = [draw.choice([C, W, M]) for _ in range(n)]
    return [VerdictPair(one, draw.choice([C, C, W, M]) if draw.random() < 0.4 else one) for one in first]


def difference_of_means(b: Any, a: Any, axis: int) -> Any:
    return np.mean(b, axis=axis) - np.mean(a, axis=axis)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", list(MEASURES))
def test_change_p_value_and_interval_are_those_of_scipy(seed: int, name: str) -> None:
    few, many = some_pairs(11, seed), some_pairs(300, seed)
    first, second = ([MEASURES[name][pair[run]] for pair in few] for run in (0, 1))
    theirs = stats.permutation_test(
        (second, first), difference_of_means, permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    ours = paired_differences(few)[name]
    assert ours.change == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(min(1.0, theirs.pvalue))

    values = [[MEASURES[name][pair[run]] for pair in many] for run in (1, 0)]
    options = {"paired": True, "method": "percentile", "n_resamples": 4000, "rng": np.random.default_rng(1)}
    interval = stats.bootstrap(values, difference_of_means, **options).confidence_interval
    assert list(paired_differences(many)[name].ci) == pytest.approx([interval.low, interval.high], abs=0.012)


def test_for_shares_it_is_the_exact_mcnemar_test() -> None:
    pairs = [VerdictPair(W, C)] * 31 + [VerdictPair(C, W)] * 15 + [VerdictPair(C, C)] * 900
    expected = stats.binomtest(15, 46).pvalue
    assert paired_differences(pairs)["accuracy"].p_value == pytest.approx(expected)
    assert paired_differences(pairs)["hallucination"].p_value == pytest.approx(expected)
