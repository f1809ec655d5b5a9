import pytest

from crag.engines.llm import EngineUnavailableError
from crag.engines.llm.openai_address import is_loopback, parse_address

ADDRESSES = [
    ("http://host:1", "http://host:1/v1"),
    ("http://host:1/", "http://host:1/v1"),
    ("http://host:1/v1", "http://host:1/v1"),
    ("http://host:1/v1/", "http://host:1/v1"),
    ("http://host:1//v1//", "http://host:1/v1"),
    ("http://host:1/v1/chat/completions", "http://host:1/v1"),
    ("http://host:1/v1/completions/", "http://host:1/v1"),
    ("http://host:1/v1/models", "http://host:1/v1"),
    ("http://host:1/api/chat", "http://host:1/v1"),
    ("http://host:1/completion", "http://host:1/v1"),
    ("http://host:1/docs", "http://host:1/v1"),
    ("http://host:1/v1/chat/completion", "http://host:1/v1"),
    ("<http://host:1/v1>,", "http://host:1/v1"),
    ("http://0:8080", "http://127.0.0.1:8080/v1"),
    ("http://host:1/openai/v1", "http://host:1/openai/v1"),
    ("https://host/api/paas/v4", "https://host/api/paas/v4"),
    ("http://host:1/#/chat", "http://host:1/v1"),
    ("localhost:8080", "http://localhost:8080/v1"),
    ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
    ("[::1]:8080/v1", "http://[::1]:8080/v1"),
    (":8080", "http://127.0.0.1:8080/v1"),
    ("8080", "http://127.0.0.1:8080/v1"),
    ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
    ("api.example.com/v1", "https://api.example.com/v1"),
    (' "http://host/v1" ', "http://host/v1"),
    ("https://h/openai/deployments/mini/chat/completions?api-version=1", "https://h/openai/deployments/mini"),
]


@pytest.mark.parametrize(("written", "first"), ADDRESSES)
def test_an_address_is_read_as_people_write_it(written: str, first: str) -> None:
    assert parse_address(written).candidates[0] == first


def test_other_places_are_tried_after_the_given_one() -> None:
    assert parse_address("http://host/llm").candidates[:4] == (
        "http://host/llm",
        "http://host/llm/v1",
        "http://host/v1",
        "http://host",
    )
    assert "http://host/v1beta/openai" in parse_address("http://host/v1beta").candidates
    assert parse_address("https://host/models/chat/completions").candidates[0] == "https://host/models"
    # An endpoint of most servers, and the place of the interface at one
    assert parse_address("https://host/models").candidates[0] == "https://host/v1"
    assert "https://host/models" in parse_address("https://host/models/").candidates
    assert {"http://host:1/v3", "http://host:1/engines/v1"} < set(parse_address("host:1").candidates)


def test_a_deployment_names_the_model_and_has_a_version() -> None:
    address = parse_address("https://h/openai/deployments/mini")
    assert (address.deployment, address.candidates) == ("mini", ("https://h/openai/deployments/mini",))
    assert "api-version" in address.query
    assert parse_address("https://h/openai/deployments/mini?api-version=7").query == {"api-version": "7"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "ftp://host/v1",
        "http:/host",
        "http//host/v1",
        "http://host:99999/v1",
        "http://me:p/ssword@host",
        "http://<host>:8000/v1",
        "http://my host:8000",
        "unix:///run/x.sock",
        "CRAG_LLM_URL=http://h:1",
        "http://h:port",
    ],
)
def test_what_is_no_address_is_told_without_its_password(text: str) -> None:
    with pytest.raises(
        EngineUnavailableError, match=r"is not an address such as http://127\.0\.0\.1:8000/v1"
    ) as raised:
        parse_address(text)
    assert "ssword" not in str(raised.value)


def test_loopback_is_this_machine() -> None:
    assert all(
        map(
            is_loopback,
            ("localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "a.localhost", "127.1", "::ffff:127.0.0.1"),
        )
    )
    assert not any(map(is_loopback, ("10.0.0.1", "example.com", "localhost.example.com")))
