import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.common.deadline import Deadline
from agents.settings import ExtractSettings
from agents.web.extract import worker
from agents.web.extract.worker import WorkerDiedError, WorkerProcess
from tests.agents.web.extract.stuck import STUCK, hanging_command

PATIENCE = Deadline(600.0)
"""Nothing here takes so long, however busy the machine is."""
ROOT = Path(__file__).resolve().parents[4]


def worker_that_runs(monkeypatch: pytest.MonkeyPatch, command: str) -> WorkerProcess:
    monkeypatch.setattr(worker, "COMMAND", command)
    return WorkerProcess(ExtractSettings())


def test_a_worker_imports_neither_torch_nor_an_encoder() -> None:
    code = "import sys, agents.web.extract.worker\nprint({'torch', 'transformers', 'onnxruntime'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_workers_start_from_an_unguarded_program(tmp_path: Path) -> None:
    """The evaluator's program may lack `if __name__ == "__main__"`; it must not be run a second time."""
    program = tmp_path / "evaluator.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from agents.common.deadline import Deadline\n"
        "from agents.settings import ExtractSettings\n"
        "from agents.web.extract import ExtractionPool\n"
        "print('started')\n"
        "pool = ExtractionPool(ExtractSettings(workers=1))\n"
        "print(pool.extract(['<p>hello</p>'], Deadline(600)).texts)\n"
        "pool.close()\n"
    )
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["started", "{'<p>hello</p>': 'hello'}"]


def test_a_worker_whose_parent_died_ends(tmp_path: Path) -> None:
    """The page itself never ends, so the alarm does it."""
    parent = (
        "import os\nfrom agents.common.deadline import Deadline\nfrom agents.settings import ExtractSettings\n"
        f"from agents.web.extract import worker\nworker.COMMAND = {hanging_command(tmp_path)!r}\n"
        "process = worker.WorkerProcess(ExtractSettings(page_seconds=0.5))\nprocess.wait_ready(Deadline(600))\n"
        f"process._connection.send_bytes({STUCK!r}.encode())\nprint(process._process.pid, flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", parent], cwd=ROOT, capture_output=True, text=True, check=True)
    ends = time.monotonic() + 60
    while Path(f"/proc/{done.stdout.strip()}").exists() and time.monotonic() < ends:
        time.sleep(0.1)
    assert not Path(f"/proc/{done.stdout.strip()}").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("import no_such_parser", "1: ModuleNotFoundError: No module named 'no_such_parser'"),
        ("import os; os._exit(7)", "7"),
        ("import os, sys, time; os.close(int(sys.argv[1])); time.sleep(999)", "-9"),
    ],
    ids=["cannot import", "ends without a word", "closes its pipes and lives on"],
)
def test_a_worker_that_ends_says_why(monkeypatch: pytest.MonkeyPatch, command: str, message: str) -> None:
    process = worker_that_runs(monkeypatch, command)
    with pytest.raises(WorkerDiedError, match=f"^the extraction worker ended with status {re.escape(message)}$"):
        process.wait_ready(PATIENCE)
