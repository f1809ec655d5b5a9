"""The client against real sockets: whatever the server does, a call ends in time, in a result or in a named error."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agents.common.deadline import Deadline
from agents.kg.client import FAILURES_THAT_BREAK, KgClient
from agents.kg.endpoints import Json, Request, request
from agents.kg.results import KgBusyError, KgError, KgReplyError, KgRequestError, KgTimeoutError, KgUnreachableError
from agents.kg.transport import Transport
from agents.settings import KgClientSettings
from tests.agents.kg.faulty_server import FAULTS, Fault, FaultyServer, unused_address

PATH = "/open/get_entity"
LONG = 30.0
"""A deadline that no test means to reach."""


def settings(**changed: Any) -> KgClientSettings:
    return KgClientSettings(**{"connect_seconds": 1.0, "read_seconds": 5.0, "concurrency": 4} | changed)


def ask(name: str) -> Request:
    return request(PATH, query=name)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        server.results[PATH] = lambda payload: {"name": payload["query"]}
        yield server


ERRORS: dict[Fault, type[KgError]] = {
    "drop": KgUnreachableError,
    "reset_in_body": KgUnreachableError,
    "hang": KgTimeoutError,
    "drip_headers": KgTimeoutError,
    "drip_body": KgTimeoutError,
    "truncated": KgReplyError,
    "not_json": KgReplyError,
    "no_result": KgReplyError,
    "huge": KgReplyError,
    "endless": KgReplyError,
    "deep": KgReplyError,
    "redirect": KgReplyError,
    "redirect_endless": KgReplyError,
    "404": KgRequestError,
    "405": KgRequestError,
    "422": KgRequestError,
    "500": KgReplyError,
    "503": KgBusyError,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_named_error_and_passes(server: FaultyServer, fault: Fault) -> None:
    server.results["/finance/get_eps"] = 22.95
    # One thread: were it lost to this fault, nothing could be asked any more.
    with KgClient(server.url, settings(concurrency=1, read_seconds=0.3, connect_seconds=0.3)) as client:
        server.fault = fault
        with client.batch(Deadline(LONG)) as batch, pytest.raises(KgError, match="/finance/get_eps") as caught:
            batch.question(9).get(request("/finance/get_eps", query="META"))
        assert type(caught.value) is ERRORS.get(fault, KgReplyError)
        server.fault = None
        with client.batch(Deadline(LONG)) as batch:
            assert batch.question(9).get(request("/finance/get_eps", query="META")) == 22.95
    assert all(payload != "GET" for _, payload in server.requests), "a redirect was followed"


@pytest.mark.parametrize("address", ["", "localhost:8000", "ftp://localhost", "http://"])
def test_what_is_no_address_is_said_at_once(address: str) -> None:
    with pytest.raises(ValueError, match=r"http|URL"):
        KgClient(address, settings())


def test_proxies_of_the_environment_are_not_used(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, unused_address())
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with KgClient(server.url, settings()) as client, client.batch(Deadline(LONG)) as batch:
        assert batch.question(9).get(ask("a")) == {"name": "a"}


@pytest.mark.parametrize(
    ("fault", "attempts", "received"), [("drop", 2, 2), ("503", 2, 2), ("503", 1, 1), ("500", 2, 1), ("hang", 2, 1)]
)
def test_only_what_may_pass_is_tried_again(server: FaultyServer, fault: Fault, attempts: int, received: int) -> None:
    server.fault, server.faulty_requests = fault, 1
    limits = settings(max_attempts=attempts, read_seconds=0.5)
    with KgClient(server.url, limits) as client, client.batch(Deadline(LONG)) as batch:
        [result] = batch.question(9).get_all([ask("a")])
    assert len(server.requests) == received
    assert (result == {"name": "a"}) == (received == 2)


def test_connections_are_kept(server: FaultyServer) -> None:
    with KgClient(server.url, settings(concurrency=2)) as client:
        for number in range(3):
            with client.batch(Deadline(LONG)) as batch:
                batch.question(9).get_all([ask(f"{number} {name}") for name in "abcdef"])
    assert len(server.requests) == 18
    assert server.connections <= 2


def test_sixteen_questions_share_bound_and_cache(server: FaultyServer) -> None:
    """Each asks 6 own things and 4 that all ask: 16 x 6 + 4 calls, never more than 4 at once, all in order."""
    server.seconds = 0.01
    with KgClient(server.url, settings()) as client, client.batch(Deadline(LONG)) as batch:

        def run(number: int) -> tuple[bool, int]:
            names = [f"{number} {name}" for name in "abcdef"] + list("wxyz")
            question = batch.question(10)
            results = question.get_all([ask(name) for name in names])
            return results == [{"name": name} for name in names], question.calls

        with ThreadPoolExecutor(16) as threads:
            outcomes = list(threads.map(run, range(16)))
    assert all(right for right, _ in outcomes)
    assert len(server.requests) == sum(calls for _, calls in outcomes) == 100
    assert 1 < server.most_at_once <= 4


def test_a_long_list_does_not_shut_the_other_questions_out(server: FaultyServer) -> None:
    server.seconds = 0.02
    with KgClient(server.url, settings(concurrency=2)) as client, ThreadPoolExecutor(1) as threads:
        batch = client.batch(Deadline(LONG))
        long = threads.submit(batch.question(200).get_all, [ask(f"{number}") for number in range(200)])
        while not server.requests:
            time.sleep(0.001)
        batch.question(1).get(ask("other"))
        long.result(timeout=LONG)
    assert [payload["query"] for _, payload in server.requests].index("other") < 150


def test_a_new_batch_asks_anew(server: FaultyServer) -> None:
    with KgClient(server.url, settings()) as client:
        for _ in range(2):
            with client.batch(Deadline(LONG)) as batch:
                batch.question(1).get(ask("a"))
    assert len(server.requests) == 2


@pytest.mark.parametrize(("fault", "received"), [("500", 1), ("422", 1), ("truncated", 1), ("503", 2), ("drop", 2)])
def test_lasting_faults_are_remembered_and_passing_ones_not(server: FaultyServer, fault: Fault, received: int) -> None:
    server.fault = fault
    with KgClient(server.url, settings(max_attempts=1)) as client, client.batch(Deadline(LONG)) as batch:
        for _ in range(2):
            with pytest.raises(KgError):
                batch.question(9).get(ask("a"))
    assert len(server.requests) == received


def test_a_question_is_held_to_its_calls_but_the_cache_is_free(server: FaultyServer) -> None:
    with KgClient(server.url, settings()) as client, client.batch(Deadline(LONG)) as batch:
        question = batch.question(2)
        *good, refused = question.get_all([ask("a"), ask("b"), ask("a"), ask("c")])
        assert good == [{"name": "a"}, {"name": "b"}, {"name": "a"}]
        assert "used up its calls" in str(refused)
        assert question.calls == 2
        assert batch.question(1).get(ask("c")) == {"name": "c"}, "one question's limit is not another's"
        assert question.get(ask("c")) == {"name": "c"}


@pytest.mark.parametrize("fault", ["hang", "drip_headers", "drip_body"])
def test_the_deadline_ends_the_wait_and_frees_the_threads(server: FaultyServer, fault: Fault) -> None:
    with KgClient(server.url, settings(concurrency=2, read_seconds=30.0)) as client:
        server.fault = fault
        started = time.monotonic()
        with client.batch(Deadline(0.4)) as batch:
            results = batch.question(99).get_all([ask(f"{number}") for number in range(20)])
        assert time.monotonic() - started < 25  # the reading's own limit is 30 s
        assert all(isinstance(result, KgUnreachableError) for result in results)
        assert len(server.requests) <= 2, "calls that were waiting went out after the deadline"
        server.fault = None
        with client.batch(Deadline(LONG)) as batch:
            assert batch.question(1).get(ask("a")) == {"name": "a"}


def test_a_name_that_takes_for_ever_to_look_up(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """No timeout of the library covers this one: the caller leaves the thread behind."""
    found = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found.wait() and [])
    with KgClient(server.url, settings()) as client, pytest.raises(KgUnreachableError, match="was over"):
        client.batch(Deadline(0.2)).question(1).get(ask("a"))
    found.set()


def test_nothing_is_sent_once_it_is_over(server: FaultyServer) -> None:
    with KgClient(server.url, settings()) as client:
        late = client.batch(Deadline(0)).question(9)
        with client.batch(Deadline(LONG)) as batch:
            left = batch.question(9)
        orphan = client.batch(Deadline(LONG)).question(9)
        for question in (late, left):
            with pytest.raises(KgUnreachableError, match="is over"):
                question.get(ask("a"))
    with pytest.raises(KgUnreachableError, match="closed"):
        orphan.get(ask("a"))
    assert server.requests == []


def test_closing_wakes_those_who_wait(server: FaultyServer) -> None:
    server.fault = "hang"
    client = KgClient(server.url, settings(concurrency=1, read_seconds=2.0))
    question = client.batch(Deadline(LONG)).question(9)
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(question.get_all, [ask(name)]) for name in "ab"]
        while question.calls < 2 or not server.requests:
            time.sleep(0.01)
        client.close()
        results = [result for one in waiting for result in one.result()]
    assert all(isinstance(result, KgUnreachableError) for result in results)
    assert len(server.requests) == 1


class TestDeadServer:
    """After three calls in a row without a reply the batch stops asking."""

    def test_the_rest_of_the_batch_fails_at_once(self, server: FaultyServer) -> None:
        server.fault = "hang"
        limits = settings(concurrency=1, read_seconds=0.3)
        with KgClient(server.url, limits) as client, ThreadPoolExecutor(16) as threads:
            batch = client.batch(Deadline(LONG))
            calls = [[ask(f"{number} {name}") for name in "abcdefgh"] for number in range(16)]
            results = [result for some in threads.map(batch.question(999).get_all, calls) for result in some]
        assert all(isinstance(result, KgUnreachableError) for result in results)
        assert sum("stopped answering" in str(result) for result in results) == len(results) - FAILURES_THAT_BREAK
        assert len(server.requests) == FAILURES_THAT_BREAK

    def test_the_next_batch_tries_once(self, server: FaultyServer) -> None:
        received = []
        faults: tuple[Fault | None, ...] = ("drop", "drop", None, "drop")
        with KgClient(server.url, settings(max_attempts=1)) as client:
            for fault in faults:
                server.fault = fault
                before = len(server.requests)
                with client.batch(Deadline(LONG)) as batch:
                    for number in range(5):
                        batch.question(1).get_all([ask(f"{number}")])
                received.append(len(server.requests) - before)
        assert received == [FAILURES_THAT_BREAK, 1, 5, FAILURES_THAT_BREAK]

    def test_a_reply_in_between_starts_the_count_anew(self, server: FaultyServer) -> None:
        with KgClient(server.url, settings(max_attempts=1)) as client, client.batch(Deadline(LONG)) as batch:
            for number in range(10):
                server.fault = "drop" if number % 3 else "500"
                batch.question(1).get_all([ask(f"{number}")])
        assert len(server.requests) == 10

    def test_a_slow_server_is_not_a_dead_one(self, server: FaultyServer) -> None:
        """Five calls time out together, but a sixth that was sent with them was answered meanwhile."""
        server.results[PATH] = lambda payload: None if payload["query"] == "quick" else server.stopped.wait(20)
        limits = settings(concurrency=6, read_seconds=1.5)
        with KgClient(server.url, limits) as client, client.batch(Deadline(LONG)) as batch:
            *slow, quick = batch.question(9).get_all([ask(name) for name in [*"abcde", "quick"]])
        assert quick is None
        assert all(isinstance(result, KgTimeoutError) for result in slow)
        assert not batch.broken


def test_calls_that_hang_cost_the_next_batch_no_thread(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a name lookup does, which no timeout reaches."""
    inside, release, ask_server = threading.Semaphore(0), threading.Event(), Transport.ask

    def hang(transport: Transport, path: str, payload: Mapping[str, Any], deadline: Deadline) -> Json:
        if str(payload["query"]).startswith("hang"):
            inside.release()
            release.wait(600)
        return ask_server(transport, path, payload, deadline)

    monkeypatch.setattr(Transport, "ask", hang)
    with KgClient(server.url, settings(concurrency=2)) as client:
        first = client.batch(Deadline(LONG)).question(9)
        threading.Thread(target=first.get_all, args=([ask("hang 1"), ask("hang 2")],), daemon=True).start()
        assert inside.acquire(timeout=600)
        assert inside.acquire(timeout=600)
        with client.batch(Deadline(LONG)) as batch:
            assert batch.question(9).get(ask("a")) == {"name": "a"}
        release.set()


def test_threads_do_not_outlive_the_client(server: FaultyServer) -> None:
    with KgClient(server.url, settings()) as client, client.batch(Deadline(LONG)) as batch:
        batch.question(9).get_all([ask(name) for name in "abcd"])
    for thread in threading.enumerate():
        if thread.name.startswith("knowledge-graph"):
            thread.join()
            assert not thread.is_alive()
