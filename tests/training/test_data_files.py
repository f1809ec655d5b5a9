"""A command's own data may be absent; the message says which option names other data."""

from pathlib import Path

import pytest

from evaluation.datasets import DatasetError
from training.data_files import check_data_file


def test_a_file_that_is_absent_is_told_with_the_option(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with pytest.raises(DatasetError, match=r"rows\.jsonl: there is no such file; --data names it"):
        check_data_file(file, "--data names it")
    (tmp_path / "rows.jsonl.part1").touch()
    check_data_file(file, "--data names it")
