"""HTML to text: one protocol, two extractors, limits around them, and processes that can be killed."""

from agents.settings import ExtractSettings
from agents.web.extract.base import Extractor, PageReader
from agents.web.extract.neutralise import neutralise

__all__ = ["Extractor", "PageReader", "load_extractor", "neutralise"]


def load_extractor(settings: ExtractSettings) -> Extractor:
    """The extractor of the settings with its limits and cleaning around it."""
    if settings.method == "beautifulsoup":
        from agents.web.extract.beautiful_soup import LIBXML2_DEPTH, BeautifulSoupExtractor

        shallow = settings.model_copy(update={"max_depth": min(settings.max_depth, LIBXML2_DEPTH)})
        return PageReader(shallow, BeautifulSoupExtractor())
    from agents.web.extract.main_text import MainTextExtractor

    return PageReader(settings, MainTextExtractor(settings.fallback_characters))
