"""Reads the address of an OpenAI-compatible server as people write it, and lists where its interface may be."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from crag.core.text import without_credentials
from crag.engines.llm.base import EngineUnavailableError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_ENDPOINT = re.compile(
    r"""
      / (?: chat/completions? | completions? | chat | responses | messages | embeddings? | models
          | generate (?:_stream)? | infill | (?:de)?tokenize
          | healthz? | props | slots | metrics | version | docs | redoc | openapi\.json
          | api/ (?: chat | generate | tags | show | ps | version | embed )
        ) \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The end of a path that names one endpoint: the interface is above it."""
_VERSION = re.compile(r"/v\d[a-z0-9]{0,8}\Z", re.IGNORECASE)
_DEPLOYMENT = re.compile(r"/openai/deployments/(?P<name>[^/]{1,200})", re.IGNORECASE)
_DEPLOYMENT_VERSION = "2024-10-21"
"""The query `api-version` of Azure's deployments, if the address has none: the last one without ``preview``."""
_SHORT_LOOPBACK = re.compile(r"127(?:\.\d{1,3}){1,2}")
"""An address such as 127.1, which systems complete."""
_HIGHEST_PORT = 65_535
_USUAL_PATHS = ("/v1", "", "/openai/v1", "/api/v1", "/v1beta/openai", "/api", "/v3", "/engines/v1")
"""Where servers have their interface, the most usual first: ``/v3`` is OpenVINO's, ``/engines/v1`` Docker's."""
_ALSO_A_BASE = "/models"
"""An endpoint, and at Azure's model inference the path of the interface."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is.

    Attributes:
        url: The address without credentials, query and endpoint.
        candidates: Addresses under which ``/chat/completions`` may be, the likeliest first.
        user: A user name in the address, with `password`; both may be empty.
        query: Sent with each request.
        deployment: The model, if the address names it as Azure's do.
    """

    url: httpx2.URL
    candidates: tuple[str, ...]
    user: str
    password: str
    query: Mapping[str, str]
    deployment: str | None

    @property
    def is_on_this_machine(self) -> bool:
        """Whether it is a loopback address."""
        return is_loopback(self.url.host)


def parse_address(text: str) -> ServerAddress:
    """The address in a setting or variable: with or without scheme, version, endpoint and final slash.

    Raises EngineUnavailableError: it is not an address.

    >>> parse_address("localhost:8080").candidates[:2]
    ('http://localhost:8080/v1', 'http://localhost:8080')
    >>> parse_address("https://host/v1/chat/completions").candidates[0]
    'https://host/v1'
    """
    plain = text.strip().strip("\"'<>,; ")
    if not _SCHEME.match(plain):
        plain = _add_scheme(plain)
    try:
        url = httpx2.URL(plain)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    is_port = url.port is None or 0 < url.port <= _HIGHEST_PORT
    # A host in which a character had to be escaped is a placeholder such as <host>.
    is_host = bool(url.host) and ("%" not in url.host or ":" in url.host)
    if url.scheme not in {"http", "https"} or not is_host or not is_port:
        shown_text = without_credentials(text.strip())
        raise EngineUnavailableError(f"{shown_text!r} is not an address such as http://127.0.0.1:8000/v1")

    # Servers print the address at which they listen, which is none that can be called everywhere.
    if url.host in {"0.0.0.0", "0", "::"}:  # noqa: S104 - not bound, but replaced
        url = url.copy_with(host="::1" if url.host == "::" else "127.0.0.1")

    query = dict(url.params)
    path = _interface_path(url.path)
    deployment = _DEPLOYMENT.search(path)
    if deployment:
        query.setdefault("api-version", _DEPLOYMENT_VERSION)

    root = url.copy_with(username=None, password=None, path="/", query=None, fragment=None)
    root_text = str(root).rstrip("/")
    paths = [path] if deployment else _candidate_paths(path)
    if url.path.rstrip("/").endswith(_ALSO_A_BASE):
        paths.append(url.path.rstrip("/"))
    return ServerAddress(
        url=root.copy_with(path=path or "/"),
        candidates=tuple(root_text + candidate for candidate in paths),
        user=url.username,
        password=url.password,
        query=query,
        deployment=deployment["name"] if deployment else None,
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return _SHORT_LOOPBACK.fullmatch(host) is not None
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    return (mapped or number).is_loopback


def _add_scheme(text: str) -> str:
    """The address with ``http://`` for machines nearby, else ``https://``; of a port alone, one on this machine."""
    text = text.removeprefix("//")
    authority = text.split("/", 1)[0]
    if re.fullmatch(r":?\d{2,5}", authority):
        return f"http://127.0.0.1:{text.removeprefix(':')}"

    # "http:/host" has lost a slash, "http//host" its colon.
    if authority.endswith(":") or authority.lower() in {"http", "https"}:
        return ""

    host = authority.rpartition("@")[2]
    name = host.partition(":")[0]
    has_port = re.search(r":\d{1,5}\Z", host) is not None and not host.endswith(":443")
    is_number = re.fullmatch(r"[\d.]+|\[.*", name) is not None
    is_nearby = has_port or is_number or "." not in name
    return f"{'http' if is_nearby else 'https'}://{text}"


def _interface_path(path: str) -> str:
    """The path without endpoint, repeated and final slashes."""
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    return _ENDPOINT.sub("", path)


def _candidate_paths(path: str) -> list[str]:
    """Paths under which the interface may be; as given first, unless it is the root."""
    paths = [path] if path else []
    if path and not _VERSION.search(path):
        paths.append(f"{path}/v1")
    elif path:
        # Gemini has the interface below its own.
        paths.append(f"{path}/openai")
    return list(dict.fromkeys([*paths, *_USUAL_PATHS]))
