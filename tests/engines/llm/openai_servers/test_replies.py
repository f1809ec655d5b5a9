"""Forms of a reply: packed, in any encoding, with thoughts, longer than asked for."""

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest
from tests.engines.llm.openai_servers.fakes import ASKED, ask_one, model_at, reply_of, serve


def in_two_members(body: bytes) -> bytes:
    return gzip.compress(body[:30]) + gzip.compress(body[30:])


def deflate_without_header(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def pack_twice(body: bytes) -> bytes:
    return gzip.compress(gzip.compress(body))


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress, "gzip"),
        (bytes, "gzip"),
        (gzip.compress, "identity, GZIP"),
        (gzip.compress, ""),
        (in_two_members, "gzip"),
        (pack_twice, "gzip, gzip"),
        (zlib.compress, "deflate"),
        (deflate_without_header, "deflate"),
        (bytes, "utf-8"),
    ],
)
def test_a_packed_reply_is_read(server: HTTPServer, packed: Callable[[bytes], bytes], encoding: str) -> None:
    body = packed(reply_of("Ida Larsen").get_data())
    serve(server, lambda *_: Response(body, headers={"Content-Encoding": encoding} if encoding else {}))
    assert ask_one(server).text == "Ida Larsen"


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_packing_that_cannot_be_read_is_named(server: HTTPServer, encoding: str) -> None:
    serve(server, lambda *_: Response(b"\x1b/\x00\xf8", headers={"Content-Encoding": encoding}))
    assert f"its reply is packed as '{encoding}'" in (ask_one(server).error or "")


@pytest.mark.parametrize("declared", ["iso-8859-1", "utf-16", "utf8mb4", "hex"])
@pytest.mark.parametrize("written", ["utf-8", "utf-16"])
def test_json_is_read_as_such_whatever_is_declared(server: HTTPServer, declared: str, written: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Zoë"}}]}, ensure_ascii=False).encode(written)
    serve(server, lambda *_: Response(body, headers={"Content-Type": f"application/json; charset={declared}"}))
    assert ask_one(server).text == "Zoë"


def test_stop_strings_that_a_server_ignores_cut_the_text_here(server: HTTPServer) -> None:
    serve(server, lambda *_: reply_of("Ida Larsen\n\nShe taught."))
    assert ask_one(server).text == "Ida Larsen"


def test_of_the_stop_strings_no_empty_one_is_sent(server: HTTPServer) -> None:
    bodies = serve(server, lambda *_: None)
    ask_one(server)
    assert bodies[0]["stop"] == ["\n\n"]


def test_without_a_stop_string_that_has_letters_none_is_sent(server: HTTPServer) -> None:
    bodies = serve(server, lambda *_: None)
    ask_one(server, GenerationRequest(prompt="Who?", stop=("",)))
    assert all("stop" not in body for body in bodies)


def test_a_model_that_thinks_gets_room_for_it(server: HTTPServer) -> None:
    def think(body: dict[str, Any], _: int) -> Response:
        return (
            reply_of("<think>Let me see", "length")
            if body["max_tokens"] < 1000
            else reply_of("<think>…</think>Ida Larsen")
        )

    bodies = serve(server, think)
    model = model_at(server.url_for("/v1"))
    assert [one.text for one in model.generate([ASKED] * 2, Deadline(600))] == ["Ida Larsen"] * 2
    assert [body["max_tokens"] for body in bodies] == [20, 2068, 2068]


def test_a_server_without_room_for_thoughts_costs_no_fault(server: HTTPServer) -> None:
    def think(body: dict[str, Any], _: int) -> Response:
        is_short = body["max_tokens"] < 1000
        return reply_of("<think>Let me see", "length") if is_short else Response("context length exceeded", 400)

    serve(server, think)
    generation = ask_one(server)
    assert (generation.text, generation.finish_reason) == ("", "length")
