import os
from pathlib import Path

import pytest

from crag.core import cores
from crag.core.cores import read_quotas, usable_cores


def write(folder: Path, **contents: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{content}\n")


def test_the_limits_of_a_group_and_of_those_above_it_count(tmp_path: Path) -> None:
    write(tmp_path, cpu_max="max 100000")
    write(tmp_path / "a", cpu_max="150000 100000")
    write(tmp_path / "a" / "b", cpu_max="400000 100000")
    assert list(read_quotas("0::/a/b\n", tmp_path)) == [4.0, 1.5]


def test_a_container_finds_its_limit_at_the_top_whatever_its_group_is_called(tmp_path: Path) -> None:
    write(tmp_path / "cpu", cpu_cfs_quota_us="50000", cpu_cfs_period_us="100000")
    groups = "5:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n0::/\n"
    assert list(read_quotas(groups, tmp_path)) == [0.5]


@pytest.mark.parametrize("content", ["", "max 100000", "-1 100000", "a b", "1 0", "1"])
def test_no_limit_and_what_cannot_be_read_leave_all_cores(tmp_path: Path, content: str) -> None:
    write(tmp_path, cpu_max=content)
    assert list(read_quotas("0::/\n", tmp_path)) == []


def test_half_a_core_is_one_and_more_than_there_are_is_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_text("0::/\n")
    monkeypatch.setattr(cores, "_OWN_GROUPS", own)
    monkeypatch.setattr(cores, "_GROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    seen = []
    for quota in ("50000", "250000", "900000", "max"):
        write(tmp_path, cpu_max=f"{quota} 100000")
        seen.append(usable_cores())
    assert seen == [1, 3, 4, 4]


def test_on_a_system_that_ties_no_process_to_cores_all_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_OWN_GROUPS", tmp_path / "missing")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert usable_cores() == 8
