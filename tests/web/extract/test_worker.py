"""Worker processes: what a page can cost, and how they start and end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crag.core.deadline import Clock, Deadline
from crag.core.files import UserError
from crag.settings import ExtractSettings
from crag.web.extract import worker
from crag.web.extract.pool import ExtractionPool

ROOT = Path(__file__).resolve().parents[3]
STUCK = "a page that is never read to its end"

_COMMAND = """
import itertools, pathlib, sys, uuid
from crag.web.extract import worker

read = worker.page_text

def hang(html, settings):
    if {stuck!r} in html:
        (pathlib.Path({folder!r}) / uuid.uuid4().hex).touch()
        sum(itertools.repeat(0))
    return read(html, settings)

worker.page_text = hang
worker.main(int(sys.argv[1]))
"""


def hanging_command(folder: Path) -> str:
    """The program of a worker that hangs at stuck pages and leaves a file in the folder for each one it has begun."""
    folder.mkdir(exist_ok=True)
    return _COMMAND.format(stuck=STUCK, folder=str(folder))


def clock_that_waits(folder: Path, stuck: int) -> Clock:
    """A clock that stands still until so many stuck pages have been begun, and then has gone on by 100 s."""
    return lambda: 100.0 if len(list(folder.iterdir())) >= stuck else 0.0


def pool_of(workers: int) -> ExtractionPool:
    return ExtractionPool(ExtractSettings(workers=workers, page_seconds=60.0))


@pytest.fixture(scope="module")
def stuck_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stuck")


@pytest.fixture
def begun(stuck_pages: Path) -> Path:
    """The folder where the pool's workers note which stuck pages they have begun; empty."""
    for note in stuck_pages.iterdir():
        note.unlink()
    return stuck_pages


@pytest.fixture(scope="module")
def pool(stuck_pages: Path) -> Iterator[ExtractionPool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "COMMAND", hanging_command(stuck_pages))
        shared = pool_of(2)
        shared.warm_up()
        yield shared
        shared.close()


def test_large_pages_and_any_characters_pass_through_the_pipes(pool: ExtractionPool) -> None:
    page = "<p>é 中 😀 \ud800 " + "word " * 200_000 + "</p>"
    text = pool.extract([page, ""], Deadline(600)).texts
    assert text[page].startswith("é 中 😀")
    assert len(text[page]) > 290_000
    assert text[""] == ""


def test_stuck_pages_cost_their_own_time_only_and_their_workers_are_replaced(pool: ExtractionPool, begun: Path) -> None:
    good = [f"<p>good {n}</p>" for n in range(30)]
    found = pool.extract([STUCK, *good[:15], STUCK + "2", *good[15:]], Deadline(1000, clock_that_waits(begun, 2)))
    assert set(found.texts) == set(good)
    assert list(found.dropped.values()) == ["it took longer than 60 s to read"] * 2
    assert pool.extract(["<p>after</p>"], Deadline(600)).texts == {"<p>after</p>": "after"}


def test_the_deadline_ends_the_stage_and_what_is_done_is_kept(pool: ExtractionPool, begun: Path) -> None:
    deadline = Deadline(1.0, clock_that_waits(begun, 2))
    found = pool.extract(["<p>first</p>", STUCK, STUCK + "2", "<p>last</p>"], deadline)
    assert found.texts == {"<p>first</p>": "first"}
    assert set(found.dropped.values()) == {"the time for reading pages was over"}


def children() -> set[int]:
    return {int(child) for file in Path("/proc/self/task").glob("*/children") for child in file.read_text().split()}


@pytest.fixture
def others() -> set[int]:
    """The processes that other tests have started."""
    return children()


def test_a_machine_that_cannot_start_a_process_costs_pages_not_the_batch(
    others: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pool_of(1)
    pool.warm_up()
    os.kill((children() - others).pop(), signal.SIGKILL)

    def refuse(*_: object, **__: object) -> None:
        raise OSError("cannot allocate memory")

    monkeypatch.setattr("subprocess.Popen", refuse)
    found = pool.extract(["<p>a</p>"], Deadline(600))
    assert found.dropped == {"<p>a</p>": "no extraction worker could be started: cannot allocate memory"}
    pool.close()


@pytest.mark.parametrize(("cores", "most"), [(1, 2), (3, 3)])
def test_there_are_no_more_workers_than_cores_but_two(
    others: set[int], monkeypatch: pytest.MonkeyPatch, cores: int, most: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    pool = pool_of(8)
    pages = [f"<p>page {number}</p>" for number in range(40)]
    assert len(pool.extract(pages, Deadline(600)).texts) == len(pages)
    assert 1 <= len(children() - others) <= most
    pool.close()


def test_no_workers_reads_in_this_process_until_the_deadline() -> None:
    pool = pool_of(0)
    pool.warm_up()
    assert pool.extract(["<p>a</p>"], Deadline(600)).texts == {"<p>a</p>": "a"}
    assert pool.extract(["<p>a</p>"], Deadline(0)).dropped == {"<p>a</p>": "the time for reading pages was over"}
    pool.close()


def test_closing_ends_all_processes_and_may_be_repeated(others: set[int]) -> None:
    pool = pool_of(1)
    for _ in range(2):
        assert pool.extract(["<p>a</p>"], Deadline(600)).texts == {"<p>a</p>": "a"}
        pool.close()
        pool.close()
        assert children() == others


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("import no_such_parser", "1: ModuleNotFoundError: No module named 'no_such_parser'"),
        ("import os; os._exit(7)", "7"),
        ("import os, sys, time; os.close(int(sys.argv[1])); time.sleep(999)", "-9"),
    ],
    ids=["cannot import", "ends without a word", "closes its pipes and lives on"],
)
def test_a_pool_that_cannot_start_names_the_cause_and_the_way_out_and_may_try_again(
    monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    pool = pool_of(1)
    with monkeypatch.context() as broken:
        broken.setattr(worker, "COMMAND", command)
        with pytest.raises(UserError) as caught:
            pool.warm_up()
    ended, way_out = str(caught.value).split("): ")
    assert ended == f"the processes that read pages cannot start (the extraction worker ended with status {message}"
    assert way_out.startswith("web.extract.workers=0 (with --set, or in CRAG_SETTINGS) reads pages without them")
    assert pool.extract(["<p>a</p>"], Deadline(600)).texts == {"<p>a</p>": "a"}
    pool.close()


def test_a_worker_imports_neither_torch_nor_an_encoder() -> None:
    code = "import sys, crag.web.extract.worker\nprint({'torch', 'transformers', 'onnxruntime'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_workers_start_from_an_unguarded_program(tmp_path: Path) -> None:
    """The evaluator's program may lack `if __name__ == "__main__"`; it must not be run a second time."""
    program = tmp_path / "evaluator.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from crag.core.deadline import Deadline\n"
        "from crag.settings import ExtractSettings\n"
        "from crag.web.extract.pool import ExtractionPool\n"
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
        "import os\nfrom crag.core.deadline import Deadline\nfrom crag.settings import ExtractSettings\n"
        f"from crag.web.extract import worker\nworker.COMMAND = {hanging_command(tmp_path)!r}\n"
        "process = worker.WorkerProcess(ExtractSettings(page_seconds=0.5))\nprocess.wait_ready(Deadline(600))\n"
        f"process._connection.send_bytes({STUCK!r}.encode())\nprint(process._process.pid, flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", parent], cwd=ROOT, capture_output=True, text=True, check=True)
    ends = time.monotonic() + 60
    while Path(f"/proc/{done.stdout.strip()}").exists() and time.monotonic() < ends:
        time.sleep(0.1)
    assert not Path(f"/proc/{done.stdout.strip()}").exists()
