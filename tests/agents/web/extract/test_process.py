"""What one extraction worker says about itself when it fails."""

import pytest

from agents.deadline import Deadline
from agents.settings import ExtractSettings
from agents.web.extract import process
from agents.web.extract.process import PageTimeoutError, WorkerDiedError, WorkerProcess


def worker_that_runs(monkeypatch: pytest.MonkeyPatch, command: str) -> WorkerProcess:
    monkeypatch.setattr(process, "_COMMAND", command)
    return WorkerProcess(ExtractSettings())


def test_a_worker_that_cannot_import_says_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = worker_that_runs(monkeypatch, "import no_such_parser")
    message = "^the extraction worker ended with status 1: ModuleNotFoundError: No module named 'no_such_parser'$"
    with pytest.raises(WorkerDiedError, match=message):
        worker.wait_ready(Deadline(600))


def test_a_worker_that_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = worker_that_runs(monkeypatch, "import os; os._exit(7)")
    with pytest.raises(WorkerDiedError, match=r"^the extraction worker ended with status 7$"):
        worker.wait_ready(Deadline(600))


def test_a_slow_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = worker_that_runs(monkeypatch, "import time; time.sleep(999)")
    with pytest.raises(PageTimeoutError, match=r"^the extraction worker was not ready in time$"):
        worker.wait_ready(Deadline(0.2))
    assert worker._process.poll() is not None


def test_a_slow_page_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = "import os, time; os.write(1, bytes(4)); time.sleep(999)"
    worker = worker_that_runs(monkeypatch, ready)
    worker.wait_ready(Deadline(600))
    with pytest.raises(PageTimeoutError, match=r"^reading the page took too long$"):
        worker.extract("<p>a</p>", Deadline(0.2))


def test_a_worker_that_complains_at_length_is_not_held_up_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    talkative = "import sys; [sys.stderr.write('a warning ' * 99 + chr(10)) for _ in range(2000)]; "
    worker = worker_that_runs(monkeypatch, talkative + process._COMMAND)
    worker.wait_ready(Deadline(600))
    assert worker.extract("<p>hello</p>", Deadline(600)) == "hello"
    worker.close()


def test_a_worker_that_lets_go_of_its_pipes_and_lives_on_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = worker_that_runs(monkeypatch, "import os, time; os.close(1); time.sleep(999)")
    with pytest.raises(WorkerDiedError, match="ended with status -9"):
        worker.wait_ready(Deadline(600))
