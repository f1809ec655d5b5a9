"""What the evaluator accepts from an agent, and what an agent's process cannot do to the evaluator."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.process import ProcessWorker
from crag.evaluation.worker import AgentSpec, AgentStartError
from crag.settings import OVERRIDES_VARIABLE, PRESET_VARIABLE
from tests.evaluation.fake_agents import EchoAgent
from tests.evaluation.processes import command_of, wait_until, wait_until_gone
from tests.pipeline.asking import batch_of

REPOSITORY = Path(__file__).parents[2]
FAKES = "tests.evaluation.fake_agents"
Started = Callable[..., ProcessWorker]


class OddAgent(EchoAgent):
    """Gives what a test wants."""

    size: object = 2
    given: object = None
    last_traces: Any = None

    def get_batch_size(self) -> Any:
        return self.size

    def batch_generate_answer(self, batch: dict[str, Any]) -> Any:
        return self.given or super().batch_generate_answer(batch)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Callable[..., InProcessWorker]:
    def make(**habits: object) -> InProcessWorker:
        for name, value in habits.items():
            monkeypatch.setattr(OddAgent, name, value)
        worker = InProcessWorker(AgentSpec(f"{__name__}:OddAgent"))
        worker.wait_until_ready()
        return worker

    return make


def batch(*queries: str) -> dict[str, Any]:
    return batch_of(queries, [])


@pytest.mark.parametrize("given", [["a"], ["a", "b", "c"], "ab", ("a", "b"), 5, ["a", None], [["a"], "b"]])
def test_answers_that_the_evaluator_could_not_use_are_the_batchs_error(
    given: object, odd: Callable[..., InProcessWorker]
) -> None:
    result = odd(given=given).answer(batch("a", "b"), 1)
    assert result.answers is None
    assert result.error == f"batch_generate_answer must return a list of 2 strings, one per question; found {given!r}"


@pytest.mark.parametrize("size", [0, -1, 17, 2.0, "2", None, True])
def test_batch_sizes_that_the_evaluator_refuses_are_refused_here_too(
    size: object, odd: Callable[..., InProcessWorker]
) -> None:
    with pytest.raises(AgentStartError) as caught:
        odd(size=size)
    assert str(caught.value).endswith(f"must return a whole number from 1 to 16, found {size!r}")


def test_traces_are_optional_and_plain(odd: Callable[..., InProcessWorker]) -> None:
    endless: dict[str, Any] = {}
    endless["itself"] = endless
    for given, shown in (
        (None, ()),
        ([{}], ()),
        ([{"path": Path("x"), "text": "\ud800", "scores": [float("nan")]}, {}],
         [{"path": "x", "text": "\ud800", "scores": [None]}, {}]),
        ([endless, endless], [{"trace_error": "ValueError: Circular reference detected"}] * 2),
    ):  # fmt: skip
        result = odd(last_traces=given).answer(batch("say a", "say b"), 1)
        assert (result.answers, list(result.traces)) == (["a", "b"], list(shown))


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library' (m.py, line 1)"),
        ("def f(:\n    pass", "SyntaxError: invalid syntax (m.py, line 1)"),
        ("class Agent:\n    def __init__(self):\n        {}['url']", "KeyError: 'url' (m.py, line 3, in __init__)"),
        ("class Agent:\n    def __init__(self, path): pass", "TypeError: Agent.__init__() missing 1 required"),
        ("def Agent():\n    raise NotImplementedError", "NotImplementedError (m.py, line 2, in Agent)"),
        ("def Agent():\n    raise ValueError('two\\nlines')", "ValueError: two lines (m.py, line 2, in Agent)"),
        (
            "import json\ndef Agent(): json.loads('')",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (m.py,",
        ),
        ("def Agent(): open('/no/such')", "No such file or directory: '/no/such' (m.py, line 1, in Agent)"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\ndef Agent(): raise E", "E (m.py, line 3, in Agent)"),
        ("def Agent(): raise ValueError('a' * 1000)", "aaa (m.py, line 1, in Agent)"),
        ("raise SystemExit('no GPU')", "SystemExit: no GPU (m.py, line 1)"),
    ],
)
def test_an_agent_that_cannot_be_built_is_one_line_with_cause_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, cause: str
) -> None:
    (tmp_path / "m.py").write_text(f"{code}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    worker = InProcessWorker(AgentSpec("m.py:Agent"))
    with pytest.raises(AgentStartError) as caught:
        worker.wait_until_ready()
    worker.stop()
    (line,) = str(caught.value).splitlines()
    assert line.startswith("agent m.py:Agent could not be built: ")
    assert cause in line
    assert line.endswith("; --in-process shows the traceback")
    assert len(line) < 600


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("crag.web.extract.worker.COMMAND", "import no_such_parser", "No module named 'no_such_parser'"),
        ("sys.executable", "/no/such/python", "No such file or directory: '/no/such/python'"),
    ],
)
def test_pages_that_nobody_can_read_are_reported_in_a_line_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    """The worker processes of the agent itself fail to start: one dies as it begins, the other cannot be run."""
    monkeypatch.setattr(name, value)
    agent = InProcessWorker(AgentSpec(environment={PRESET_VARIABLE: "scripted"}))
    with pytest.raises(AgentStartError) as caught:
        agent.wait_until_ready()

    (line,) = str(caught.value).splitlines()
    assert line.startswith("the processes that read pages cannot start (")
    assert reason in line
    assert "web.extract.workers=0 (with --set, or in CRAG_SETTINGS)" in line

    monkeypatch.setenv(OVERRIDES_VARIABLE, "web.extract.workers=0")
    agent.wait_until_ready()
    assert len(agent.answer(batch("who?"), 1).answers or ()) == 1

    agent.stop()


# --- in a process of its own ------------------------------------------------------------------------------------------


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    monkeypatch.setenv("FAKE_AGENT_LOG", str(tmp_path / "log"))
    workers: list[ProcessWorker] = []

    def start(name: str, startup_seconds: float = 600) -> ProcessWorker:
        workers.append(ProcessWorker(AgentSpec(f"{FAKES}:{name}", {"CRAG_PRESET": "a"}), startup_seconds))
        workers[-1].wait_until_ready()
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()


@pytest.mark.parametrize(
    ("name", "startup_seconds", "message"),
    [
        ("BrokenAgent", 60, "ZeroDivisionError: the planted constructor fault"),
        ("ExitingAgent", 60, "SystemExit: 3"),
        ("StuckAgent", 0.1, r"not built within 0\.1 seconds"),
    ],
)
def test_an_agent_that_cannot_be_built_is_one_error_with_the_reason(
    started: Started, name: str, startup_seconds: float, message: str
) -> None:
    with pytest.raises(AgentStartError, match=message):
        started(name, startup_seconds)


def test_answers_come_back_and_an_agent_may_close_itself(started: Started, tmp_path: Path) -> None:
    worker = started("ClosingAgent")
    outcome = worker.answer(batch("say é\ud800", "say b"), 600)
    assert (outcome.answers, outcome.timed_out, outcome.error) == (["é\ud800", "b"], False, None)
    worker.stop(in_order=True)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "closed"


def test_what_an_agent_started_is_stopped_with_it_when_it_overruns(started: Started, tmp_path: Path) -> None:
    worker = started("ForkingAgent")
    child = int((tmp_path / "log").read_text(encoding="utf-8"))
    # The kernel shows a new program's command a little later than it runs.
    wait_until(lambda: command_of(child), "the child of the agent runs")
    assert worker.answer(batch("say crash"), 0.3).timed_out
    wait_until_gone({child})


# --- an agent's own file ----------------------------------------------------------------------------------------------


AGENT_OF_KIT = """
from evaluation.words import WORD
from beside import more


class Base:
    def get_batch_size(self):
        return 2

    def batch_generate_answer(self, batch):
        from agents.late import again

        return [f"{WORD} {more} {again}"] * len(batch["query"])
"""


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the kit of 2024: its packages have the names of ours, and no `__init__.py`."""
    for name, text in {
        "models/user_config.py": "from models.base import Base as UserModel\n",
        "models/base.py": AGENT_OF_KIT,
        "models/beside.py": "more = 'own'\n",
        "evaluation/__init__.py": "",
        "evaluation/words.py": "WORD = 'my'\n",
        "agents/late.py": "again = 'agent'\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("worker", [ProcessWorker, InProcessWorker])
@pytest.mark.parametrize("path", ["models/user_config.py", "{kit}/models/user_config.py"])
def test_the_folder_of_an_agents_file_wins_over_our_packages(worker: type[Any], path: str, kit: Path) -> None:
    started = worker(AgentSpec(f"{path.format(kit=kit)}:UserModel"))
    try:
        assert started.wait_until_ready() == 2
        assert started.answer(batch("a"), 10).answers == ["my own agent"]
    finally:
        started.stop()
    for package in ("models", "agents.user_config"):
        assert Path(importlib.import_module(package).__file__ or "").is_relative_to(REPOSITORY)


def test_a_module_of_ours_is_not_taken_for_the_file_of_that_name(kit: Path) -> None:
    with pytest.raises(AgentStartError, match=r"the file in this folder is --agent models/user_config.py:UserModel"):
        InProcessWorker(AgentSpec("models.user_config:UserModel")).wait_until_ready()
    with pytest.raises(AgentStartError, match=r"nowhere.py: there is no such file"):
        InProcessWorker(AgentSpec("nowhere.py:X")).wait_until_ready()


@pytest.mark.parametrize("worker", [ProcessWorker, InProcessWorker])
def test_the_clones_agent_is_found_from_any_folder(
    worker: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `crag` in an environment where only the package is installed, beside somebody else's `agents`."""
    place, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    (place / "agents").mkdir(parents=True)
    (place / "agents" / "__init__.py").touch()
    (place / "crag").symlink_to(REPOSITORY / "crag")
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PYTHONPATH", str(place))
    others = [folder for folder in sys.path if folder and Path(folder).resolve() != REPOSITORY]
    monkeypatch.setattr("sys.path", [str(place), *others])
    for name in [name for name in sys.modules if name.partition(".")[0] == "agents"]:
        monkeypatch.delitem(sys.modules, name)

    started = worker(AgentSpec(environment={PRESET_VARIABLE: "scripted"}))
    try:
        assert started.wait_until_ready() == 16
    finally:
        started.stop()


def test_what_an_agent_prints_and_logs_comes_in_whole_lines(capfd: pytest.CaptureFixture[str]) -> None:
    worker = ProcessWorker(AgentSpec(f"{FAKES}:NoisyAgent"))
    try:
        worker.wait_until_ready()
        assert worker.answer(batch("say a"), 300).answers == ["a"]
    finally:
        worker.stop(in_order=True)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == ["it failed, and goes on: RuntimeError: the planted fault", "the last line"]
