"""What a language model server says it serves: two servers may serve different models under one name.

Read are the list of models of OpenAI's protocol, and beside it what llama.cpp (`/props`) and Ollama (`/api/tags`) tell.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated

import httpx2
from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field, ValidationError

from crag.core.deadline import Deadline
from crag.core.text import clean
from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.configured_server import configured_key, configured_url
from crag.engines.llm.openai_address import ServerAddress, parse_address
from crag.engines.llm.openai_body import is_whole_reply
from crag.engines.llm.openai_models import read_entries
from crag.engines.llm.openai_transport import find_proxy, read_certificates
from crag.settings import OpenAIEngine

_SECONDS_PER_REQUEST = 5.0
"""Time limit of each of the three requests: for a connection, for the next bytes, and for the whole reply."""
_LARGEST_REPLY = 1_000_000
"""Bytes of a reply that are read: hosted services list hundreds of models."""
_LOADING_STATUSES = frozenset({502, 503, 504})
"""Statuses of a server that still loads its model, or of a gateway before it."""

_VERSION = re.compile(r"/v[0-9][a-z0-9]{0,8}\Z")
"""The end of an address that names the protocol's version."""


def describe_served_model(settings: OpenAIEngine) -> str | None:
    """Name, address, and what the server tells of file, quantisation, size and context; None if it does not reply.

    A server that still loads its model (status 503) counts as one that does not reply. One that replies otherwise, but
    tells nothing, has a name and an address all the same.

    Example:
        describe_served_model(OpenAIEngine(engine="openai"))
        # "qwen2.5-1.5b at http://127.0.0.1:8080/v1, file qwen2.5-1.5b-q4_k_m.gguf, Q4_K_M, context 4096"
    """
    try:
        address = parse_address(configured_url(settings))
    except EngineUnavailableError:
        return None

    key = configured_key(settings) or "not-needed"
    try:
        with _client(address, key) as client:
            models = _list_models(client, address)
            properties = _NO_PROPERTIES
            tags: Sequence[_Model] = ()
            # Both stand beside the protocol's own paths, of which a server may know nothing
            server_root = _VERSION.sub("", address.candidates[0])
            with suppress(httpx2.HTTPError):
                properties = _read_properties(_get(client, f"{server_root}/props"))
            with suppress(httpx2.HTTPError):
                tags = _read_models(_get(client, f"{server_root}/api/tags")) or tags
    except (httpx2.HTTPError, httpx2.InvalidURL, EngineUnavailableError, ValueError):  # of a proxy: it cannot be used
        return None

    model = _find_model(models, settings.model)
    tag = _find_model(tags, settings.model or model.name)
    name = _last_part(settings.model or model.name or "?")
    facts = _list_facts(model, tag, properties)
    served_name = _last_part(model.name or "")
    if served_name not in {"", name}:
        facts.insert(0, f"which the server calls {served_name}")
    return ", ".join([f"{name} at {address.candidates[0]}", *facts])


def describe_listed_model(listing: str, name: str) -> str | None:
    """What a list of models (its body) says of a model, without address: alike before and after a restart.

    None if the list cannot be read or has neither this model nor only one.

    >>> describe_listed_model('{"data": [{"id": "small", "max_model_len": 4096, "created": 17}]}', "small")
    'small, context 4096'
    """
    models = _read_models(listing)
    if models is None:
        return None
    model = _find_model(models, _read_text(name))
    facts = _list_facts(model, _NO_MODEL, _NO_PROPERTIES)
    return ", ".join([_last_part(model.name), *facts]) if model.name else None


def _client(address: ServerAddress, key: str) -> httpx2.Client:
    """A client that logs in as the address says, else with the key.

    Raises EngineUnavailableError: of a proxy or certificates.
    """
    proxy = find_proxy(address)
    return httpx2.Client(
        timeout=_SECONDS_PER_REQUEST,
        params=dict(address.query),
        auth=(address.user, address.password) if address.user else None,
        headers={} if address.user else {"Authorization": f"Bearer {key}"},
        follow_redirects=True,
        # The same way as the questions go: the library would not start for a proxy that NO_PROXY exempts
        transport=httpx2.HTTPTransport(verify=read_certificates(address), proxy=proxy.url if proxy else None),
    )


def _list_models(client: httpx2.Client, address: ServerAddress) -> "Sequence[_Model]":
    """The first list that one of the possible addresses gives."""
    for candidate in address.candidates:
        models = _read_models(_get(client, f"{candidate}/models"))
        if models is not None:
            return models
    return ()


# --- what servers send ------------------------------------------------------------------------------------------------


def _read_text(value: object) -> str | None:
    """A name or a number in one line without control characters: it may reach a terminal."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = " ".join(clean(str(value), max_characters=200).split())
    return text or None


_Text = Annotated[str | None, BeforeValidator(_read_text)]


def _aliases(*paths: str) -> AliasChoices:
    """The first of several places where servers put the same fact: ``"details.family"``."""
    return AliasChoices(*(AliasPath(*path.split(".")) for path in paths))


class _Model(BaseModel):
    """An entry of a list of models, in the forms of llama.cpp, vLLM, LM Studio, Ollama and hosted services."""

    name: _Text = Field(None, validation_alias=_aliases("id", "name", "model", "model_name", "model_id", "key"))
    root: _Text = None
    """vLLM: the folder or the repository of the weights."""
    digest: _Text = None
    quantisation: _Text = Field(
        None, validation_alias=_aliases("quantization", "details.quantization_level", "meta.ftype")
    )
    parameters: _Text = Field(None, validation_alias=_aliases("meta.n_params", "details.parameter_size"))
    size: _Text = Field(None, validation_alias=_aliases("meta.size"))
    context: _Text = Field(
        None,
        validation_alias=_aliases(
            "max_model_len", "loaded_context_length", "meta.n_ctx", "context_length", "context_window"
        ),
    )


class _Properties(BaseModel):
    """`/props` of llama.cpp."""

    path: _Text = Field(None, validation_alias="model_path")
    quantisation: _Text = Field(None, validation_alias=_aliases("model_ftype"))
    context: _Text = Field(None, validation_alias=_aliases("default_generation_settings.n_ctx", "n_ctx"))

    @property
    def file(self) -> str | None:
        """The name of the file."""
        return _last_part(self.path) if self.path else None


# Validated, as the type checker takes aliases for required arguments
_NO_MODEL = _Model.model_validate({})
_NO_PROPERTIES = _Properties.model_validate({})


def _read_models(listing: str) -> list[_Model] | None:
    """The models of a list; None if it is none. An entry in a form of its own has nothing to tell."""
    entries = read_entries(listing)
    if entries is None:
        return None

    models = []
    for entry in entries:
        fields = entry if isinstance(entry, Mapping) else {"name": entry}
        with suppress(ValidationError):
            models.append(_Model.model_validate(fields))
    return models


def _read_properties(text: str) -> _Properties:
    """What `/props` tells; nothing if it is something else."""
    with suppress(ValidationError):
        return _Properties.model_validate_json(text)
    return _NO_PROPERTIES


def _get(client: httpx2.Client, path: str) -> str:
    """The server's reply to a path; empty if it has none. Raises httpx2.HTTPStatusError: none yet."""
    deadline = Deadline(_SECONDS_PER_REQUEST)
    with client.stream("GET", path) as response:
        if response.status_code in _LOADING_STATUSES:
            response.raise_for_status()
        if not response.is_success:
            return ""

        body = b""
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > _LARGEST_REPLY or deadline.expired:
                return ""
            # As the engine does: the end of the connection may never come
            if body.endswith((b"}", b"]")) and is_whole_reply(body):
                break

    return body.decode("utf-8", errors="replace")


def _last_part(name: str) -> str:
    """The file of an absolute path: its folders say nothing about the model, but name a user. Other names stay.

    >>> _last_part("/home/ann/small.gguf"), _last_part("meta-llama/small")
    ('small.gguf', 'meta-llama/small')
    """
    is_path = name.startswith(("/", "~")) or re.match(r"[A-Za-z]:\\", name) is not None
    return name.replace("\\", "/").rpartition("/")[2] if is_path else name


def _find_model(models: Sequence[_Model], name: str | None) -> _Model:
    """The entry of that name, or the only one: such a server does not heed the name."""
    for model in models:
        if model.name == name:
            return model
    return models[0] if len(models) == 1 else _NO_MODEL


def _list_facts(model: _Model, tag: _Model, properties: _Properties) -> list[str]:
    """What is known of a model, in words and in this order; `tag` is Ollama's entry."""
    quantisation = model.quantisation or properties.quantisation or tag.quantisation
    parameters = model.parameters or tag.parameters
    # What one request may use, which is less than what the model was trained for.
    context = properties.context or model.context
    name = model.name or ""

    facts = {
        "root {}": _last_part(model.root) if model.root not in {None, name} else None,
        "file {}": properties.file if properties.file != _last_part(name) else None,
        "{}": quantisation,
        "{} parameters": parameters,
        "{} bytes": model.size,
        "context {}": context,
        "digest {}": tag.digest and tag.digest.removeprefix("sha256:")[:12],
    }

    return [form.format(value) for form, value in facts.items() if value]
