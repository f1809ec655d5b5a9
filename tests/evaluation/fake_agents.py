"""Agents for tests, each with one habit. `--agent tests.evaluation.fake_agents:PerfectAgent` runs one."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.llm import EngineUnavailableError
from agents.settings import load_settings
from models.manifest import UnknownModelError


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
    """Somebody forgot the other method."""

    def get_batch_size(self) -> int:
        return 2


class ClosingAgent(EchoAgent):
    """Leaves a file when it is closed in order."""

    def close(self) -> None:
        Path(os.environ["FAKE_AGENT_LOG"]).write_text("closed", encoding="utf-8")


class TracingAgent(EchoAgent):
    """Leaves a trace per question: the fields that it was shown."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        self.last_traces = [
            {"interaction_id": name, "saw": sorted(batch), "page_fields": [sorted(page) for page in pages]}
            for name, pages in zip(batch["interaction_id"], batch["search_results"], strict=True)
        ]
        return super().batch_generate_answer(batch)


class GatedAgent(EchoAgent):
    """Never answers: a gate withholds what it would have said, and another one closes before anybody asks."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        answers = super().batch_generate_answer(batch)
        abstention = "i don't know"
        self.last_traces = [
            {"gates": [{"name": name, "reason": "a test", "answer": abstention, "withheld": withheld}]}
            for name, withheld in zip(("sure", "class"), (answers[0], None), strict=True)
        ]
        return [abstention for _ in answers]


class LateAgent(EchoAgent):
    """Says in its traces that the clock ended three generations of each batch."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        self.last_traces = [{"out_of_time": {"not_begun": 2, "cut_short": 1, "x": []}} for _ in batch["query"]]
        return super().batch_generate_answer(batch)


class SettingsAgent(EchoAgent):
    """Answers with a setting of the preset in force, as an agent reads it."""

    def answer(self, query: str) -> str:
        return str(load_settings().answering.word_limit)


class ProgressAgent(EchoAgent):
    """Shows a progress bar while it is built, and never comes back from "say crash"."""

    def __init__(self) -> None:
        list(tqdm(range(3)))

    def answer(self, query: str) -> str:
        if query == "say crash":
            time.sleep(1000)
        return super().answer(query)


class SilentAgent(EchoAgent):
    def answer(self, query: str) -> str:
        return "I don't know"


class NoisyAgent(EchoAgent):
    def answer(self, query: str) -> str:
        sys.stdout.write("noise on standard output\n")
        os.write(1, b"raw noise on standard output\n")
        return super().answer(query)


class CrashingAgent(EchoAgent):
    """Raises on the batch that has the question "say crash"."""

    def answer(self, query: str) -> str:
        if query == "say crash":
            raise RuntimeError("the planted fault")
        return super().answer(query)


class DyingAgent(EchoAgent):
    def answer(self, query: str) -> str:
        if query == "say crash":
            os.abort()
        return super().answer(query)


class HangingAgent(EchoAgent):
    """Never comes back from the batch that has the question "say crash", and holds the interpreter lock meanwhile."""

    def answer(self, query: str) -> str:
        if query == "say crash":
            sum(range(10**14))
        return super().answer(query)


class WaitingAgent(EchoAgent):
    """Waits at "say crash" until the file named in FAKE_AGENT_MENDED is there; tells in a file what it was asked."""

    def answer(self, query: str) -> str:
        while query == "say crash" and not Path(os.environ["FAKE_AGENT_MENDED"]).exists():
            time.sleep(0.01)
        log = os.environ.get("FAKE_AGENT_LOG")
        if log:
            with Path(log).open("a", encoding="utf-8") as stream:
                stream.write(f"{query}\n")
        return super().answer(query)


class NoEngineAgent(EchoAgent):
    def __init__(self) -> None:
        raise EngineUnavailableError("the language model engine 'x' cannot start: pip install -r requirements.txt")


class NoSuchModelAgent(EchoAgent):
    def __init__(self) -> None:
        raise UnknownModelError("no model named 'x'; known: y")


class BrokenAgent(EchoAgent):
    def __init__(self) -> None:
        raise ZeroDivisionError("the planted constructor fault")


class ExitingAgent(EchoAgent):
    def __init__(self) -> None:
        sys.exit(3)


class StuckAgent(EchoAgent):
    def __init__(self) -> None:
        time.sleep(1000)


class EnvironmentAgent(EchoAgent):
    """Answers with what its environment says."""

    def answer(self, query: str) -> str:
        return f"{os.environ['CRAG_PRESET']} {os.environ['CRAG_MOCK_API_URL']}"


class ForkingAgent(EchoAgent):
    """Starts a process that would outlive it, and writes its number to FAKE_AGENT_LOG; "say crash" never ends."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(["sleep", "1000"])
        Path(os.environ["FAKE_AGENT_LOG"]).write_text(str(self._child.pid), encoding="utf-8")

    def answer(self, query: str) -> str:
        if query == "say crash":
            time.sleep(1000)
        return super().answer(query)


class HugeAgent(EchoAgent):
    """Answers with two million characters."""

    def answer(self, query: str) -> str:
        return "é" * 2_000_000


class BadClosingAgent(EchoAgent):
    def close(self) -> None:
        raise RuntimeError("the planted fault of close")


class EndlessTraceAgent(EchoAgent):
    """Its traces hold themselves, so that nobody can write them down."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        trace: dict[str, Any] = {}
        trace["itself"] = trace
        self.last_traces = [trace for _ in batch["query"]]
        return super().batch_generate_answer(batch)


class QuittingAgent(EchoAgent):
    def answer(self, query: str) -> str:
        sys.exit(7)
