"""Streams that nobody asked for, in every form, are read like a reply."""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from tests.engines.llm.openai_servers.fakes import ask_one, reply_of, serve


def chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


PARTS = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Ida"}), chunk({"content": " Larsen"})]
END = chunk({}, "stop")
START = '{"choices": ['
STREAMS = {
    "usual": "".join(f"data: {part}\n\n" for part in [*PARTS, END, "[DONE]"]),
    "CRLF, comments, events": ": hello\r\n\r\n"
    + "".join(f"event: x\r\nid: 1\r\ndata: {part}\r\n: keep-alive\r\n\r\n" for part in [*PARTS, END]),
    "no blank after the colon, no [DONE]": "".join(f"data:{part}\n\n" for part in [*PARTS, END]),
    "no last line end": "".join(f"data: {part}\n\n" for part in PARTS) + f"data: {END}",
    "single line ends": "".join(f"data: {part}\n" for part in [*PARTS, END, "[DONE]"]),
    "a chunk without choices first": 'data: {"choices": []}\n\n' + "".join(f"data: {part}\n\n" for part in PARTS),
    "thoughts in a field of their own": f"data: {chunk({'reasoning_content': 'Hm.'})}\n\n"
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "thoughts in the text": "".join(
        f"data: {chunk({'content': part})}\n\n" for part in ("<thi", "nk>Hm", ".</think>", "Ida Larsen")
    ),
    "of completions": "".join(f'data: {{"choices": [{{"text": "{text}"}}]}}\n\n' for text in ("Ida", " Larsen")),
    "the whole message at last": 'data: {"choices": [{"message": {"content": "Ida Larsen"}}]}\n\n',
    "lines of JSON": "\n".join([*PARTS, END]),
    "words that keep it alive": "data: \n\ndata: ping\n\ndata: [HEARTBEAT]\n\n: busy\n\n"
    + "".join(f"data: {part}\r\n\r\n" for part in [*PARTS, END]),
    "the mark twice": "".join(f"data: data: {part}\n\n" for part in [*PARTS, END, "[DONE]"]),
    "blanks around the end": "".join(f"data:{part}\n\n" for part in PARTS) + "data:  [DONE] \n\n",
    "an error after the end": "".join(f"data: {part}\n\n" for part in [*PARTS, END]) + 'data: {"error": "late"}\n\n',
    "another choice first": "".join(
        f'data: {{"choices": [{{"index": 1, "delta": {{"content": "Bo"}}}}, {part[len(START) :]}\n\n' for part in PARTS
    ),
    "data over several lines": "event: message\r\n"
    + "\r\n".join(f"data: {line}" for line in ('{"choices": [{"delta":', '{"content": "Ida Larsen"}}]}'))
    + "\r\n\r\n",
    "chunks in lists": "".join(f"data: [{part}]\n\n" for part in [*PARTS, END]),
    "chunks in objects": "".join(f'data: {{"data": {part}}}\n\n' for part in [*PARTS, END]),
    "events that keep it alive": 'event: ping\ndata: {"message": "ping"}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "plain texts as deltas": "".join(
        f'data: {{"choices": [{{"delta": "{text}"}}]}}\n\n' for text in ("Ida", " Larsen")
    ),
    "messages as parts": "".join(
        f'data: {{"choices": [{{"message": {{"content": "{text}"}}}}]}}\n\n' for text in ("Ida", " Larsen")
    ),
    "messages that grow": "".join(
        f'data: {{"choices": [{{"message": {{"content": "{text}"}}}}]}}\n\n' for text in ("Ida", "Ida Larsen")
    ),
    "a message that is no text first": 'data: {"choices": [{"message": {"content": true}}]}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "an index as text": 'data: {"choices": [{"index": "0", "delta": {"content": "Ida Larsen"}}]}\n\n',
    "an index that is none": 'data: {"choices": [{"index": [], "delta": {}}]}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "a choice without a list": 'data: {"choices": {"delta": {"content": "Ida Larsen"}}}\n\n',
    "comments before a reply in one piece": ": BUSY\n\n: BUSY\n\n" + reply_of("Ida Larsen").get_data(as_text=True),
    "empty data before each chunk": "".join(f"data:\ndata: {part}\n\n" for part in [*PARTS, END]),
    "blank lines first": "\n" * 500 + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "a mark of order": "\ufeff" + "".join(f"data: {part}\n\n" for part in PARTS),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_a_stream_that_nobody_asked_for_is_read(server: HTTPServer, stream: str, content_type: str) -> None:
    bodies = serve(server, lambda *_: Response(stream, content_type=content_type))
    generation = ask_one(server)
    assert (generation.text, generation.finish_reason) == ("Ida Larsen", "stop")
    assert bodies[0]["stream"] is False


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ('data: {"error": {"message": "out of memory", "code": 500}}\n\n', "status 500: out of memory"),
        (f'data: {PARTS[1]}\n\ndata: {{"error": {{"message": "cut", "code": 502}}}}\n\n', "status 502: cut"),
        (f'data: {PARTS[1]}\n\nevent: error\ndata: {{"message": "cut"}}\n\n', "cut"),
        (f'data: {PARTS[1]}\n\ndata: {{"object": "error", "message": "cut", "code": 500}}\n\n', "status 500: cut"),
        (f'data: {PARTS[1]}\n\ndata: {{"choices": [{{"delta": {{}}, "error": {{"message": "cut"}}}}]}}\n\n', "cut"),
        (f"data: {PARTS[1]}\n\nerror: cut\n\n", "cut"),
        ("\n" * 500 + f'data: {PARTS[1]}\n\ndata: {{"error": {{"message": "cut"}}}}\n\n', "cut"),
        (f"data: {chunk({'tool_calls': [{'index': 0}]})}\n\ndata: {END}\n\n", "called a tool"),
        (STREAMS["usual"][:-120], "an event stream, cannot be read"),
        (": only comments\n\n", "no choices"),
    ],
)
def test_a_stream_that_fails_is_no_answer(server: HTTPServer, stream: str, said: str) -> None:
    serve(server, lambda *_: Response(stream, content_type="text/event-stream"))
    generation = ask_one(server)
    assert generation.finish_reason == "error"
    assert said in (generation.error or "")
