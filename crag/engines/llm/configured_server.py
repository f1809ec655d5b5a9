"""The OpenAI-compatible server that settings and environment name together."""

import os

from crag.settings import OpenAIEngine


def configured_url(settings: OpenAIEngine) -> str:
    """The server's address as the user wrote it: the environment variable's, else the settings'."""
    return os.environ.get(settings.base_url_variable, "").strip() or settings.base_url


def configured_key(settings: OpenAIEngine) -> str:
    """The key from the environment; "" if the server needs none."""
    return os.environ.get(settings.api_key_variable, "").strip()
