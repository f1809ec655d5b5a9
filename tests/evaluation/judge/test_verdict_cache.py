"""The file of verdicts that runs share."""

import errno
from multiprocessing import get_context
from pathlib import Path

import pytest

from evaluation.judge import Claim, JudgeUnavailableError
from evaluation.judge.verdict_cache import VerdictCache, content_key, default_cache_file


def test_what_was_put_is_found_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "verdicts.jsonl"
    cache = VerdictCache(path)
    cache.put({"a": True, "b": False}, "llm@1")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (True, False, None)
    again = VerdictCache(path)
    assert (again.get("a"), again.get("b"), again.get("c")) == (True, False, None)


def test_without_a_file_nothing_is_kept() -> None:
    cache = VerdictCache(None)
    cache.put({"a": True}, "llm@1")
    assert cache.get("a") is True
    assert VerdictCache(None).get("a") is None


@pytest.mark.parametrize("torn", [b'{"key": "c", "corr', b"\xff\xfe", b"[1]", b'{"key": "c", "correct": 1}'])
def test_a_torn_line_costs_that_line_alone(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "verdicts.jsonl"
    VerdictCache(path).put({"a": True}, "llm@1")
    with path.open("ab") as stream:
        stream.write(torn)
    cache = VerdictCache(path)
    assert cache.get("a") is True
    assert cache.get("c") is None
    cache.put({"b": False}, "llm@1")
    assert VerdictCache(path).get("b") is False


def _put_many(path: Path, first: int) -> None:
    cache = VerdictCache(path)
    for number in range(first, first + 50):
        cache.put({str(number): True}, "llm@1")


def test_two_runs_append_at_once(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    runs = [get_context("spawn").Process(target=_put_many, args=(path, first)) for first in (0, 50)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    assert len(VerdictCache(path)) == 100


def test_a_file_that_cannot_be_used_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JudgeUnavailableError, match="--judge-cache"):
        VerdictCache(tmp_path / "file" / "verdicts.jsonl")


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = VerdictCache(tmp_path / "verdicts.jsonl")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(JudgeUnavailableError, match=r"verdicts\.jsonl: .*No space left"):
        cache.put({"a": True}, "llm@1")


def test_the_key_changes_with_all_that_the_verdict_depends_on() -> None:
    claims = [
        Claim("q", ("g",), "p"),
        Claim("Q", ("g",), "p"),
        Claim("q", ("G",), "p"),
        Claim("q", ("g", "h"), "p"),
        Claim("q", ("g",), "P"),
        Claim("q", ("g", "p"), ""),
    ]
    keys = {content_key("llm@1", claim) for claim in claims} | {content_key("llm@2", claims[0])}
    assert len(keys) == len(claims) + 1
    assert content_key("llm@1", claims[0]) == content_key("llm@1", Claim("q", ("g",), "p"))


def test_the_default_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_file() == tmp_path / "crag-judge" / "verdicts.jsonl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_file() == Path.home() / ".cache" / "crag-judge" / "verdicts.jsonl"
