"""A server that is busy or loads its model is waited for."""

import logging
import threading
from collections.abc import Iterator

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.engines.llm import EngineUnavailableError, openai_engine, openai_server
from tests.engines.llm.openai_servers.fakes import ASKED, ask_one, model_at, serve


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


LOADING = [
    (503, {}, '{"error": {"message": "Loading model"}}', [1.0, 2.0, 4.0, 8.0, 8.0]),
    (503, {}, '{"error": "Model m is currently loading", "estimated_time": 20.0}', [20.0] * 5),
    (200, {}, '{"error": {"message": "the model is not ready", "code": 503}}', [1.0, 2.0, 4.0, 8.0, 8.0]),
    (429, {"Retry-After": "3"}, "slow down", [3.0] * 5),
    (429, {"retry-after-ms": "250"}, "slow down", [0.25] * 5),
    (429, {}, '{"error": {"details": [{"retryDelay": "34s"}]}}', [34.0] * 5),
    (429, {}, "Please try again in 1.5s", [1.5] * 5),
    (429, {}, "quota exceeded, check your plan and billing details. Please retry in 7s", [7.0] * 5),
    (503, {"Retry-After": "2"}, "busy", [2.0] * 5),
    (429, {"Retry-After": "0"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (529, {}, "overloaded", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (429, {}, "Please try again in 0m5.5s. Need more?", [5.5] * 5),
    (429, {}, "try again in 1m2s", [62.0] * 5),
    (429, {"Retry-After": "5s"}, "slow down", [5.0] * 5),
    (429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (429, {"Retry-After": "soon"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    *((503, {}, words, [0.5, 1.0, 2.0, 4.0, 8.0]) for words in (
        "Model too busy", "no slot available", "Queue is full", "ThrottlingException", "Too many concurrent requests",
    )),
    *((503, {}, words, [1.0, 2.0, 4.0, 8.0, 8.0]) for words in (
        "The model is being loaded", "Model weights are downloading", "Model initialization in progress",
        "currently being deployed", "Pulling model", "Scaling up from zero", "cold start",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "words", "waited"), LOADING)
def test_a_server_that_asks_for_patience_is_waited_for(
    server: HTTPServer, pauses: list[float], status: int, headers: dict[str, str], words: str, waited: list[float]
) -> None:
    serve(server, lambda _, number: Response(words, status, headers) if number <= 5 else None)
    assert ask_one(server).text == "Ida Larsen"
    assert pauses == waited


def test_the_start_waits_for_a_server_that_loads_its_model_and_says_so(
    server: HTTPServer, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    listings = iter([Response("Loading model", 503)] * 3)
    names = Response('{"data": [{"id": "one"}]}')
    server.expect_request("/v1/models").respond_with_handler(lambda _: next(listings, names))
    serve(server, lambda _, number: Response("Loading model", 503) if number <= 2 else None)
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    model.rehearse(ASKED)
    assert len(pauses) == 5
    assert warnings_in(caplog) == [
        f"waiting for the server at {server.url_for('/v1')} to load its model (status 503: Loading model)"
    ]


def test_the_start_waits_for_a_busy_server_and_does_not_call_it_loading(
    server: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    serve(server, lambda _, number: Response("slow down", 429) if number <= 5 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    (warning,) = warnings_in(caplog)
    assert warning == f"waiting for the server at {server.url_for('/v1')} (status 429: slow down)"


SILENT = "accepts connections and does not reply"


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Ends the silence of a server, at the latest with the test."""
    event = threading.Event()
    yield event
    event.set()


def serve_models_in_silence(server: HTTPServer, end: threading.Event, silent_requests: int) -> None:
    """Serve a list of models whose first requests get no reply before `end`."""
    requests = iter(range(1000))

    def list_models(_: Request) -> Response:
        if next(requests) < silent_requests:
            end.wait(60)
        return Response('{"data": [{"id": "one"}]}')

    server.expect_request("/v1/models").respond_with_handler(list_models)


def test_the_start_waits_for_a_server_that_does_not_reply_at_first(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, end: threading.Event
) -> None:
    serve_models_in_silence(server, end, silent_requests=1)
    monkeypatch.setattr(openai_engine, "_WARM_UP_SECONDS", 0.5)
    model_at(server.url_for("/v1"), model="").warm_up()
    (line,) = warnings_in(caplog)
    assert line.startswith(f"the server at {server.url_for('/v1')} {SILENT} yet")


def test_a_server_that_never_replies_is_called_busy_and_not_dead(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, end: threading.Event
) -> None:
    serve_models_in_silence(server, end, silent_requests=1000)
    monkeypatch.setattr(openai_engine, "_WARM_UP_SECONDS", 0.5)
    monkeypatch.setattr(openai_server, "MOST_SILENT_SECONDS", 1.0)
    with pytest.raises(EngineUnavailableError, match=f"{SILENT}: it may be busy"):
        model_at(server.url_for("/v1"), model="").warm_up()


def test_the_start_has_patience_with_a_gateway_whose_server_is_not_there_yet(
    server: HTTPServer, pauses: list[float]
) -> None:
    bodies = serve(server, lambda _, number: Response("Service Unavailable", 503) if number <= 9 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    assert (len(bodies), sum(pauses) > 30) == (10, True)


def test_a_model_that_cannot_be_loaded_is_not_waited_for(server: HTTPServer, pauses: list[float]) -> None:
    serve(server, lambda *_: Response("error loading model: no such file", 500))
    assert "no such file" in (ask_one(server).error or "")
    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("words", "headers"),
    [
        ("slow down", {"Retry-After": "9000"}),
        ("slow down", {"Retry-After": "99999999999"}),
        ("slow down", {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}),
        ("slow down", {"Retry-After": "Wed Oct 21 07:28:00 2099"}),
        ("slow down: try again in 47m12.345s. Need more?", {}),
        ("slow down: try again in 1h2m3s", {}),
        ("slow down: try again in 2 hours", {}),
    ],
)
def test_a_pause_beyond_the_deadline_is_told_at_once(
    server: HTTPServer, pauses: list[float], words: str, headers: dict[str, str]
) -> None:
    serve(server, lambda *_: Response(words, 429, headers))
    assert "status 429: slow down" in (ask_one(server).error or "")
    assert pauses == []


def test_a_long_pause_at_the_start_is_told(
    server: HTTPServer, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    serve(server, lambda _, number: Response("slow down", 429, {"Retry-After": "300"}) if number == 1 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    assert pauses == [300.0]
    assert [line for line in caplog.messages if line.startswith("waiting for the server at")]


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_key_or_model_that_a_server_never_takes_ends_the_start(server: HTTPServer, status: int) -> None:
    serve(server, lambda *_: Response("no such model or key", status))
    with pytest.raises(EngineUnavailableError, match=rf"the server at http.* answered with status {status}: no such"):
        model_at(server.url_for("/v1")).rehearse(ASKED)


def test_a_first_request_that_fails_is_told_at_the_start(server: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    serve(server, lambda *_: Response('{"error": {"message": "model is not loaded"}}', 400))
    model_at(server.url_for("/v1")).rehearse(ASKED)
    [line] = warnings_in(caplog)
    assert line.startswith("the first request failed: the server at http")
    assert line.endswith("answered with status 400: model is not loaded")
