import io
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.deadline import Deadline
from agents.settings import ExtractSettings
from agents.web.extract import worker
from agents.web.extract.process import PageTimeoutError, WorkerDiedError, WorkerProcess
from tests.agents.web.extract.stuck import STUCK, hanging_command

PATIENCE = 600.0
"""Seconds that nothing here takes, however busy the machine is."""
ROOT = Path(__file__).resolve().parents[4]


def test_frames_survive_the_round_trip_and_a_torn_one_ends_the_stream() -> None:
    stream = io.BytesIO()
    worker.write_frame(stream, b"abc")
    worker.write_frame(stream, b"")
    stream.seek(0)
    assert [worker.read_frame(stream), worker.read_frame(stream), worker.read_frame(stream)] == [b"abc", b"", None]


def test_a_worker_imports_neither_torch_nor_an_encoder() -> None:
    code = (
        "import sys, agents.web.extract.worker, agents.web.extract.main_text\n"
        "print({'torch', 'transformers', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_workers_start_from_an_unguarded_program(tmp_path: Path) -> None:
    """The evaluator's program may lack `if __name__ == "__main__"`; it must not be run a second time."""
    program = tmp_path / "evaluator.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from agents.deadline import Deadline\n"
        "from agents.settings import ExtractSettings\n"
        "from agents.web.extract.pool import ExtractionPool\n"
        "print('started')\n"
        "pool = ExtractionPool(ExtractSettings(workers=1))\n"
        "print(pool.extract(['<p>hello</p>'], Deadline(600)).texts)\n"
        "pool.close()\n"
    )
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["started", "{'<p>hello</p>': 'hello'}"]


def test_a_worker_whose_parent_died_ends_by_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-c", hanging_command(tmp_path)]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert isinstance(child.stdin, io.BufferedWriter)
    assert isinstance(child.stdout, io.BufferedReader)
    worker.write_frame(child.stdin, ExtractSettings(page_seconds=0.5).model_dump_json().encode())
    assert worker.read_frame(child.stdout) == b""
    worker.write_frame(child.stdin, STUCK.encode())
    child.stdin.close()
    with child.stdout:
        assert child.wait() == -signal.SIGALRM  # the page itself never ends


def test_a_worker_in_time_and_one_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.web.extract.process._COMMAND", hanging_command(tmp_path))
    process = WorkerProcess(ExtractSettings())
    process.wait_ready(Deadline(PATIENCE))
    assert process.extract("<p>one</p>", Deadline(PATIENCE)) == "one"
    with pytest.raises(PageTimeoutError):
        process.extract(STUCK, Deadline(0.3))
    assert process._process.poll() == -signal.SIGKILL
    process.close()


def test_a_dead_worker_is_one_named_error() -> None:
    process = WorkerProcess(ExtractSettings())
    process.wait_ready(Deadline(PATIENCE))
    process._process.kill()
    process._process.wait()
    with pytest.raises(WorkerDiedError, match="status -9"):
        process.extract("<p>one</p>", Deadline(PATIENCE))
