"""The client against real sockets: whatever the server does, a request ends in time, in a result or a named error."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.deadline import Deadline
from crag.graph.client import FAILURES_THAT_BREAK, KgClient, KgSession, RequestLimits, read_result
from crag.graph.endpoints import Json, Request, build_request
from crag.graph.results import KgBusyError, KgError, KgReplyError, KgRequestError, KgTimeoutError, KgUnreachableError
from tests.graph.faulty_server import FAULTS, Fault, FaultyServer, unused_address
from tests.hang_guard import HANG_SECONDS, finish

PATH = "/open/get_entity"
LONG = 30.0
"""A deadline that no test means to reach."""


def limits(**changed: Any) -> RequestLimits:
    return RequestLimits(**{"seconds": 6.0, "concurrency": 4} | changed)


def ask(name: str) -> Request:
    return build_request(PATH, query=name)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        server.results[PATH] = lambda payload: {"name": payload["query"]}
        yield server


@pytest.fixture
def client(server: FaultyServer) -> Iterator[KgClient]:
    with KgClient(server.url, limits()) as client:
        yield client


def get(client: KgClient, request: Request) -> Json:
    batch = client.batch(Deadline(LONG))
    return KgSession(batch, 9).get(request)


ERRORS: dict[Fault, type[KgError]] = {
    "drop": KgUnreachableError,
    "reset_in_body": KgUnreachableError,
    "hang": KgTimeoutError,
    "drip_headers": KgTimeoutError,
    "drip_body": KgTimeoutError,
    "422": KgRequestError,
    "503": KgBusyError,
}
"""All others are unusable replies."""


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_named_error_and_passes(server: FaultyServer, fault: Fault) -> None:
    server.results["/finance/get_eps"] = 22.95
    request = build_request("/finance/get_eps", query="META")
    # One request at a time: were it never to end, nothing could be asked any more.
    with KgClient(server.url, limits(concurrency=1, seconds=0.6)) as client:
        server.fault = fault
        with pytest.raises(KgError, match="/finance/get_eps") as caught:
            get(client, request)
        assert type(caught.value) is ERRORS.get(fault, KgReplyError)
        server.fault = None
        assert get(client, request) == 22.95
    assert all(payload != "GET" for _, payload in server.requests), "a redirect was followed"


def test_proxies_of_the_environment_are_not_used(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, unused_address())
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with KgClient(server.url) as client:
        assert get(client, ask("a")) == {"name": "a"}


def test_sixteen_questions_share_bound_and_cache(server: FaultyServer, client: KgClient) -> None:
    """Each asks 6 own things and 4 that all ask: 16 x 6 + 4 requests, never more than 4 at once, all in order."""
    server.seconds = 0.01
    batch = client.batch(Deadline(LONG))

    def run(number: int) -> tuple[bool, int]:
        names = [f"{number} {name}" for name in "abcdef"] + list("wxyz")
        question = KgSession(batch, 10)
        results = question.get_all([ask(name) for name in names])
        return results == [{"name": name} for name in names], question.sent_count

    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(run, range(16)))
    assert all(right for right, _ in outcomes)
    assert len(server.requests) == sum(sent for _, sent in outcomes) == 100
    assert 1 < server.most_at_once <= 4


@pytest.mark.parametrize(
    ("fault", "tries"), [("500", 1), ("422", 1), ("truncated", 1), ("hang", 1), ("503", 2), ("drop", 2)]
)
def test_only_what_may_pass_is_tried_again_and_forgotten(server: FaultyServer, fault: Fault, tries: int) -> None:
    server.fault, server.faulty_requests = fault, tries
    with KgClient(server.url, limits(seconds=0.5)) as client:
        batch = client.batch(Deadline(LONG))
        assert isinstance(KgSession(batch, 9).get_all([ask("a")])[0], KgError)
        assert len(server.requests) == tries
        [again] = KgSession(batch, 9).get_all([ask("a")])
    assert (again == {"name": "a"}) is (fault in {"hang", "503", "drop"})


def test_a_question_is_held_to_its_requests_but_the_cache_is_free(client: KgClient) -> None:
    batch = client.batch(Deadline(LONG))
    question = KgSession(batch, 2)
    *good, refused = question.get_all([ask("a"), ask("b"), ask("a"), ask("c")])
    assert good == [{"name": "a"}, {"name": "b"}, {"name": "a"}]
    assert "used up its requests" in str(refused)
    assert question.sent_count == 2
    assert KgSession(batch, 1).get(ask("c")) == {"name": "c"}, "one question's limit is not another's"
    assert question.get(ask("c")) == {"name": "c"}


@pytest.mark.parametrize("fault", ["hang", "drip_headers", "drip_body"])
def test_the_deadline_ends_the_wait_and_frees_the_connections(server: FaultyServer, fault: Fault) -> None:
    forever = 10 * HANG_SECONDS
    with KgClient(server.url, limits(concurrency=2, seconds=forever)) as client:
        server.fault = fault
        batch = client.batch(Deadline(0.4))
        session = KgSession(batch, 99)
        results = finish(lambda: session.get_all([ask(f"{number}") for number in range(20)]))
        assert all(isinstance(result, KgUnreachableError) for result in results)
        assert len(server.requests) <= 2, "requests that were waiting went out after the deadline"
        server.fault = None
        assert get(client, ask("a")) == {"name": "a"}


def test_a_name_that_takes_for_ever_to_look_up_costs_neither_this_batch_nor_the_next(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No timeout stops it: its threads are left behind."""
    release, look_up = threading.Event(), socket.getaddrinfo
    with monkeypatch.context() as stuck:
        stuck.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait() and [])
        client = KgClient(server.url.replace("127.0.0.1", "localhost"), limits(concurrency=20))
        batch = client.batch(Deadline(0.3))
        results = KgSession(batch, 99).get_all([ask(f"{number}") for number in range(20)])
        assert all(isinstance(result, KgUnreachableError) for result in results)
    assert socket.getaddrinfo is look_up
    assert get(client, ask("a")) == {"name": "a"}
    client.close()
    release.set()


def test_nothing_is_sent_once_it_is_over(server: FaultyServer) -> None:
    with KgClient(server.url) as client:
        late = KgSession(client.batch(Deadline(0)), 9)
        orphan = KgSession(client.batch(Deadline(LONG)), 9)
        with pytest.raises(KgUnreachableError, match=r"(is|was) over"):
            late.get(ask("a"))
    with pytest.raises(KgUnreachableError, match="closed"):
        orphan.get(ask("a"))
    assert server.requests == []


def test_closing_wakes_those_who_wait_and_leaves_no_thread(server: FaultyServer) -> None:
    server.fault = "hang"
    client = KgClient(server.url, limits(concurrency=1))
    question = KgSession(client.batch(Deadline(LONG)), 9)
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(question.get_all, [ask(name)]) for name in "ab"]
        while question.sent_count < 2 or not server.requests:
            time.sleep(0.01)
        client.close()
        results = [result for one in waiting for result in one.result()]
    assert all(isinstance(result, KgUnreachableError) for result in results)
    assert len(server.requests) == 1
    assert "knowledge-graph" not in {thread.name for thread in threading.enumerate()}


class TestDeadServer:
    """After three requests in a row without a reply the batch stops asking."""

    def test_the_rest_of_the_batch_fails_at_once(self, server: FaultyServer) -> None:
        server.fault = "hang"
        with KgClient(server.url, limits(concurrency=1, seconds=0.3)) as client, ThreadPoolExecutor(16) as threads:
            batch = client.batch(Deadline(LONG))
            requests = [[ask(f"{number} {name}") for name in "abcdefgh"] for number in range(16)]
            results = [result for some in threads.map(KgSession(batch, 999).get_all, requests) for result in some]
        assert all(isinstance(result, KgUnreachableError) for result in results)
        assert sum("stopped answering" in str(result) for result in results) == len(results) - FAILURES_THAT_BREAK
        assert len(server.requests) == FAILURES_THAT_BREAK

    def test_the_next_batch_tries_once(self, server: FaultyServer, client: KgClient) -> None:
        failed = []
        faults: tuple[Fault | None, ...] = ("drop", "drop", None, "drop")
        for fault in faults:
            server.fault = fault
            before = len(server.requests)
            batch = client.batch(Deadline(LONG))
            for number in range(5):
                KgSession(batch, 1).get_all([ask(f"{number}")])
            failed.append((len(server.requests) - before) / (2 if fault else 1))
        assert failed == [FAILURES_THAT_BREAK, 1, 5, FAILURES_THAT_BREAK]

    def test_a_slow_server_is_not_a_dead_one(self, server: FaultyServer) -> None:
        """Five requests time out together, but a sixth that was sent with them was answered meanwhile."""
        server.results[PATH] = lambda payload: None if payload["query"] == "quick" else server.stopped.wait(20)
        with KgClient(server.url, limits(concurrency=6, seconds=1.5)) as client:
            batch = client.batch(Deadline(LONG))
            *slow, quick = KgSession(batch, 9).get_all([ask(name) for name in [*"abcde", "quick"]])
        assert quick is None
        assert all(isinstance(result, KgTimeoutError) for result in slow)
        assert not batch.broken


@given(st.binary() | st.binary().map(lambda noise: b'{"result": ' + noise + b"}"))
def test_a_body_of_any_bytes_is_a_result_or_a_reply_error(body: bytes) -> None:
    with suppress(KgReplyError):
        read_result(PATH, body)


@pytest.mark.parametrize("escape", [r"\ud83d", r"\uDE00", r"\uD800x"])
def test_half_a_character_cannot_be_passed_on_and_two_halves_are_one(escape: str) -> None:
    read = str(read_result("/finance/get_ticker_by_name", f'{{"result": "a{escape}"}}'.encode()))
    assert read.encode().decode() == read
    assert read_result("/music/get_members", rb'{"result": ["\uD83D\uDE00"]}') == ["\N{GRINNING FACE}"]
    assert read_result(PATH, b'{"result": {"a": NaN, "b": -Infinity}}') == {"a": None, "b": None}
