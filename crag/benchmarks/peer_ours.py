"""Our side of `crag bench peers`, in a process of its own like the peers, so that its peak of memory is its own.

    python -m crag.benchmarks.peer_ours prompts PRESET [KEY=VALUE ...]
    python -m crag.benchmarks.peer_ours engine PRESET [KEY=VALUE ...]
    python -m crag.benchmarks.peer_ours agent PRESET [KEY=VALUE ...]

Tasks and results are those of `crag.benchmarks.peer_worker`.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.benchmarks.peer_worker import Fields, serve
from crag.core.deadline import Deadline
from crag.core.queries import BATCH_KEYS
from crag.core.version import package_version
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, load_language_model
from crag.engines.llm.base import Message
from crag.engines.llm.decoding import Cache, Integers, Logits, StepModel
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.openvino_engine import OpenvinoLanguageModel, OpenvinoModel, Rows
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.graph.writing.writer import CallRequest, CallWriter
from crag.pipeline.agent import CragAgent
from crag.settings import OpenvinoEngine, Settings, SettingsError, load_settings
from crag.web import WebPath


class RecordingModel:
    """Keeps the requests of a language model, of which only the tokenizer is used."""

    def __init__(self, model: LanguageModel) -> None:
        self.requests: list[GenerationRequest] = []
        self.check_weights = model.check_weights
        self.count_tokens = model.count_tokens
        self.truncate = model.truncate

    def warm_up(self) -> None:
        """Nothing: the weights are not needed."""

    def close(self) -> None:
        """Nothing."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Keep the requests; all of them fail."""
        self.requests += requests
        return [Generation.failed("recorded, not run") for _ in requests]


class PromptRecorder:
    """What the preset asks its model: for answers from pages, and for calls."""

    def __init__(self, settings: Settings) -> None:
        # Questions whose pages a gate would not read have prompts too
        answering = settings.answering.model_copy(update={"gates": ()})
        self._settings = settings.model_copy(update={"answering": answering})
        self._model = RecordingModel(load_language_model(settings.language_model))
        self._tokenizer = ChatTokenizer(model_folder(_engine_settings(settings).model))
        self._agent = CragAgent(self._settings, self._model, self._load_web_path())
        self.versions: dict[str, str] = {}

    def run(self, task: Fields) -> Fields:
        """The requests about the evaluator's `row`, and each prompt's tokens."""
        self._model.requests.clear()
        self._agent.answer_batch(_one_question(task["row"]))
        answers = list(self._model.requests)

        self._model.requests.clear()
        if self._settings.knowledge_graph is not None:
            writer = CallWriter(self._settings.knowledge_graph.writer, self._model, None)
            writer.write([CallRequest(task["row"]["query"])], Deadline(UNHURRIED_SECONDS))
        return {"answers": self._fields(answers), "calls": self._fields(self._model.requests)}

    def _load_web_path(self) -> WebPath:
        settings = self._settings
        dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
        cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
        return WebPath(settings.web, dense, cross, self._model)

    def _fields(self, requests: Sequence[GenerationRequest]) -> list[Fields]:
        return [{"request": asdict(request), "prompt": self._tokenizer.prompt_tokens(request)} for request in requests]


class TimedModel(StepModel):
    """Keeps the seconds of each step of another model, and the width of the texts after it."""

    def __init__(self, model: OpenvinoModel) -> None:
        self._model = model
        self.prefill_tokens = model.prefill_tokens
        self.adapters = model.adapters  # type: ignore[method-assign]
        self.steps: list[tuple[int, float]] = []

    def step(
        self, tokens: Integers, mask: Integers, positions: Integers, cache: Cache, logits_to_keep: int = 1
    ) -> tuple[Logits, Rows]:
        """See `StepModel.step`."""
        began = time.perf_counter()
        result = self._model.step(tokens, mask, positions, cache, logits_to_keep)
        self.steps.append((mask.shape[1], time.perf_counter() - began))
        return result

    def select_rows(self, cache: Cache, rows: Sequence[int]) -> NDArray[np.int32]:
        """See `StepModel.select_rows`."""
        return self._model.select_rows(cache, rows)

    def seconds_of_prompt(self, tokens: int) -> float:
        """The seconds of the steps that read a prompt of so many tokens."""
        return sum(seconds for width, seconds in self.steps if width <= tokens)


class TimedEngine(OpenvinoLanguageModel):
    """The engine, one request at a time."""

    timed: TimedModel

    def _load(self) -> TimedModel:  # type: ignore[override]
        self.timed = TimedModel(super()._load())
        return self.timed


class Engine:
    """The preset's engine."""

    def __init__(self, settings: Settings) -> None:
        self._engine = TimedEngine(_engine_settings(settings))
        self._engine.warm_up()
        self.versions = {"openvino": version("openvino")}

    def run(self, task: Fields) -> Fields:
        """Run a `request`."""
        messages = tuple(Message(**message) for message in task["request"]["messages"])
        likely_texts = tuple(task["request"]["likely_texts"])
        stop = tuple(task["request"]["stop"])
        request = GenerationRequest(
            **{**task["request"], "messages": messages, "likely_texts": likely_texts, "stop": stop}
        )

        self._engine.timed.steps.clear()
        began = time.perf_counter()
        [generation] = self._engine.generate([request], Deadline(UNHURRIED_SECONDS))
        return {
            "text": generation.text,
            "error": generation.error,
            "count": generation.completion_tokens,
            "prefill_seconds": self._engine.timed.seconds_of_prompt(generation.prompt_tokens),
            "seconds": time.perf_counter() - began,
        }


class Pipeline:
    """The preset's whole pipeline, without a graph, one question at a time."""

    def __init__(self, settings: Settings) -> None:
        unhurried = settings.deadline.model_copy(update={"seconds_per_query": float(UNHURRIED_SECONDS)})
        self._agent = CragAgent.from_settings(settings.model_copy(update={"deadline": unhurried}))
        self._agent.warm_up()
        self.versions = {"crag": package_version(), "openvino": version("openvino")}

    def run(self, task: Fields) -> Fields:
        """Answer the evaluator's `row`."""
        began = time.perf_counter()
        [answer], [trace] = self._agent.answer_batch(_one_question(task["row"]))
        seconds = time.perf_counter() - began
        return {
            "answer": answer.text,
            "was_read": "answer" in trace.generations,
            "seconds": seconds,
        }


def _engine_settings(settings: Settings) -> OpenvinoEngine:
    if not isinstance(settings.language_model, OpenvinoEngine):
        raise SettingsError('key "language_model.engine": this benchmark is about the engine "openvino"')
    return settings.language_model


def _one_question(row: Fields) -> dict[str, list[Any]]:
    return {key: [row.get(key)] for key in BATCH_KEYS}


SIDES: dict[str, Callable[[Settings], PromptRecorder | Engine | Pipeline]] = {
    "prompts": PromptRecorder,
    "engine": Engine,
    "agent": Pipeline,
}

if __name__ == "__main__":
    kind, preset, *changes = sys.argv[1:]
    side = SIDES[kind](load_settings(preset, changes))
    serve(side.run, side.versions)
