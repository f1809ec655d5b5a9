"""What is learnt of a server's model, in the forms of the servers that people run."""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crag.engines.llm import describe_served_model
from crag.settings import OpenAIEngine

LLAMA_CPP = {
    "/v1/models": {
        "object": "list",
        "data": [{"id": "small", "meta": {"n_params": 1500, "size": 900, "n_ctx_train": 32768}}],
    },
    "/props": {"model_path": "/home/me/models/small-q4_k_m.gguf", "default_generation_settings": {"n_ctx": 4096}},
}
LLAMA_CPP_FACTS = "file small-q4_k_m.gguf, 1500 parameters, 900 bytes, context 4096"
VLLM = {"/v1/models": {"data": [{"id": "small", "root": "/weights/small-awq", "max_model_len": 8192}]}}
UNNAMED = {
    "/v1/models": {"data": [{"id": "/home/me/models/small-q4_k_m.gguf", "meta": {"ftype": "Q4_K_M"}}], "models": []},
    "/props": LLAMA_CPP["/props"],
}
"""llama.cpp without --alias: the name is the whole path."""
OLLAMA = {
    "/v1/models": {"object": "list", "data": [{"id": "other:1b"}, {"id": "small:2b"}]},
    "/api/tags": {
        "models": [
            {"name": "other:1b", "digest": "0" * 64, "details": {"quantization_level": "Q8_0"}},
            {
                "name": "small:2b",
                "digest": "sha256:0123456789abcdef",
                "details": {"parameter_size": "2B", "quantization_level": "Q4_K_M"},
            },
        ]
    },
}
LM_STUDIO = {"/v1/models": {"data": [{"id": "small", "quantization": "4bit", "loaded_context_length": 2048}]}}


@pytest.fixture
def described(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is learnt of a server with these replies; ADDRESS stands for its address."""

    def describe(replies: dict[str, Any], model: str = "") -> str | None:
        for path, reply in replies.items():
            httpserver.expect_request(path).respond_with_json(reply)
        host = f"{httpserver.host}:{httpserver.port}"
        monkeypatch.setenv("CRAG_LLM_URL", f"http://me:secret@{host}/v1/")
        found = describe_served_model(OpenAIEngine(engine="openai", model=model))
        return found and found.replace(f"http://{host}/v1", "ADDRESS")

    return describe


@pytest.mark.parametrize(
    ("replies", "model", "expected"),
    [
        (LLAMA_CPP, "", f"small at ADDRESS, {LLAMA_CPP_FACTS}"),
        (
            LLAMA_CPP,
            "any-name",
            f"any-name at ADDRESS, which the server calls small, {LLAMA_CPP_FACTS}",
        ),
        (VLLM, "small", "small at ADDRESS, root small-awq, context 8192"),
        (UNNAMED, "", "small-q4_k_m.gguf at ADDRESS, Q4_K_M, context 4096"),
        (OLLAMA, "small:2b", "small:2b at ADDRESS, Q4_K_M, 2B parameters, digest 0123456789ab"),
        (LM_STUDIO, "", "small at ADDRESS, 4bit, context 2048"),
        ({"/v1/models": {"data": "odd"}}, "small", "small at ADDRESS"),
        ({"/v1/models": {"data": [{"id": "a\n\x1b[31mb", "max_model_len": [1]}]}}, "", "a [31mb at ADDRESS"),
        ({"/v1/models": ["small"]}, "", "small at ADDRESS"),
        ({"/v1/models": [{"model": "small", "max_model_len": 8192}]}, "", "small at ADDRESS, context 8192"),
        ({}, "small", "small at ADDRESS"),
    ],
)
def test_the_facts_that_servers_tell(described: Any, replies: dict[str, Any], model: str, expected: str) -> None:
    assert described(replies, model) == expected


def test_a_server_that_still_loads_its_model_tells_nothing_yet(httpserver: HTTPServer, described: Any) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"error": {"message": "Loading model"}}, status=503)
    assert described({}, "small") is None


def test_no_server_and_a_proxy_that_hides_one_on_this_machine(described: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert described(VLLM) == "small at ADDRESS, root small-awq, context 8192"
    monkeypatch.setenv("CRAG_LLM_URL", "http://127.0.0.1:9/v1")
    assert describe_served_model(OpenAIEngine(engine="openai")) is None
    monkeypatch.setenv("CRAG_LLM_URL", "http://[::1")
    assert describe_served_model(OpenAIEngine(engine="openai")) is None


def test_a_list_of_models_that_has_moved_is_followed(httpserver: HTTPServer, described: Any) -> None:
    moved = Response(status=307, headers={"Location": httpserver.url_for("/v1/models/")})
    httpserver.expect_request("/v1/models").respond_with_handler(lambda _: moved)
    assert described({"/v1/models/": VLLM["/v1/models"]}) == "small at ADDRESS, root small-awq, context 8192"
