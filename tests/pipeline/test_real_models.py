"""The presets cpu and endpoint with real weights, end to end on the shipped sample, with a small language model."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from agents.user_config import UserAgent
from crag.core.queries import BATCH_KEYS
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import read_rows
from crag.settings import OVERRIDES_VARIABLE, PRESETS, OpenvinoEngine
from crag.weights.manifest import WeightsMissingError, locate
from tests.engines.llm.llm_server import serve
from tests.hang_guard import finish

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "questions.jsonl"
SMALL = "smollm2-135m-instruct"
START_SECONDS = 300
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserAgent]:
    text = (PRESETS / "cpu.toml").read_text(encoding="utf-8")
    assert 'model = "qwen2.5-coder-1.5b-instruct"' in text
    text = "\n".join(line for line in text.splitlines() if "adapter" not in line)  # they are of the other model
    path = tmp_path_factory.mktemp("presets") / "small.toml"
    path.write_text(text.replace("qwen2.5-coder-1.5b-instruct", SMALL), encoding="utf-8")
    try:
        built = UserAgent(preset=path)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    yield built
    built.close()


def batch_of(size: int) -> dict[str, list[Any]]:
    rows = list(read_rows(SAMPLE, size))
    return {key: [row[key] for row in rows] for key in BATCH_KEYS}


def test_real_models_answer_a_batch_with_complete_traces(agent: UserAgent) -> None:
    batch = batch_of(4)
    answers = agent.batch_generate_answer(batch)
    assert len(answers) == 4
    assert all(answer and "\n" not in answer for answer in answers)

    for trace in agent.last_traces:
        record = json.loads(json.dumps(trace.to_dict()))
        assert record["pages_read"] > 0
        assert record["generations"]["answer"]["completion_tokens"] > 0
        assert record["generations"]["answer"]["mean_log_probability"] < 0
        assert all({"bm25", "fusion", "cross_encoder"} <= set(passage["scores"]) for passage in record["passages"])
        scores = [passage["scores"]["cross_encoder"] for passage in record["passages"]]
        assert scores == sorted(scores, reverse=True)


def test_a_page_stuck_in_the_parser_costs_nothing_else(agent: UserAgent) -> None:
    """100,000 nested elements keep a parser busy for minutes unless they are capped or its process is killed."""
    batch = batch_of(3)
    agent.batch_generate_answer({key: column[:1] for key, column in batch.items()})
    alone = agent.last_traces[0]
    hostile = dict.fromkeys(("page_name", "page_url", "page_snippet", "page_last_modified"), "")
    hostile["page_result"] = "<div>" * 100_000 + "<table>" * 100_000 + "text"
    batch["search_results"][1] = [hostile] * 50
    answers = finish(lambda: agent.batch_generate_answer(batch))
    with_it = agent.last_traces[0]  # in int8 a text may differ by a near tie, what the model reads may not
    assert with_it.context == alone.context
    assert with_it.generations["answer"].completion_tokens > 0
    assert len(answers) == 3


# --- behind a server of OpenAI's API ---


@contextmanager
def vllm_server() -> Iterator[str]:
    """vLLM's own server on this CPU."""
    pytest.importorskip("vllm", reason="`make test-vllm` runs this")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])

    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(locate(SMALL))]
    options = ["--served-model-name", "small", "--dtype", "float32", "--max-model-len", "4096", "--enforce-eager"]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1"}
    address = f"http://127.0.0.1:{port}"

    with subprocess.Popen([*command, *options, "--port", str(port)], env=environment) as process:
        try:
            until = time.monotonic() + START_SECONDS
            while not _answers(f"{address}/v1/models"):
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server does not start"
                time.sleep(1)
            yield f"{address}/v1"
        finally:
            process.terminate()


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=2).ok
    except requests.RequestException:
        return False


@contextmanager
def openvino_server() -> Iterator[str]:
    engine = load_language_model(OpenvinoEngine(engine="openvino", model=SMALL))
    engine.warm_up()
    try:
        with serve(engine, {"small": None}) as url:
            yield url
    finally:
        engine.close()


@contextmanager
def llama_cpp_server() -> Iterator[str]:
    """llama.cpp's own server, in this process."""
    xllamacpp = pytest.importorskip("xllamacpp")
    options = xllamacpp.CommonParams()
    try:
        options.model.path = str(locate(f"{SMALL}-gguf") / "SmolLM2-135M-Instruct.Q4_1.gguf")
    except WeightsMissingError as error:
        pytest.skip(str(error))
    options.n_ctx, options.n_parallel, options.cpuparams.n_threads = 8192, 2, 1  # two wait for each other
    server = xllamacpp.Server(options)  # serves for as long as somebody holds it
    yield f"{server.listening_address}/v1"
    del server


def agent_at(url: str, monkeypatch: pytest.MonkeyPatch, *overrides: str) -> UserAgent:
    monkeypatch.setenv("CRAG_LLM_URL", url)
    monkeypatch.delenv("CRAG_LLM_MODEL", raising=False)
    monkeypatch.setenv(OVERRIDES_VARIABLE, "\n".join(overrides))
    try:
        return UserAgent(preset="endpoint")
    except WeightsMissingError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    "server", [openvino_server, llama_cpp_server, pytest.param(vllm_server, marks=pytest.mark.vllm)]
)
def test_a_server_answers_questions_from_their_pages(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as url:
        patient = "deadline.seconds_per_query = 120"  # a busy machine is no fault of the server
        agent = agent_at(url, monkeypatch, "answering.confidence.threshold = 0.0", patient)
        try:
            answers = agent.batch_generate_answer(batch_of(3))
        finally:
            agent.close()

    assert len(answers) == 3

    for trace in agent.last_traces:
        assert trace.generations["answer"].finish_reason in {"stop", "length"}
        assert trace.tokens["prompt"] > 300
        assert trace.tokens["completion"] > 0
        assert trace.lost is None
        assert {candidate.source for candidate in trace.candidates} <= {"web", "question"}
