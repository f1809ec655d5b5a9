"""The process around vLLM: where its faults are seen, with a small fake in the place of the package `vllm`."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.core.deadline import Deadline
from crag.engines.llm import EngineUnavailableError, GenerationRequest, LanguageModelDiedError
from crag.engines.llm.vllm_engine import VllmLanguageModel
from tests.engines.llm.conftest import vllm
from tests.evaluation.processes import HANGING_SECONDS, descendants, wait_until_gone

Build = Callable[..., VllmLanguageModel]

FAKE = """
import os, sys, time

class _Output:
    def __init__(self, request_id):
        self.request_id, self.finished, self.prompt_token_ids = request_id, True, [1, 2]
        self.outputs = [self]
        self.text, self.token_ids, self.cumulative_logprob, self.finish_reason = "yes", [7], -0.5, "stop"

class LLM:
    def __init__(self, **arguments):
        START
        self.llm_engine = self.engine_core = self
        self.waiting = []
    def add_request(self, request_id, prompt, parameters, lora_request=None):
        self.waiting.append(request_id)
    def has_unfinished_requests(self):
        return bool(self.waiting)
    def step(self):
        STEP
        outputs, self.waiting = [_Output(name) for name in self.waiting], []
        return outputs
    def abort_request(self, names):
        self.waiting = []
    def shutdown(self):
        pass

class SamplingParams:
    def __init__(self, **arguments):
        pass
"""
PLATFORMS = """
class current_platform:
    is_cpu = staticmethod(lambda: True)
"""
LOG = "(Worker_TP{} pid=12) ERROR 01-02 03:04:05 [multiproc_executor.py:800]"
WORKER_TRACEBACK = f"""print('{LOG.format(0)} WorkerProc failed to start.')
        print('{LOG.format(0)} ValueError: Free memory on device is too small')
        print('{LOG.format(1)} RuntimeError: Connection closed by peer')
        raise Exception("WorkerProc initialization failed. See stack trace for root cause.")"""


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """A function that builds the engine around a fake vLLM, whose start and step run these statements."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("crag.engines.llm.vllm_engine.find_spec", lambda name: name)

    def build(start: str = "pass", step: str = "pass", seconds: float = HANGING_SECONDS) -> VllmLanguageModel:
        for name in ("vllm", "vllm/lora"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").touch()
        modules = {
            "__init__": FAKE.replace("START", start).replace("STEP", step),
            "platforms": PLATFORMS,
            "lora/request": "LoRARequest = object",
            "exceptions": "",
            "sampling_params": "StructuredOutputsParams = object",
        }
        for name, code in modules.items():
            (tmp_path / "vllm" / f"{name}.py").write_text(code)
        model = VllmLanguageModel(vllm(tiny_llama, {}), start_seconds=seconds)
        request.addfinalizer(model.close)
        return model

    return build


ASK = GenerationRequest(prompt="is it?", max_tokens=4)


def test_texts_come_back_and_nothing_is_printed(engine: Build, capfd: pytest.CaptureFixture[str]) -> None:
    """An evaluator may read its own messages from standard output."""
    model = engine(start="print('loading')")
    (generation,) = model.generate([ASK], Deadline(HANGING_SECONDS))
    assert (generation.text, generation.mean_log_probability, generation.finish_reason) == ("yes", -0.5, "stop")
    assert capfd.readouterr() == ("", "")


def test_no_file_of_its_sockets_is_left(engine: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.delenv("VLLM_RPC_BASE_PATH", raising=False)
    model = engine(start="open(os.environ['VLLM_RPC_BASE_PATH'] + '/socket', 'w').close()")
    model.warm_up()
    assert list(folder.glob("*/socket"))
    model.close()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("time.sleep(600)", "vLLM cannot start: it did not within 5 seconds; it hangs at the step: "),
        ("raise ValueError('no such\\nmodel')", "vLLM cannot start: ValueError: no such model"),
        ("os._exit(3)", "vLLM cannot start: its process ended with status 3"),
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL: perhaps the machine ran out of memory"),
        (WORKER_TRACEBACK, "vLLM cannot start: ValueError: Free memory on device is too small"),
    ],
    ids=["hangs", "raises", "ends", "is killed", "a worker fails"],
)
def test_a_start_that_fails_ends_with_one_line_that_names_the_cause(engine: Build, start: str, said: str) -> None:
    before = descendants(os.getpid())
    model = engine(start, seconds=5 if "sleep" in start else HANGING_SECONDS)
    with pytest.raises(EngineUnavailableError) as caught:
        model.warm_up()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert descendants(os.getpid()) <= before, "no process is left"


def test_a_process_that_ends_later_is_dead_for_good(engine: Build) -> None:
    """Loading it again would take minutes of a batch."""
    model = engine(step="self.count = getattr(self, 'count', 0) + 1; self.count < 2 or os._exit(5)")
    model.warm_up()
    for _ in range(2):
        with pytest.raises(LanguageModelDiedError, match="ended with status 5"):
            model.generate([ASK], Deadline(HANGING_SECONDS))


def test_a_step_that_hangs_does_not_hang_its_caller(engine: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.engines.llm.vllm_engine.STOP_SECONDS", 1.0)
    monkeypatch.setattr("crag.engines.llm.vllm_process._CLOSE_SECONDS", 0.1)
    model = engine(step="self.count = getattr(self, 'count', 0) + 1; self.count < 2 or time.sleep(600)")
    model.warm_up()
    with pytest.raises(LanguageModelDiedError, match="it hangs: no reply 1 seconds after the deadline"):
        model.generate([ASK], Deadline(0.5))


EVALUATOR = """
import sys
from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest
from crag.engines.llm.vllm_engine import VllmLanguageModel
from crag.settings import VllmEngine
print("main runs", flush=True)
model = VllmLanguageModel(VllmEngine(engine="vllm", model=sys.argv[1], dtype="float32", max_model_tokens=64))
print(model.generate([GenerationRequest(prompt="is it?", max_tokens=4)], Deadline(300))[0].text, flush=True)
input()
"""


def test_an_unguarded_main_script_runs_once_and_its_death_ends_vllm(
    engine: Build, tmp_path: Path, tiny_llama: Path
) -> None:
    engine()  # writes the fake package
    script = tmp_path / "evaluator.py"
    script.write_text(EVALUATOR)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[3]}"}
    command = [sys.executable, str(script), str(tiny_llama)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["main runs\n", "yes\n"]
        children = descendants(process.pid)
        assert len(children) == 1
        process.kill()

    wait_until_gone(children)
