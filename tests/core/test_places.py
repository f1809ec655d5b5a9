import os
from pathlib import Path

import pytest

from crag.core.places import expand_home, home_folder


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs under a number that is no user's."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)


@pytest.mark.usefixtures("no_home")
def test_a_user_without_a_home_has_the_root() -> None:
    assert home_folder() == Path("/")
    assert expand_home("~/models") == Path("/models")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("~", "/home/ida"),
        ("~/models", "/home/ida/models"),
        ("models/~x", "models/~x"),
        ("/a b", "/a b"),
        ("~no-such-user/x", "~no-such-user/x"),
        ("~5 km", "~5 km"),
    ],
)
def test_a_tilde_is_a_home_only_before_a_user(monkeypatch: pytest.MonkeyPatch, written: str, path: str) -> None:
    monkeypatch.setenv("HOME", "/home/ida")
    assert expand_home(written) == Path(path)
