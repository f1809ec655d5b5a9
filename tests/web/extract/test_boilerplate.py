"""What is left out of a page as boilerplate, and what only looks like it."""

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text

STORY = f"<p>{'The ferry has crossed the bay since the bridge was closed. ' * 8}</p>"
LINKS = "".join(
    f"<li><a href=/{name}>{name}</a></li>" for name in ("Ada Moe", "Bo Lind", "Cy Falk", "Dag Rud", "Eli Vik")
)
LIST = f"<ul>{LINKS}</ul>"
SIDE_FACT = "<p>Their captain was born in 1961, in the old town of Varnes by the sea.</p>"


def read(body: str) -> str:
    return page_text(f"<body>{body}</body>", ExtractSettings())


@pytest.mark.parametrize(
    "menu",
    [
        f"<nav>{LIST}</nav>",
        f"<div role=navigation>{LIST}</div>",
        f"<div class='main-menu'>{LIST}</div>",
        f"<div id=siteNavigation>{LIST}</div>",
        f"<div class=related-posts><h4>Read on</h4>{LIST}</div>",
        f"<h3>Most read</h3>{LIST}",
        f"<h3>You may also like</h3><div>{LIST}</div>",
        f"<footer>{LIST}<p>Ada Moe Ltd, Pier 4</p></footer>",
        "<div class=cookie-banner><p>Ada Moe and partners use cookies.</p><button>Accept</button></div>",
        "<section id=newsletter><p>Ada Moe writes to your inbox each Friday.</p></section>",
        "<div class=cookies><p>Ada Moe and we use cookies to count visits.</p></div>",
        "<div class=ad><a href=/shoes>Shoes by Ada Moe</a></div>",
        "<table class='plainlinks metadata stub'><tr><td>Ada Moe asks for more on ships</table>",
        "<div role=dialog><p>Ada Moe asks you to stay.</p></div>",
        "<div aria-modal=true><p>Ada Moe asks you to stay.</p></div>",
        "<div id=ShipCookiebotDialog><p>Ada Moe and partners store data.</p></div>",
        f"<div class=socialLinks>{LIST}</div>",
        f"<div class=promo>{LIST}</div>",
    ],
)
def test_menus_footers_and_notices_are_left_out(menu: str) -> None:
    assert "Ada Moe" not in read(f"<h1>Ferry</h1>{STORY}{menu}")
    assert "Ada Moe" in page_text(f"<h1>Ferry</h1>{STORY}{menu}", ExtractSettings(method="beautifulsoup"))


@pytest.mark.parametrize(
    "page",
    [f"<div>{LIST}</div><h1>Ferry</h1>{STORY}", f"{LIST}<main><h1>Ferry</h1>{STORY}</main>{LIST}"],
    ids=["before the first heading", "beside the element main"],
)
def test_links_in_a_place_of_menus_are_left_out(page: str) -> None:
    assert "Ada Moe" not in read(page)


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>Crew</h1>{STORY}<h2>Members</h2>{LIST}",
        f"<h2>Members</h2>{LIST}<p>See above.</p>",
        f"<main><h1>Crew</h1>{STORY}<div class=members>{LIST}</div></main>",
        f"<article><h1>Crew</h1>{STORY}</article><aside class=infobox><h3>Members</h3>{LIST}</aside>",
        f"<h1>Crew</h1>{STORY}<ol><li>2001<ul>{LINKS}</ul></li></ol>",
        f"<h1>Crew</h1>{STORY}<p>Born in 1969<span class='noprint ForceAgeToShow'> (to Ada Moe)</span></p>",
        f"<h1>Crew</h1>{STORY}<div class=popular-artists>{LIST}</div>",
        f"<h1>Crew</h1>{STORY}<section id=relatedPeople>{LIST}</section>",
        f"<h1>Crew</h1>{STORY}<div class=recommended_books>{LIST}</div>",
        f"<h1>Crew</h1>{STORY}<p class=footer-note>Without the guests of Ada Moe</p>",
        f"<h1>Crew</h1>{STORY}<div class=article-footer>Ada Moe writes about ships.</div>",
        f"<h1>Crew</h1>{STORY}<div class=social-workers>{LIST}</div>",
        f"<h1>Crew</h1>{STORY}<div class=promo-team>{LIST}</div>",
        f"<h1>Crew</h1>{STORY}<table><tr class=header><th><a>Year</a><th><a>Ada Moe</a><tr><td>1<td>2</table>",
        f"<article><header><h1>Crew</h1><p>By <a href=/a>Ada Moe</a></p></header>{STORY}</article>",
        f"<article><h1>Crew</h1>{STORY}<blockquote>We sail.<footer>- Ada Moe</footer></blockquote></article>",
        f"<h1>Crew</h1>{STORY}<div id=menu><p>Soup of Ada Moe, with bread, at the price of twelve crowns</p></div>",
        f"<h1>Crew</h1>{STORY}<div class=NavFrame><table><tr><th>Day<th>Won<tr><td>1<td><a>Ada Moe</a></table></div>",
        f"<h1>Biscuits</h1>{STORY}<div class=cookies><h2>Oats</h2><p>Ada Moe bakes them for twelve minutes.</p></div>",
        f"<h1>Spots</h1>{STORY}<ul id=ads><li>Cold as ice, 1997, by <a href=/a>Ada Moe</a>, for a brewery</ul>",
        f"<h1>Logic</h1>{STORY}<section class=modal><p>Ada Moe gave it a new form in 1918.</p></section>",
        f"<h1>Crew</h1>{STORY}<div class=metadata>Directed by Ada Moe, 1961</div>",
        f"<h1>Crew</h1>{STORY}<div class=popup-books><p>The pages of Ada Moe fold out</p></div>",
        f"<h1>Crew</h1>{STORY}<ul class=share-holders><li><a>Ada Moe</a> 60%<li><a>Bo Lind</a> 40%</ul>",
        f"<h1>Crew</h1>{STORY}<ul class=links>{LINKS}</ul>",
        f"<h1>Crew</h1>{STORY}<h2>Popular captains</h2>{LIST}",
        f"<h1>Crew</h1>{STORY}<div class=subscriber-count>1.2 million follow Ada Moe</div>",
        f"<h1>Crew</h1><p>Crew list</p><div class=table-footer>Counted by Ada Moe</div>{STORY}",
        f"<h1>Crew</h1>{STORY}<div id=side>{LIST}{SIDE_FACT}</div>",
        f"<h1>Crew</h1>{STORY}<aside><p>Founder: Ada Moe</p></aside>",
        f"<h1>Crew</h1>{STORY}<figure><img src=a.jpg><figcaption>Ada Moe at the pier</figcaption></figure>",
        f"<h1>Crew</h1>{STORY}<p>Seen on <time>4 May</time> by <a rel=author itemprop=author>Ada Moe</a></p>",
        f"<h1>Crew</h1>{STORY}<p>Helped by <span aria-hidden=true>Ada Moe</span></p>",
    ],
)
def test_lists_boxes_captions_and_authors_stay(page: str) -> None:
    assert "Ada Moe" in read(page)


def test_a_page_that_is_nearly_all_boilerplate_is_read_as_a_whole() -> None:
    assert "crossed the bay" in read(f"<p>Ferry</p><footer>{STORY}</footer>")
