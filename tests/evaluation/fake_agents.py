"""Agents for tests, each with one habit. `--agent tests.evaluation.fake_agents:EchoAgent` runs one."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from crag.engines.llm import EngineUnavailableError
from crag.settings import load_settings
from crag.weights.manifest import UnknownModelError


class EchoAgent:
    """Knows what the tests' questions say: the answer to "say X" is X. Batches of two."""

    def get_batch_size(self) -> int:
        return 2

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        assert set(batch) == {"interaction_id", "query", "search_results", "query_time"}
        return [self.answer(query) for query in batch["query"]]

    def answer(self, query: str) -> str:
        return query.removeprefix("say ")


class NoMethodAgent:
    def get_batch_size(self) -> int:
        return 2


def failing(error: BaseException) -> type[EchoAgent]:
    """An agent that cannot be built."""

    class Failing(EchoAgent):
        def __init__(self) -> None:
            raise error

    return Failing


BrokenAgent = failing(ZeroDivisionError("the planted constructor fault"))
ExitingAgent = failing(SystemExit(3))
NoEngineAgent = failing(EngineUnavailableError("the engine 'x' cannot start: pip install -r requirements.txt"))
NoSuchModelAgent = failing(UnknownModelError("no model named 'x'; known: y"))


class StuckAgent(EchoAgent):
    def __init__(self) -> None:
        time.sleep(1000)


def at_crash(act: Callable[[], object]) -> type[EchoAgent]:
    """An agent that acts in the batch that has the question "say crash"."""

    class AtCrash(EchoAgent):
        def answer(self, query: str) -> str:
            if query == "say crash":
                act()
            return super().answer(query)

    return AtCrash


def raise_fault() -> None:
    raise RuntimeError("the planted fault")


CrashingAgent = at_crash(raise_fault)
DyingAgent = at_crash(os.abort)
HangingAgent = at_crash(lambda: sum(range(10**14)))  # holds the interpreter lock meanwhile
SleepingAgent = at_crash(lambda: time.sleep(1000))


class ProgressAgent(SleepingAgent):  # type: ignore[misc, valid-type]
    """Shows a progress bar while it is built."""

    def __init__(self) -> None:
        list(tqdm(range(3)))


class ForkingAgent(SleepingAgent):  # type: ignore[misc, valid-type]
    """Starts a process that would outlive it, and writes its number to FAKE_AGENT_LOG."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(["sleep", "1000"])
        Path(os.environ["FAKE_AGENT_LOG"]).write_text(str(self._child.pid), encoding="utf-8")


class WaitingAgent(EchoAgent):
    """Waits at "say crash" until the file named in FAKE_AGENT_MENDED is there; tells in a file what it was asked."""

    def answer(self, query: str) -> str:
        while query == "say crash" and not Path(os.environ["FAKE_AGENT_MENDED"]).exists():
            time.sleep(0.01)
        if log := os.environ.get("FAKE_AGENT_LOG"):
            with Path(log).open("a", encoding="utf-8") as stream:
                stream.write(f"{query}\n")
        return super().answer(query)


class LosingAgent(EchoAgent):
    """Loses the answers to the questions whose words stand in the file FAKE_AGENT_LOST, as our agent does without its
    model; tells in FAKE_AGENT_LOG which batches it was asked.
    """

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        with Path(os.environ["FAKE_AGENT_LOG"]).open("a", encoding="utf-8") as stream:
            stream.write(" ".join(map(self.answer, batch["query"])) + "\n")
        lost = Path(os.environ["FAKE_AGENT_LOST"]).read_text(encoding="utf-8").split()
        self.last_traces = [self._trace(self.answer(query) in lost) for query in batch["query"]]
        answers = zip(batch["query"], self.last_traces, strict=True)
        return ["i don't know" if trace["lost"] else self.answer(query) for query, trace in answers]

    def _trace(self, is_lost: bool) -> dict[str, Any]:
        error = "no server" if is_lost else None
        return {"lost": "fault" if is_lost else None, "generations": {"answer": {"error": error}}}


class ClosingAgent(EchoAgent):
    """Leaves a file when it is closed in order."""

    def close(self) -> None:
        Path(os.environ["FAKE_AGENT_LOG"]).write_text("closed", encoding="utf-8")
        raise RuntimeError("the planted fault of close")


class TracingAgent(EchoAgent):
    """Leaves a trace per question: the fields that it was shown."""

    last_traces: Any = None

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        self.last_traces = [
            {"interaction_id": name, "saw": sorted(batch), "page_fields": [sorted(page) for page in pages]}
            for name, pages in zip(batch["interaction_id"], batch["search_results"], strict=True)
        ]
        return super().batch_generate_answer(batch)


class GatedAgent(EchoAgent):
    """Never answers: a gate withholds what it would have said, and another one closes before anybody asks. The clock
    ended three generations of each batch.
    """

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        answers = super().batch_generate_answer(batch)
        abstention = "i don't know"
        late = {"out_of_time": {"not_begun": 2, "cut_short": 1, "x": []}}
        self.last_traces = [
            {"gates": [{"name": name, "reason": "a test", "answer": abstention, "withheld": withheld}], **late}
            for name, withheld in zip(("sure", "class"), (answers[0], None), strict=True)
        ]
        return [abstention for _ in answers]


class NoisyAgent(EchoAgent):
    """Logs a fault, and leaves the last line that it prints open."""

    def answer(self, query: str) -> str:
        try:
            raise_fault()
        except RuntimeError:
            logging.getLogger(__name__).exception("it failed,\nand goes on")
        sys.stdout.write("the last line")
        return super().answer(query)


class SilentAgent(EchoAgent):
    def answer(self, query: str) -> str:
        return "I don't know"


class SettingsAgent(EchoAgent):
    """Answers with a setting of the preset in force, as an agent reads it."""

    def answer(self, query: str) -> str:
        return str(load_settings().answering.word_limit)


class EnvironmentAgent(EchoAgent):
    """Answers with what its environment says, and prints."""

    def answer(self, query: str) -> str:
        sys.stdout.write("noise on standard output\n")
        os.write(1, b"raw noise on standard output\n")
        return f"{os.environ['CRAG_PRESET']} {os.environ['CRAG_MOCK_API_URL']}"
