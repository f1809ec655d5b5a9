"""The OpenAI-compatible server that settings and environment name together."""

import os
import re

from crag.settings import OpenAIEngine


def configured_url(settings: OpenAIEngine) -> str:
    """The server's address as the user wrote it: the environment variable's, else the settings'."""
    return os.environ.get(settings.base_url_variable, "").strip() or settings.base_url


def configured_key(settings: OpenAIEngine) -> str:
    """The key from the environment, without quotes and a scheme before it; "" if the server needs none."""
    key = os.environ.get(settings.api_key_variable, "").strip().strip("\"'")
    return re.sub(r"\A(?:authorization:\s?)?bearer\s+", "", key, flags=re.IGNORECASE)
