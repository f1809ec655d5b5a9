"""The OpenAI-compatible server that settings and environment name together."""

import re

from crag.core.environment import read_variable
from crag.settings import OpenAIEngine


def configured_url(settings: OpenAIEngine) -> str:
    """The server's address as the user wrote it: the environment variable's, else the settings'."""
    return read_variable(settings.base_url_variable) or settings.base_url


def configured_key(settings: OpenAIEngine) -> str:
    """The key from the environment, without quotes and the header before it; "" if the server needs none."""
    key = read_variable(settings.api_key_variable).strip("\"'")
    return re.sub(r"\A(?:(?:authorization|(?:x-)?api-key):\s*)?(?:bearer\s+)?", "", key, flags=re.IGNORECASE)
