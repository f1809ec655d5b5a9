"""An engine that does not sleep, and asks no proxy."""

import pytest

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch, pauses: list[float]) -> None:
    """Every test runs without the proxies of this machine, and without pauses."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
