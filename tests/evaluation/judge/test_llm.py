"""The llm judge, with the scripted engine and with a real server on this machine."""

import argparse
import errno
import json
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.core.files import UserError
from crag.evaluation.judge import (
    Claim,
    LanguageModelJudge,
    Verdict,
    add_judge_arguments,
    cost_line,
    judge_from,
    make_judge,
)
from crag.evaluation.judge.rubrics import RUBRICS
from crag.settings import ScriptedEngine

RIGHT, WRONG = Claim("who wrote it?", ("ann lee",), "It was Ann Lee."), Claim("who wrote it?", ("ann lee",), "Cy Young")
REPLIES = {'"it is four"': '{"score": 1}', "It was Ann Lee.": '{"score": 1}', "Cy Young": '{"score": 0}'}


def scripted(cache: Path | None = None, **settings: Any) -> LanguageModelJudge:
    engine = ScriptedEngine(engine="scripted", **{"replies": REPLIES, **settings})
    return LanguageModelJudge(engine, "the script", cache=cache)


def verdicts(judge: LanguageModelJudge, *claims: Claim) -> list[str]:
    return [judgement.verdict.value for judgement in judge.judge(claims)]


@pytest.mark.parametrize("fault", ["die_after", "error", "empty", "garbage", "short_list"])
def test_a_fault_of_the_engine_is_unscored_and_ends_nothing(fault: str) -> None:
    judge = scripted(fault=fault, fault_after=2)
    assert verdicts(judge, RIGHT) == ["correct"]
    assert verdicts(judge, WRONG, Claim("q", ("a",), "b")) == ["unscored", "unscored"]


# --- verdicts on disk -------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "verdicts.jsonl"


@pytest.mark.parametrize("torn", [b"", b'{"key": "c", "corr'])
def test_a_known_verdict_of_the_whole_claim_makes_no_request(cache: Path, torn: bytes) -> None:
    scripted(cache).judge([RIGHT])
    with cache.open("ab") as stream:
        stream.write(torn)
    assert verdicts(scripted(cache), WRONG) == ["incorrect"]
    again = scripted(cache)
    assert verdicts(again, WRONG, RIGHT) == ["incorrect", "correct"]
    assert (again.cost.requests, again.cost.cached, again.cost.claims) == (0, 2, 2)
    others = [("Who wrote it?", RIGHT.golds), (RIGHT.query, ("Ann lee",)), (RIGHT.query, (*RIGHT.golds, "a. lee"))]
    again.judge([Claim(query, golds, RIGHT.prediction) for query, golds in others])
    assert again.cost.cached == 2, "another claim"
    for score, verdict in ((1, "correct"), (0, "incorrect")):  # another model
        assert verdicts(scripted(cache, default_reply=f'{{"score": {score}}}', replies={}), RIGHT) == [verdict]


def _judge_many(cache: Path, first: int) -> None:
    for number in range(first, first + 20):
        scripted(cache).judge([Claim(f"q{number}", ("a",), "Cy Young")])


def test_two_runs_append_at_once(cache: Path) -> None:
    runs = [get_context("spawn").Process(target=_judge_many, args=(cache, first)) for first in (0, 20)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    assert len(cache.read_bytes().splitlines()) == 40


def test_a_cache_that_cannot_be_used_is_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in (b"no JSON\n", b'{"correct": true}\n'):
        (tmp_path / "file").write_bytes(line)
        for path in (tmp_path / "file", tmp_path / "file" / "verdicts.jsonl"):
            with pytest.raises(UserError, match=r"file.*: .*--judge-cache"):
                scripted(path)
    judge = scripted(cache)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match=r"verdicts\.jsonl: .*No space left"):
        judge.judge([RIGHT])


# --- the arguments ----------------------------------------------------------------------------------------------------


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_judge_arguments(parser)
    return parser.parse_args(arguments)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    for name in ("OPENAI_BASE_URL", "EVALUATION_MODEL_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CRAG_LLM_URL", "http://127.0.0.1:9/the-agents-own")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_presets_model_judges_and_a_scripts_verdicts_are_kept_only_where_a_file_is_named(
    cache: Path, tmp_path: Path
) -> None:
    llm = ("--judge", "llm", "--judge-preset", "scripted")
    judge = judge_from(parsed(*llm, "--judge-cache", str(cache)))
    assert judge.version.startswith("1:scripted:crag-")
    assert (cost_line(judge) or "").startswith("judge: 1 request, ")
    assert cache.is_file()
    judge_from(parsed(*llm))
    assert not (tmp_path / "cache").exists()
    assert cost_line(judge_from(parsed())) is None, "the rules need nothing"


def test_environment_and_options_name_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert ":gpt-4-0125-preview:" in judge_from(parsed("--judge", "llm"), check=False).version
    assert (tmp_path / "cache/crag-judge/verdicts.jsonl").is_file(), "the default, in the user's cache folder"
    monkeypatch.setenv("EVALUATION_MODEL_NAME", "'theirs'")  # an engine of containers keeps the quotes
    assert ":theirs:" in judge_from(parsed("--judge", "llm"), check=False).version
    chosen = parsed("--judge", "llm", "--judge-model", "ours", "--judge-rubric", "db3", "--judge-cache", "none")
    assert ":ours:db3-" in judge_from(chosen, check=False).version


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge-model", "m"], "--judge-model has no effect without --judge llm"),
        (["--judge-url", "u", "--judge-preset", "p"], "--judge-url, --judge-preset has no effect without --judge llm"),
        (["--judge-rubric", "db3"], "--judge-rubric has no effect without --judge llm"),
        (["--judge-cache", "none"], "--judge-cache has no effect without --judge llm"),
        (["--judge-set", "a=1"], "--judge-set has no effect without --judge llm"),
        (["--judge", "llm", "--judge-set", "a=1"], "--judge-set has no effect without --judge-preset"),
        (["--judge", "llm", "--judge-preset", "none-such"], "no preset 'none-such'"),
        (["--judge", "llm", "--judge-preset", "scripted", "--judge-set", "none_such=1"], "none_such"),
    ],
)
def test_a_model_that_cannot_be_meant(arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        judge_from(parsed(*arguments))


# --- a real server ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared_server() -> Iterator[HTTPServer]:
    """Stopping one takes half a second."""
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture
def server(shared_server: HTTPServer) -> HTTPServer:
    shared_server.clear()
    shared_server.expect_request("/v1/models").respond_with_json({"object": "list", "data": []})
    return shared_server


def at(server: HTTPServer, cache: Path | None = None) -> LanguageModelJudge:
    judge = make_judge("llm", model="grader", url=server.url_for("/v1"), cache=str(cache or "none"), rubric="db3")
    assert isinstance(judge, LanguageModelJudge)
    return judge


def replies(server: HTTPServer, reply: Callable[[dict[str, Any]], str | Response]) -> list[dict[str, Any]]:
    """Answer with what `reply` makes of the claim; the list fills with the requests' bodies, headers under "key"."""
    seen: list[dict[str, Any]] = []

    def answer(request: Request) -> Response:
        body = request.get_json()
        seen.append({**body, "key": request.headers.get("Authorization")})
        text = reply(json.JSONDecoder().raw_decode(body["messages"][-1]["content"])[0])
        if isinstance(text, Response):
            return text
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return Response(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}))

    server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
    return seen


def test_over_the_wire(server: HTTPServer, cache: Path) -> None:
    seen = replies(server, lambda claim: json.dumps({"accuracy": "Cy Young" not in claim["prediction"]}))
    judge = at(server, cache)
    assert len(seen) == 1, "the server is asked once before any claim"
    assert verdicts(judge, RIGHT, WRONG, WRONG) == ["correct", "incorrect", "incorrect"]
    assert {(body["model"], body["temperature"], body["key"]) for body in seen} == {("grader", 0.0, "Bearer secret")}
    assert (judge.cost.requests, judge.cost.prompt_tokens, judge.cost.completion_tokens) == (3, 300, 21)
    url = server.url_for("/v1").replace("localhost", "127.0.0.1") + "/"
    make_judge("llm", model="grader", url=url, cache=str(cache), rubric="db3", check=False).judge([RIGHT])
    assert len(seen) == 5, "another server has verdicts of its own"


def test_a_fault_is_tried_again_and_what_stays_unscored_is_asked_by_the_next_run(
    server: HTTPServer, cache: Path
) -> None:
    right, boom = '{"accuracy": true}', Response("boom", status=500)
    sent: list[str | Response] = [right, "Yes, it is fine.", right, boom, "?", "?", "?", right, '{"accuracy": false}']
    answers = iter(sent)
    seen = replies(server, lambda claim: next(answers))
    judge = at(server, cache)
    (judgement,) = judge.judge([RIGHT])
    assert (judgement.verdict, "attempt 2" in judgement.reason) == (Verdict.CORRECT, True)
    first, second = (body["messages"][-1]["content"] for body in seen[1:])
    assert second.removeprefix(first).strip() == RUBRICS["db3"].reminder
    (unscored,) = judge.judge([WRONG])
    assert unscored.verdict is Verdict.UNSCORED
    assert "3 attempts: the reply cannot be read: '?'" in unscored.reason
    assert verdicts(at(server, cache), WRONG) == ["incorrect"]


def test_quotes_that_a_container_engine_keeps_are_no_part_of_the_judges_address_and_key(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = replies(server, lambda claim: '{"accuracy": true}')
    monkeypatch.setenv("OPENAI_BASE_URL", f'"{server.url_for("/v1")}"')
    monkeypatch.setenv("OPENAI_API_KEY", "'secret'")
    make_judge("llm", model="grader", cache="none")
    assert [body["key"] for body in seen] == ["Bearer secret"]


@pytest.mark.parametrize(("status", "body"), [(401, "bad key"), (403, "not yours"), (404, "no such model")])
def test_a_refusing_server_is_one_clear_error_at_once(server: HTTPServer, status: int, body: str) -> None:
    seen = replies(server, lambda claim: Response(body, status=status))
    with pytest.raises(UserError, match=rf"grader at http.*OPENAI_API_KEY.*status {status}: {body}"):
        at(server)
    assert len(seen) == 1


def test_nobody_at_the_address_and_no_key_for_the_public_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/v1") as caught:
        make_judge("llm", url="http://127.0.0.1:9/v1", cache="none")
    assert not [name for name in ("the-agents-own", "CRAG_LLM_URL") if name in str(caught.value)]
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        make_judge("llm", cache="none")
