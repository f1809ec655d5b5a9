"""The address, the key and the model that is asked for."""

import json
import re

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crag.core.deadline import Deadline
from crag.engines.llm import EngineUnavailableError, LanguageModelDiedError
from tests.engines.llm.openai_servers.fakes import ASKED, ask_one, has_system, model_at, reply_of, serve


@pytest.mark.parametrize("path", ["/", "/v1/", "/v1/chat/completions", "/wrong", "/api/v1"])
@pytest.mark.parametrize("has_list", [True, False])
def test_an_address_is_completed(server: HTTPServer, path: str, has_list: bool) -> None:
    if has_list:
        server.expect_request("/v1/models").respond_with_json({"data": [{"id": "one"}]})
    serve(server, lambda *_: None)
    server.expect_request("/").respond_with_data("<!DOCTYPE html><title>A page</title>")
    server.expect_request("/models").respond_with_data("<!DOCTYPE html><title>A page</title>")
    for other in ("/wrong", "/wrong/v1", "/api/v1", "/api/v1/openai"):
        for end in ("/models", "/chat/completions"):
            server.expect_request(other + end).respond_with_json({"detail": "Not Found"}, status=404)
    model = model_at(server.url_for(path), model="" if has_list else "m")
    if has_list:
        model.warm_up()
    assert model.generate([ASKED], Deadline(600))[0].text == "Ida Larsen"


def test_a_refusal_at_the_right_address_is_heeded(server: HTTPServer) -> None:
    for path in ("/wrong/chat/completions", "/wrong/v1/chat/completions"):
        server.expect_request(path).respond_with_json({"detail": "Not Found"}, status=404)
    serve(server, lambda body, _: Response("system role?", 400) if has_system(body) else None)
    assert ask_one(server, path="/wrong").text == "Ida Larsen"


def test_an_address_where_nothing_is_served_is_told(server: HTTPServer) -> None:
    nothing = Response("<!DOCTYPE html><title>No model of that name</title>", 404)
    server.expect_request(re.compile(".*")).respond_with_response(nothing)
    error = ask_one(server, path="/v1").error or ""
    assert "status 404" in error
    assert "set CRAG_TEST_URL to the address that ends before /chat/completions" in error


@pytest.mark.parametrize(
    ("listing", "chosen"),
    [
        ({"data": [{"id": "chat"}, {"id": "text-embedding-small"}, {"id": "bge-reranker"}]}, "chat"),
        ({"data": [{"id": "base"}, {"id": "tuned", "parent": "base"}]}, "base"),
        ({"data": [{"id": "a", "state": "not-loaded"}, {"id": "b", "state": "loaded"}]}, "b"),
        ({"data": [{"id": "a", "status": {"value": "loaded"}}, {"id": "b", "status": {"value": "unloaded"}}]}, "a"),
        ({"models": [{"name": "llama3:8b"}]}, "llama3:8b"),
        ([{"id": "only"}], "only"),
        ({"data": [], "models": [{"name": "a:1"}]}, "a:1"),
        ({"data": {"models": [{"id": "a"}]}}, "a"),
        ({"result": [{"name": "a"}]}, "a"),
        ({"models": {"a": {"size": 1}}}, "a"),
        ({"data": {"id": "a", "object": "model"}}, "a"),
        ({"id": "a", "object": "model"}, "a"),
        ({"data": [{"model_name": "a"}]}, "a"),
        ({"data": [{"id": "org/my  model:q4"}]}, "org/my  model:q4"),
        ({"data": [{"id": "/x/" + "p" * 300}]}, "/x/" + "p" * 300),
        (
            {
                "models": [
                    {"name": "models/g", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/v", "supportedGenerationMethods": ["predict"]},
                ]
            },
            "models/g",
        ),
        ({"models": [{"name": "c", "endpoints": ["chat"]}, {"name": "r", "endpoints": ["rank"]}]}, "c"),
        (
            {
                "data": [
                    {"id": "c", "capabilities": {"completion_chat": True}},
                    {"id": "o", "capabilities": {"completion_chat": False}},
                ]
            },
            "c",
        ),
        ({"data": [{"id": "c", "task": "image-text-to-text"}, {"id": "x", "task": "speech-recognition"}]}, "c"),
        (
            {
                "data": [
                    {"id": "a", "state": "loaded"},
                    {"id": "b"},
                    {"id": "e", "type": "embeddings", "state": "loaded"},
                ]
            },
            "a",
        ),
    ],
)
def test_the_model_that_can_be_asked_is_chosen(server: HTTPServer, listing: object, chosen: str) -> None:
    server.expect_request("/v1/models").respond_with_data(json.dumps(listing))
    bodies = serve(server, lambda *_: None)
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    model.generate([ASKED], Deadline(600))
    assert bodies[0]["model"] == chosen


def test_a_deployment_is_asked_with_its_key_and_version(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", "k-123456")
    server.expect_request(
        "/openai/deployments/mini/chat/completions",
        query_string={"api-version": "7"},
        headers={"api-key": "k-123456"},
    ).respond_with_response(reply_of("Ida Larsen"))
    assert ask_one(server, path="/openai/deployments/mini?api-version=7", model="").text == "Ida Larsen"


def test_a_server_without_a_model_is_told_from_one_that_does_not_say(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"object": "list", "data": []})
    with pytest.raises(EngineUnavailableError, match="has no model: load one there"):
        model_at(server.url_for("/v1"), model="").warm_up()


@pytest.mark.parametrize(
    ("body", "said"),
    [("", "status 200: an empty reply"), ("<html><title>Home</title></html>", "status 200: a web page: Home")],
)
def test_an_address_that_lists_no_models_may_be_the_wrong_one(server: HTTPServer, body: str, said: str) -> None:
    server.expect_request("/v1/models").respond_with_data(body, content_type="text/html")
    with pytest.raises(EngineUnavailableError, match=rf"\({said}\): check the address, or name one, with"):
        model_at(server.url_for("/v1"), model="").warm_up()


def test_a_refused_key_is_told_where_the_list_of_models_is_asked_for(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"error": {"message": "Invalid API key"}}, status=401)
    with pytest.raises(EngineUnavailableError, match=r"status 401: Invalid API key \(CRAG_TEST_KEY is not set\)"):
        model_at(server.url_for("/v1"), model="").warm_up()


def test_a_key_with_a_wrong_character_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", "“key”")
    with pytest.raises(EngineUnavailableError, match="the key in CRAG_TEST_KEY has a character"):
        model_at("http://127.0.0.1:9/v1")


@pytest.mark.parametrize("listing", [{"data": [{"id": "NAME"}]}, {"models": [{"model": "NAME"}]}, ["NAME"]])
def test_a_server_that_comes_back_with_another_model_is_not_asked(listing: object) -> None:
    """No run mixes two models; the one of before is asked again."""

    def serve_model(name: str) -> HTTPServer:
        server = HTTPServer(port=port, threaded=True)
        server.expect_request("/v1/models").respond_with_data(json.dumps(listing).replace("NAME", name))
        serve(server, lambda *_: None)
        server.start()
        return server

    port = 0
    server = serve_model("small")
    port = server.port
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    server.stop()
    with pytest.raises(LanguageModelDiedError, match="no language model server"):
        model.generate([ASKED], Deadline(600))

    server = serve_model("large")
    with pytest.raises(LanguageModelDiedError, match="has come back with another model: large, before small"):
        model.generate([ASKED], Deadline(600))
    server.stop()

    server = serve_model("small")
    assert model.generate([ASKED], Deadline(600))[0].text == "Ida Larsen"
    server.stop()
