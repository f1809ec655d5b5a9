"""A real HTTP server with the two generating endpoints of OpenAI's API over any engine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, Message


@contextmanager
def serve(engine: LanguageModel, models: dict[str, str | None]) -> Iterator[str]:
    """Serve the engine on a free port and give the base URL. `models`: name on the server -> adapter of the engine."""
    one_at_a_time = threading.Lock()

    def answer(request: Request) -> Response:
        body = json.loads(request.data)
        if body["model"] not in models:
            return Response(json.dumps({"error": {"message": "no such model"}}), 404)
        with one_at_a_time:
            generation = engine.generate([_as_request(body, models[body["model"]])], Deadline(600))[0]
        if generation.finish_reason == "error":
            return Response(json.dumps({"error": {"message": generation.error}}), 400)
        if not body.get("logprobs"):
            generation = replace(generation, mean_log_probability=None)
        return Response(json.dumps(_as_body(generation, chat="messages" in body)), content_type="application/json")

    with HTTPServer(threaded=True) as server:
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
        server.expect_request("/v1/completions", method="POST").respond_with_handler(answer)
        server.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": n} for n in models]})
        yield server.url_for("/v1")
        server.check_assertions()


def _as_request(body: dict, adapter: str | None) -> GenerationRequest:  # type: ignore[type-arg]
    return GenerationRequest(
        messages=tuple(Message(turn["role"], turn["content"]) for turn in body.get("messages", ())),
        prompt=body.get("prompt"),
        adapter=adapter,
        grammar=body.get("structured_outputs", {}).get("grammar"),
        max_tokens=body["max_tokens"],
        temperature=body["temperature"],
        top_p=body["top_p"],
        stop=tuple(body.get("stop", ())),
    )


def _as_body(generation: Generation, *, chat: bool) -> dict[str, object]:
    count, mean = generation.completion_tokens, generation.mean_log_probability
    each = [mean] * count if mean is not None else []
    choice: dict[str, object] = {"index": 0, "finish_reason": generation.finish_reason}
    if chat:
        choice["message"] = {"role": "assistant", "content": generation.text}
        choice["logprobs"] = {"content": [{"token": "?", "logprob": value} for value in each]}
    else:
        choice["text"] = generation.text
        choice["logprobs"] = {"token_logprobs": each}
    usage = {"prompt_tokens": generation.prompt_tokens, "completion_tokens": count}
    return {"object": "completion", "choices": [choice], "usage": usage}
