"""Three shards are the undivided run; what lacks of them is named."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluation.cli import main as evaluate
from evaluation.merge import main
from evaluation.store import PREDICTIONS, REPORT, RESULTS, RUN, TRACES
from tests.test_local_evaluation import arguments, dataset, results_of, rows_of, without_times


def sharded(tmp_path: Path, *shards: str, count: int = 13, agent: str = "TracingAgent", **more: Any) -> list[str]:
    """The folders of some shards of a run in batches of two."""
    data = dataset(tmp_path, count, **more)
    for shard in shards:
        options = arguments(tmp_path, data, agent, "--in-process", "--shard", shard)
        assert evaluate([*options, "--output", str(tmp_path / shard.replace("/", "of"))]) in {0, 1}
    return [str(tmp_path / shard.replace("/", "of")) for shard in shards]


def merged(tmp_path: Path, folders: list[str], *more: str) -> int:
    return main([*folders, "--output", str(tmp_path / "merged"), *more])


def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], folders: list[str], *more: str) -> str:
    capsys.readouterr()
    assert merged(tmp_path, folders, *more) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    return str(captured.err)


def test_three_shards_are_the_undivided_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    third, first, second = sharded(tmp_path, "3/3", "1/3", "2/3", crash_at=5, agent="CrashingAgent")
    whole = arguments(tmp_path, tmp_path / "questions.jsonl.bz2", "CrashingAgent", "--in-process")
    assert evaluate([*whole, "--output", str(tmp_path / "whole")]) == 1
    assert merged(tmp_path, [third, first, second]) == 0
    assert without_times(rows_of(tmp_path / "merged")) == without_times(rows_of(tmp_path / "whole"))
    assert without_times(results_of(tmp_path / "merged")) == without_times(results_of(tmp_path / "whole"))
    run, undivided = (json.loads((tmp_path / name / RUN).read_text()) for name in ("merged", "whole"))
    assert {**run, "sittings": None} == {**undivided, "sittings": None}
    assert len(run["sittings"]) == 3
    assert (tmp_path / "merged" / REPORT).is_file()
    assert "all questions" in capsys.readouterr().out


def test_a_retried_question_keeps_its_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_AGENT_MENDED", str(tmp_path / "mended"))
    folders = sharded(tmp_path, "1/2", "2/2", count=6, crash_at=2, agent="RecoveringAgent")
    (tmp_path / "mended").touch()
    data = tmp_path / "questions.jsonl.bz2"
    again = arguments(tmp_path, data, "RecoveringAgent", "--in-process", "--shard", "2/2", "--resume", "--retry-failed")
    assert evaluate([*again, "--output", folders[1]]) == 0
    assert merged(tmp_path, folders) == 0
    assert [row["attempt"] for row in rows_of(tmp_path / "merged")] == [1, 1, 1, 1, 2, 2, 1, 1]
    results = results_of(tmp_path / "merged")
    assert (results["score"], results["n"], results["retried"], results["errors"]) == (1.0, 6, 2, 0)


def test_a_missing_shard_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/4", "3/4")
    lines = refused(tmp_path, capsys, folders).splitlines()
    assert lines == [
        "error: the run is not complete; --partial merges the existing parts",
        "  shard 2/4 is missing",
        "  shard 4/4 is missing",
    ]
    assert not (tmp_path / "merged").exists()


def test_a_partial_merge_says_in_its_signature_what_it_is_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = sharded(tmp_path, "1/4", "3/4")
    assert merged(tmp_path, folders, "--partial") == 0
    assert "note: shard 2/4 is missing" in capsys.readouterr().err
    results = results_of(tmp_path / "merged")
    assert results["n"] == 7
    assert results["signature"]["shard"] == "1/4+3/4"
    assert json.loads((tmp_path / "merged" / RUN).read_text())["questions"] is None


def test_lost_questions_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/2", "2/2")
    path = Path(folders[0]) / PREDICTIONS
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    assert refused(tmp_path, capsys, folders).splitlines()[1] == (
        f"  shard 1/2 in {folders[0]} is damaged: missing questions 5 to 6, 9 to 10, 13 of the file; continue it "
        "with --resume"
    )


def test_an_unfinished_shard_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(tmp_path / "1of2"), str(tmp_path / "2of2")]
    crashing = arguments(tmp_path, dataset(tmp_path, 13, crash_at=6), "CrashingAgent", "--in-process")
    second = [*crashing, "--shard", "2/2", "--output", folders[1]]
    assert evaluate([*crashing, "--shard", "1/2", "--output", folders[0]]) == 0
    assert evaluate([*second, "--fail-on-error"]) == 1
    assert refused(tmp_path, capsys, folders).splitlines()[1] == (
        f"  shard 2/2 in {folders[1]} is not finished: missing questions 11 to 12 of the file; continue it with "
        "--resume"
    )
    assert evaluate([*second, "--resume"]) == 1
    assert merged(tmp_path, folders) == 0


def test_what_does_not_belong_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = sharded(tmp_path, "1/2", "2/2")
    assert "are both shard 1/2" in refused(tmp_path, capsys, [first, first])
    (third,) = sharded(tmp_path, "1/3")
    assert "belong to different runs: shard is one of 3 and one of 2" in refused(tmp_path, capsys, [third, second])
    shutil.rmtree(second)
    (other,) = sharded(tmp_path, "2/2", agent="SilentAgent")
    reported = refused(tmp_path, capsys, [first, other])
    assert "different runs: agent is tests.evaluation.fake_agents:TracingAgent and tests" in reported
    whole = arguments(tmp_path, tmp_path / "questions.jsonl.bz2", "EchoAgent", "--in-process")
    assert evaluate([*whole, "--output", str(tmp_path / "whole")]) == 0
    assert "whole is not a shard: it was written without --shard" in refused(
        tmp_path, capsys, [str(tmp_path / "whole")]
    )
    assert "there is no such folder" in refused(tmp_path, capsys, [str(tmp_path / "none")])


def test_shards_of_different_lengths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (first,) = sharded(tmp_path, "1/2")
    shorter = arguments(tmp_path, tmp_path / "questions.jsonl.bz2", "TracingAgent", "--in-process", "--shard", "2/2")
    assert evaluate([*shorter, "--limit", "6", "--output", str(tmp_path / "short")]) == 0
    reported = refused(tmp_path, capsys, [first, str(tmp_path / "short")])
    assert "different numbers of questions (--limit?): 1/2 counted 13, 2/2 counted 6" in reported


def test_the_output_cannot_be_a_shard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = sharded(tmp_path, "1/2", "2/2", count=4)
    before = (Path(first) / PREDICTIONS).read_bytes()
    other_name = str(tmp_path / "2of2" / ".." / "1of2")
    reported = refused(tmp_path, capsys, [first, second], "--overwrite", "--output", other_name)
    assert "is one of the shards, which would be lost" in reported
    assert (Path(first) / PREDICTIONS).read_bytes() == before


def test_a_shard_cannot_hold_what_it_was_not_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/2", "2/2", count=8)
    run_file = Path(folders[0]) / RUN
    run = json.loads(run_file.read_text())
    for folder in folders:
        (Path(folder) / RUN).write_text(json.dumps({**json.loads((Path(folder) / RUN).read_text()), "questions": 7}))
    assert "holds question 8 of the file, but the run has 7 (--limit?)" in refused(tmp_path, capsys, folders)
    run_file.write_text(json.dumps({**run, "identity": {**run["identity"], "shard": "2/2"}}))
    assert "holds batch 0, which is not one of shard 2/2" in refused(tmp_path, capsys, folders[:1])


def test_a_bad_line_in_the_traces_costs_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/1", count=4)
    traces = Path(folders[0]) / TRACES
    lines = traces.read_text().splitlines()
    traces.write_text("\n".join([lines[0], "{}", *lines[2:]]) + "\n")
    assert 'traces.jsonl, line 2, field "interaction_id"' in refused(tmp_path, capsys, folders)
    assert not (tmp_path / "merged").exists()


def test_other_versions_are_merged_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/2", "2/2", count=4)
    path = Path(folders[1]) / RUN
    run = json.loads(path.read_text())
    run["signature"]["torch"] = "9.9"
    path.write_text(json.dumps(run))
    capsys.readouterr()
    assert merged(tmp_path, folders) == 0
    assert "note: the shards ran with different versions of torch: " in capsys.readouterr().err
    assert results_of(tmp_path / "merged")["signature"]["torch"].endswith(" and 9.9")


def test_a_merged_run_is_not_overwritten_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = sharded(tmp_path, "1/1", count=3)
    assert merged(tmp_path, folders) == 0
    reported = refused(tmp_path, capsys, folders)
    assert "already holds answers" in reported
    assert "--resume" not in reported
    assert merged(tmp_path, folders, "--overwrite") == 0
    assert (tmp_path / "merged" / RESULTS).is_file()


def test_an_ordinary_run_goes_on_with_a_merged_one(tmp_path: Path) -> None:
    folders = sharded(tmp_path, "1/2", "2/2", count=4)
    assert merged(tmp_path, folders) == 0
    data = dataset(tmp_path, count=4)
    options = arguments(tmp_path, data, "TracingAgent", "--in-process", "--resume")
    assert evaluate([*options, "--output", str(tmp_path / "merged")]) == 0
    assert [row["attempt"] for row in rows_of(tmp_path / "merged")] == [1] * 4
