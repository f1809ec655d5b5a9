"""Proxies that the environment names."""

import pytest
from pytest_httpserver import HTTPServer

from crag.core.deadline import Deadline
from crag.engines.llm import EngineUnavailableError, LanguageModelDiedError
from crag.engines.llm.openai_address import parse_address
from crag.engines.llm.openai_transport import find_proxy
from tests.engines.llm.openai_servers.fakes import ASKED, ask_one, model_at, serve


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks://127.0.0.1:9", "http://127.0.0.1:9"])
@pytest.mark.parametrize("variable", ["all_proxy", "HTTP_PROXY"])
def test_a_server_on_this_machine_is_asked_directly(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, proxy: str, variable: str
) -> None:
    monkeypatch.setenv(variable, proxy)
    serve(server, lambda *_: None)
    assert ask_one(server).text == "Ida Larsen"


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("socks4://me:pass-word@127.0.0.1:9", r"the proxy socks4://127\.0\.0\.1:9 of HTTP_PROXY cannot be used"),
        (
            "http://me:pass-word@proxy:port",
            r"the proxy http://proxy:port of HTTP_PROXY cannot be used: it is not an ad",
        ),
        ("http://[::1", r"the proxy http://\[::1 of HTTP_PROXY cannot be used: it is not an address"),
        (
            "http://me:pass-word@127.0.0.1:9",
            r"asked through the proxy http://127\.0\.0\.1:9 of HTTP_PROXY; NO_PROXY=10\.",
        ),
    ],
)
def test_a_proxy_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, proxy: str, said: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(EngineUnavailableError, match=said) as raised:
        model_at("http://10.255.0.1:9/v1").warm_up()
    assert "pass-word" not in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(LanguageModelDiedError, match="the proxy"):
        model_at("http://10.255.0.1:9/v1").generate([ASKED], Deadline(600))


@pytest.mark.parametrize("exempt", ["host.example", ".example", "10.0.0.0/8", "10.255.0.1", "*"])
def test_hosts_that_the_environment_exempts_are_asked_directly(monkeypatch: pytest.MonkeyPatch, exempt: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", f"other, {exempt}")
    hosts = ["10.255.0.1"] if exempt.startswith("10") else ["host.example"]
    assert [find_proxy(parse_address(f"http://{host}:8000/v1")) for host in hosts] == [None]
    proxied = find_proxy(parse_address("http://192.0.2.1/v1"))
    assert (proxied is None) == (exempt == "*")


def test_a_server_behind_a_proxy_is_reached(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers in its place."""
    monkeypatch.setenv("HTTP_PROXY", server.url_for("/"))
    serve(server, lambda *_: None)
    (generation,) = model_at("http://model.example:8000/v1").generate([ASKED], Deadline(600))
    assert generation.text == "Ida Larsen"
