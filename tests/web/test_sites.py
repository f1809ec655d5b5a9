"""Pages of one owner are one site."""

import pytest

from crag.web.sites import find_site


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://en.wikipedia.org/wiki/Comet", "wikipedia.org"),
        ("https://www.example.com:8080/a?b#c", "example.com"),
        ("http://EXAMPLE.com/", "example.com"),
        ("https://news.bbc.co.uk/sport", "bbc.co.uk"),
        ("https://abc.net.au", "abc.net.au"),
        ("https://co.uk/", "co.uk"),
        ("https://docs.rs/serde", "docs.rs"),
        ("https://a.b.example.de/", "example.de"),
        ("http://192.0.2.7/page", "192.0.2.7"),
        ("http://[2001:db8::1]/page", "2001:db8::1"),
        ("notes/comet.html", "notes/comet.html"),
        ("http://[broken/", "http://[broken/"),
        ("", ""),
    ],
)
def test_the_site_is_what_its_owner_registered(url: str, site: str) -> None:
    assert find_site(url) == site
