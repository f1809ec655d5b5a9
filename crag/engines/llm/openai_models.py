"""Reads the list of models of a server, and chooses the one to ask."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from crag.core.text import clean
from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.openai_body import parse_json
from crag.settings import MODEL_VARIABLE

_NO_CHAT = re.compile(
    r"embed|rerank|\bbge-|\be5-|whisper|\btts\b|dall-e|moderation|stable-diffusion|\bclip\b|transcri", re.IGNORECASE
)
"""Names of models that write no text."""
_CHAT_USE = re.compile(r"chat|completion|generatecontent|text-generation|text-to-text|conversation", re.IGNORECASE)
"""Uses of a model that writes text, in the words of several services."""
_USES = ("task", "endpoints", "capabilities", "supportedGenerationMethods")
"""Fields of an entry that say what the model is for."""
_LISTS = ("data", "models", "result", "results", "items", "model_list", "model_names")
"""Fields of a reply that may hold the list."""
_NAMES = ("id", "name", "model", "model_name", "model_id", "key")
"""Fields of an entry that may hold the name."""
_NO_CHAT_TYPES = frozenset({"embedding", "embeddings", "reranker", "rerank", "audio", "image", "moderation"})
_MOST_NAMED = 20
"""Models that a message names; the others are counted."""


def is_listing(text: str) -> bool:
    """Whether a reply is a list of models, perhaps an empty one."""
    return read_entries(text) is not None


def read_only_model(listing: str, address: str, adapters: Collection[str] = (), cause: str = "") -> str:
    """The name of the only model in a reply of `models` that can be asked: no adapter, and none for embeddings.

    Raises EngineUnavailableError: the server has none or several, or the reply cannot be read (`cause`: why).
    """
    by_name = {_name_to_ask(entry): entry for entry in read_entries(listing) or []}
    names = list(by_name)
    if len(names) > 1:
        names = [name for name, entry in by_name.items() if _can_chat(name, entry) and name not in adapters] or names
    if len(names) > 1:
        # Servers that load models on demand list all that they could load.
        loaded = [name for name in names if _is_loaded(by_name[name])]
        names = loaded if len(loaded) == 1 else names

    if len(names) == 1:
        return names[0]
    if read_entries(listing) == []:
        raise EngineUnavailableError(
            f"the server at {address} has no model: load one there, or name one that it loads when asked, with "
            f"{MODEL_VARIABLE}=NAME"
        )
    reason = f" ({cause})" if cause else ""
    offered = describe_names(listing, names)
    if offered:
        raise EngineUnavailableError(f"the server at {address} offers {offered}: name one, with {MODEL_VARIABLE}=NAME")
    raise EngineUnavailableError(
        f"the server at {address} does not say which models it has{reason}: check the address, or name one, with "
        f"{MODEL_VARIABLE}=NAME"
    )


def describe_names(listing: str, names: Sequence[str] | None = None) -> str:
    """Names of models as they may be shown, those of the list if none are given; "" if there are none."""
    if names is None:
        names = [_name_to_ask(entry) for entry in read_entries(listing) or []]
    distinct_names = list(dict.fromkeys(map(_name_to_show, names)))
    other_count = len(distinct_names) - _MOST_NAMED
    and_more = f" and {other_count} more" if other_count > 0 else ""
    return f"{', '.join(distinct_names[:_MOST_NAMED])}{and_more}"


def read_entries(text: str) -> list[Any] | None:
    """The entries with a name of ``{"data": [...]}``, Ollama's and Gemini's ``{"models": [...]}``, or a bare list.

    An entry is a JSON object, or a name alone. None for anything else than a list.

    >>> read_entries('["small", {"id": "large"}, {}]')
    ['small', {'id': 'large'}]
    """
    listing = parse_json(text)
    if isinstance(listing, dict):
        listing = _find_list(listing)
    if not isinstance(listing, list):
        return None
    return [entry for entry in listing if _name_to_show(entry)]


def _find_list(listing: dict[str, Any]) -> list[Any] | None:
    """The models in the fields that servers use: the first that is not empty, also of an object inside."""
    models: list[Any] | None = None
    for field in _LISTS:
        value = listing.get(field)
        if isinstance(value, dict):
            value = _list_of_object(value, has_names=field == "models")
        if isinstance(value, list):
            models = models or value

    if models is None and listing.get("object") == "model":
        return [listing]
    return models


def _list_of_object(value: dict[str, Any], *, has_names: bool) -> list[Any] | None:
    """The models in the object that a field holds: in a list of its own, as the object itself, or by their names."""
    for field in _LISTS:
        inside = value.get(field)
        if isinstance(inside, list):
            return inside
    if value.get("object") == "model":
        return [value]
    # ``{"models": {"small": {...}}}``
    if has_names and all(isinstance(entry, dict) for entry in value.values()):
        return [{"id": name, **entry} for name, entry in value.items()]
    return None


def _name_of(entry: object) -> str:
    """The name of an entry as the server writes it; empty if there is none."""
    if isinstance(entry, Mapping):
        entry = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), "")
    return entry if isinstance(entry, str) else ""


def _name_to_ask(entry: object) -> str:
    """The name by which the server is asked for the model: its own, but without control characters."""
    name = _name_of(entry)
    return name if name.isprintable() else _name_to_show(name)


def _name_to_show(entry: object) -> str:
    """The name in one line, without control characters: it may reach a terminal. Empty if there is none."""
    return " ".join(clean(_name_of(entry), max_characters=200).split())


def _can_chat(name: str, entry: object) -> bool:
    if _NO_CHAT.search(name):
        return False
    if not isinstance(entry, Mapping):
        return True
    is_adapter = bool(entry.get("parent"))
    has_use = all(_includes_chat(entry[field]) for field in _USES if entry.get(field))
    return not is_adapter and entry.get("type") not in _NO_CHAT_TYPES and has_use


def _includes_chat(uses: object) -> bool:
    """Whether writing text is among the uses: a name, a list of them, or flags by name. Other forms do not tell."""
    if isinstance(uses, str):
        return _CHAT_USE.search(uses) is not None
    if isinstance(uses, list):
        names = [use for use in uses if isinstance(use, str)]
        return not names or any(map(_CHAT_USE.search, names))
    if isinstance(uses, Mapping):
        flags = [flag for use, flag in uses.items() if _CHAT_USE.search(str(use))]
        return not flags or any(flags)
    return True


def _is_loaded(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    if entry.get("loaded") is True:
        return True
    status = entry.get("status", entry.get("state"))
    value = status.get("value") if isinstance(status, Mapping) else status
    return value == "loaded"
