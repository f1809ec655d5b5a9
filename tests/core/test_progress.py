"""Progress on a terminal and in a log."""

import io
import sys
import threading

import pytest

from crag.core.progress import Progress, ProgressMode, batches_with_progress, describe_progress
from tests.evaluation.processes import wait_until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (describe_progress(30, 120, 60, status="score +0.200"), "30/120 (25 %), score +0.200, 1:00 elapsed, 3:00 left"),
        (describe_progress(30, 120, 60, done_before=20), "30/120 (25 %), 1:00 elapsed, 9:00 left"),
        (describe_progress(20, 120, 60, done_before=20), "20/120 (16 %), 1:00 elapsed"),
        (describe_progress(120, 120, 7322), "120/120 (100 %), 2:02:02 elapsed"),
        (describe_progress(5, None, 5), "5, 0:05 elapsed"),
    ],
)
def test_the_line_of_a_log(line: str, expected: str) -> None:
    assert line == expected


def test_a_log_has_plain_lines_also_while_nothing_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []

    def has_lines() -> bool:
        lines.extend(capsys.readouterr().err.splitlines())
        return len(lines) >= 2

    with Progress(4, log_seconds=0.01) as progress:
        wait_until(has_lines, "two lines")
        progress.update(4, "score +1.000")
    assert all(line.startswith("questions: 0/4 (0 %), 0:0") for line in lines[:2])
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("questions: 4/4 (100 %), score +1.000, 0:")
    assert not any(thread.name == "progress" for thread in threading.enumerate())


def test_what_others_print_stands_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    with Progress(2) as progress:
        sys.stdout.write("an answer\n")
        sys.stderr.write("a warning\n")
        progress.update(2, "score +0.500")
    assert (sys.stdout, sys.stderr) == (terminal, terminal)
    text = terminal.getvalue()
    # The bar's line is cleared before each, and drawn again below it
    for line in ("an answer", "a warning"):
        assert f" \r{line}\n" in text
    assert text.index("a warning\n") < text.rindex("questions:")


def test_answers_in_a_file_are_not_mixed_with_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdout", file)
    with Progress(1):
        sys.stdout.write("an answer\n")
    assert file.getvalue() == "an answer\n"


def test_nothing_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(1, mode=ProgressMode.NONE) as progress:
        progress.update(1)
    assert capsys.readouterr().err == ""


def test_batches_of_what_is_not_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(batches_with_progress("abcde", 2, done=1)) == ["bc", "de"]
    assert "questions: 5/5 (100 %)" in capsys.readouterr().err
