"""Which site a page belongs to: pages, snippets and titles of one site are one voice."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from crag.core.contracts import Passage

_SHARED_SECOND_LEVELS = frozenset(["ac", "co", "com", "edu", "gov", "go", "ne", "net", "or", "org"])
"""Second levels below which a country registers names: "bbc.co.uk", "abc.net.au"."""


def find_site(url: str) -> str:
    """The registered name of a URL's host, since one owner can have any number of names below it.

    A guess by common second levels: owners that share a name, as on blog hosts, count as one. An address without a host
    is a site of its own.

    Example:
        find_site("https://en.wikipedia.org/wiki/Comet")  # "wikipedia.org"
        find_site("https://www.bbc.co.uk/news")  # "bbc.co.uk"
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # such as an unclosed bracket
        host = ""
    if not host:
        return url

    labels = host.rstrip(".").split(".")
    # Numbers are an address, whose first part is the owner's
    if labels[-1].isdigit() or ":" in host:
        return host
    is_country = len(labels[-1]) == 2
    label_count = 3 if is_country and len(labels) > 2 and labels[-2] in _SHARED_SECOND_LEVELS else 2
    return ".".join(labels[-label_count:])


def drop_site(passages: Iterable[Passage], site: str) -> list[Passage]:
    """The passages of all other sites, in their order."""
    return [passage for passage in passages if find_site(passage.url) != site]
