"""An engine that does not sleep, and asks no proxy."""

import asyncio

import pytest

from crag.engines.llm import openai_server

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the engine would have waited."""
    seconds: list[float] = []

    async def pause(asked: float) -> None:
        seconds.append(asked)
        await asyncio.sleep(0)

    monkeypatch.setattr(openai_server, "pause", pause)
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return seconds
