"""Servers with manners of their own, each a real one on this machine, and the engine that asks them."""

import json
from collections.abc import Callable
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, Message
from crag.engines.llm.openai_engine import OpenAILanguageModel
from crag.settings import OpenAIEngine

ASKED = GenerationRequest(
    messages=(Message("system", "Be brief."), Message("user", "Who?")), max_tokens=20, stop=("", "\n\n", "")
)


def model_at(url: str, **changes: Any) -> OpenAILanguageModel:
    """The engine at an address, with these settings changed."""
    settings = {"model": "m", "base_url_variable": "CRAG_TEST_URL", "api_key_variable": "CRAG_TEST_KEY", **changes}
    return OpenAILanguageModel(OpenAIEngine(engine="openai", base_url=url, concurrency=1, **settings))


def reply_of(text: object, reason: object = "stop", **rest: Any) -> Response:
    """A reply in OpenAI's form with this text."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return Response(json.dumps({"choices": [choice], **rest}), content_type="application/json")


Manner = Callable[[dict[str, Any], int], Response | None]
"""A reply to a body and its number; None: the usual answer."""


def serve(server: HTTPServer, manner: Manner, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
    """Serve an endpoint; returns the list of the bodies, which grows with each request."""
    bodies: list[dict[str, Any]] = []

    def handle(request: Request) -> Response:
        bodies.append(request.get_json())
        return manner(bodies[-1], len(bodies)) or reply_of("Ida Larsen")

    server.expect_request(path, method="POST").respond_with_handler(handle)
    return bodies


def ask_one(server: HTTPServer, request: GenerationRequest = ASKED, path: str = "/v1", **changes: Any) -> Generation:
    """What the engine makes of one request to the server."""
    (generation,) = model_at(server.url_for(path), **changes).generate([request], Deadline(600))
    return generation


def has_system(body: dict[str, Any]) -> bool:
    """Whether the request has a message of the role system."""
    return any(message["role"] == "system" for message in body.get("messages", ()))
