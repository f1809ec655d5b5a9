"""Readers of web pages to compare: this project's methods, and other libraries where they are installed."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import get_args

from crag.benchmarks.reading import Reader
from crag.settings.web import ExtractSettings
from crag.web.extract.page_text import page_text


def project_readers(settings: ExtractSettings) -> dict[str, Reader]:
    """Each method of reading that the settings know, with the other settings as they are."""
    readers: dict[str, Reader] = {}
    for method in get_args(ExtractSettings.model_fields["method"].annotation):
        of_method = settings.model_copy(update={"method": method})
        readers[method] = partial(page_text, settings=of_method)
    return readers


def rival_readers() -> tuple[dict[str, Reader], list[str]]:
    """Readers of other libraries, and the names of those that are not installed."""
    readers: dict[str, Reader] = {}
    missing: list[str] = []
    for name, (module, reader) in _RIVALS.items():
        try:
            import_module(module)
        except ModuleNotFoundError:
            missing.append(name)
        else:
            readers[name] = reader
    return readers, missing


def _soup_text(html: str) -> str:
    """All text that BeautifulSoup finds outside scripts and styles."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    for element in soup(["head", "script", "style", "noscript", "template"]):
        element.decompose()
    return soup.get_text(" ", strip=True)


def _resiliparse_text(html: str) -> str:
    """The main content by resiliparse (Bevendorff et al., ECIR 2018)."""
    extract_plain_text = import_module("resiliparse.extract.html2text").extract_plain_text
    return str(extract_plain_text(html, main_content=True, alt_texts=False))


def _trafilatura_text(html: str) -> str:
    """The main text by trafilatura (Barbaresi, ACL 2021), with its options for more recall."""
    text = import_module("trafilatura").extract(html, favor_recall=True)
    return text or ""


def _readability_text(html: str) -> str:
    """The article by readability-lxml, and its title apart."""
    from bs4 import BeautifulSoup

    document = import_module("readability").Document(html)
    article = BeautifulSoup(document.summary(), "lxml").get_text(" ", strip=True)
    return f"{document.title()}\n{article}"


_RIVALS: Mapping[str, tuple[str, Reader]] = {
    "BeautifulSoup, all text": ("bs4", _soup_text),
    "resiliparse, main content": ("resiliparse", _resiliparse_text),
    "trafilatura": ("trafilatura", _trafilatura_text),
    "readability-lxml": ("readability", _readability_text),
}
"""By name: the module that must be installed, and the reader."""
