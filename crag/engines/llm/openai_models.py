"""Reads the list of models of a server, and chooses the one to ask."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from crag.core.text import clean
from crag.engines.llm.base import EngineUnavailableError
from crag.settings import MODEL_VARIABLE

_NO_CHAT = re.compile(
    r"embed|rerank|\bbge-|\be5-|whisper|\btts\b|dall-e|moderation|stable-diffusion|\bclip\b|transcri", re.IGNORECASE
)
"""Names of models that write no text."""
_NO_CHAT_TYPES = frozenset({"embedding", "embeddings", "reranker", "rerank", "audio", "image", "moderation"})
_MOST_NAMED = 20


def is_listing(text: str) -> bool:
    """Whether a reply is a list of models, perhaps an empty one."""
    return read_entries(text) is not None


def read_only_model(listing: str, address: str, adapters: Collection[str] = (), cause: str = "") -> str:
    """The name of the only model in a reply of `models` that can be asked: no adapter, and none for embeddings.

    Raises EngineUnavailableError: the server has none or several, or the reply cannot be read (`cause`: why).
    """
    entries = read_entries(listing) or []
    by_name = {_read_name(entry): entry for entry in entries}
    names = list(by_name)
    if len(names) > 1:
        names = [name for name, entry in by_name.items() if _can_chat(name, entry) and name not in adapters] or names
    if len(names) > 1:
        # Servers that load models on demand list all that they could load.
        loaded = [_read_name(entry) for entry in entries if _is_loaded(entry)]
        names = [name for name in names if name in loaded] if len(loaded) == 1 else names

    if len(names) == 1:
        return names[0]
    reason = f" ({cause})" if cause else ""
    and_more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    offer = (
        f"offers {', '.join(names[:_MOST_NAMED])}{and_more}" if names else f"does not say which models it has{reason}"
    )
    raise EngineUnavailableError(f"the server at {address} {offer}: name one, with {MODEL_VARIABLE}=NAME")


def read_entries(text: str) -> list[Any] | None:
    """The entries with a name of ``{"data": [...]}``, Ollama's and Gemini's ``{"models": [...]}``, or a bare list.

    An entry is a JSON object, or a name alone. None for anything else than a list.

    Example:
        read_entries('["small", {"id": "large"}, {}]')  # ["small", {"id": "large"}]
    """
    try:
        listing = json.loads(text.lstrip("\ufeff \r\n\t"))
    except (ValueError, RecursionError):
        return None
    if isinstance(listing, dict):
        listing = listing.get("data", listing.get("models"))
    if not isinstance(listing, list):
        return None
    return [entry for entry in listing if _read_name(entry)]


def _read_name(entry: object) -> str:
    """The name in one line, without control characters: it may reach a terminal. Empty if there is none."""
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in ("id", "name", "model") if isinstance(entry.get(key), str)), "")
    return " ".join(clean(entry, max_characters=200).split())


def _can_chat(name: str, entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return _NO_CHAT.search(name) is None
    is_adapter = bool(entry.get("parent"))
    return not is_adapter and entry.get("type") not in _NO_CHAT_TYPES and _NO_CHAT.search(name) is None


def _is_loaded(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    status = entry.get("status", entry.get("state"))
    value = status.get("value") if isinstance(status, Mapping) else status
    return value == "loaded"
