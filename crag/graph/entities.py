"""Maps names in common use to the graph's names of teams and companies (`teams.toml`, `companies.toml`)."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any, Literal, NamedTuple

from crag.graph.context import LookupContext, quote_names
from crag.graph.results import NotFoundError
from crag.graph.share_classes import (
    ShareClass,
    class_of_listing,
    class_of_ticker,
    class_tickers,
    parse_share_class,
    ticker_spellings,
)
from crag.graph.spelling import other_spellings
from crag.text.matching import (
    LEGAL_FORMS,
    MARGIN,
    best_match,
    join_initials,
    normalise_name,
    similarity,
    without_possessive_at_end,
)

League = Literal["soccer", "nba"]
_CLUB_WORDS = frozenset(
    {"fc", "cf", "afc", "ac", "as", "sc", "rc", "ud", "sv", "vfl", "vfb", "tsg", "ss", "ssc", "fsv", "losc", "ogc", "1"}
)
_KIND_OF_CLUB = re.compile(r" (?:football club|soccer club|(?:football |soccer |basketball )?team)$")
"""What may stand behind a team's name."""
_TEAM_FLOOR = 0.86
"""Teams whose names are less similar are different teams."""

_TICKER = re.compile(r"[A-Za-z]{1,5}(?:[.\-/][A-Za-z]{1,2})?")
_LEGAL_FORM = re.compile(
    rf"\b({'|'.join(LEGAL_FORMS)}|l p|holdings?|group|the|trust"
    r"|capital stock|common|ordinary|(?:class|series) [a-z]|stock|shares?|american depositary|depositary|receipts?"
    r"|units?|warrants?|adr|ads"
    r"|each representing.*|beneficial interest|of|new|par value.*)\b"
)
_TICKER_IN_BRACKETS = re.compile(
    r"""
    \(
    (?:[A-Za-z]+:[ ]?)?                # the exchange: "(NASDAQ: META)"
    ([A-Z]{1,5}(?:[.\-/][A-Z]{1,2})?)  # capitals only: "(formerly Facebook)" is not a ticker
    \)\s*$
    """,
    re.VERBOSE,
)
_STOCK_WORDS = re.compile(r"(?i)(?:'s)?\s{1,9}(?:stocks?|shares?|ticker)$|^(?:nasdaq|nyse): ?")
"""What surrounds a name in "apple's stock" and "NASDAQ: AAPL"."""
_UNCOMMON_SHARES = re.compile(
    r"\b(?:warrants?|units?|rights?|preferred|notes|debentures?|depositary shares|preference)\b"
)

_COMPANY_FLOOR = 0.8
"""Companies whose names are less similar are different companies."""
_NEARLY_CERTAIN = 0.99
"""A listing that is so similar is meant, even if another is nearly as similar."""
_SAME_CORE = 0.995
"""The similarity of names that differ in their legal forms only."""
_SAME_BEGINNING = 0.97
"""The similarity of a name and a listing that begins with it: "apple" and "apple hospitality reit"."""


@cache
def shipped_list(name: str) -> dict[str, Any]:
    """A TOML file of this folder: `teams`, `companies` or `codes`."""
    path = Path(__file__).parent / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


# --- teams ------------------------------------------------------------------------------------------------------------


def team_spelling(name: str, league: League) -> tuple[str, bool]:
    """The graph's spelling of a team, and whether the team is known; an unknown name is returned unchanged.

    Nicknames and cities count only if they are unambiguous: "knicks", "manchester utd", but not "manchester".
    """
    spellings = _spellings(league)
    words = _team_words(name)
    if words in spellings:
        return spellings[words], True

    candidates = sorted(spellings)
    match = best_match(words, candidates, floor=_TEAM_FLOOR)
    if match is None:
        return name.strip(), False

    # "Barcelona B" is another team than Barcelona
    nearest = candidates[match.position]
    has_more_words = len(words.split()) > len(nearest.split()) and words.replace(" ", "") != nearest.replace(" ", "")
    return (name.strip(), False) if has_more_words else (spellings[nearest], True)


@cache
def _spellings(league: League) -> dict[str, str]:
    """Unambiguous normalised name -> the graph's spelling."""
    teams: dict[str, list[str]] = shipped_list("teams")[league]
    whole_names: dict[str, str] = {}
    owners_of_part: dict[str, set[str]] = {}
    for spelling, nicknames_of_team in teams.items():
        for name in (spelling, *nicknames_of_team):
            whole_names[_team_words(name)] = spelling
        if league == "nba":
            for part in _city_and_nickname(spelling):
                owners_of_part.setdefault(_team_words(part), set()).add(spelling)

    # "Los Angeles" is a part of two names; whole names win over parts.
    spellings: dict[str, str] = {}
    for part, owners in owners_of_part.items():
        if len(owners) == 1:
            spellings[part] = next(iter(owners))
    return spellings | whole_names


def _city_and_nickname(spelling: str) -> tuple[str, str]:
    """The two parts of a name: "LA Clippers" is "Los Angeles" and "Clippers"."""
    # The only NBA nickname of two words
    words_of_nickname = 2 if spelling.endswith("Trail Blazers") else 1
    city = spelling.rsplit(" ", words_of_nickname)[0]
    nickname = spelling.removeprefix(f"{city} ")
    return city.replace("LA", "Los Angeles"), nickname


def _team_words(name: str) -> str:
    """The normalised name without "F.C.", "football club" and the like, and without a possessive s."""
    normalised = normalise_name(join_initials(without_possessive_at_end(name)))
    normalised = _KIND_OF_CLUB.sub("", normalised)
    words = [word for word in normalised.split() if word not in _CLUB_WORDS]
    # A name of nothing but such words keeps them
    return " ".join(words) or normalise_name(name)


# --- companies --------------------------------------------------------------------------------------------------------


@cache
def nicknames() -> dict[str, str]:
    """Tickers of names that the stock exchange's list lacks, such as "google"."""
    ticker_by_name = shipped_list("companies")["tickers"]
    return {normalise_name(name): ticker for name, ticker in ticker_by_name.items()}


def company_data(context: LookupContext, endpoint: str, name: str) -> tuple[str, Any]:
    """The ticker of a company and the endpoint's data for it.

    Tries, in order: the class of shares that the name holds; a nickname; the name as a ticker, since most questions
    name one; the search by name. Raises NotFoundError: the company or the class is unknown, or the endpoint has no data
    for it.
    """
    shares = parse_share_class(name)
    ticker = _ticker_of_class(context, endpoint, name, shares) if shares is not None else None
    if ticker is None:
        ticker = _ticker_of_company(context, endpoint, name)

    for spelling in ticker_spellings(ticker):
        data = context.ask(endpoint, query=spelling)
        if data is not None:
            return spelling, data
    what = endpoint.rsplit("get_", 1)[-1].replace("_", " ")
    raise NotFoundError(f"the graph has no {what} of {ticker}")


def _ticker_of_company(context: LookupContext, endpoint: str, name: str) -> str:
    """The ticker that a name without a class means, for which the endpoint may still have no data."""
    in_brackets = _TICKER_IN_BRACKETS.search(name)
    bare = in_brackets.group(1) if in_brackets else join_initials(_STOCK_WORDS.sub("", name.strip()))
    symbol = bare.strip().lstrip("$").upper()

    ticker = nicknames().get(normalise_name(bare))
    if ticker:
        if ticker != symbol:
            context.remark(f'"{name}" is read as the ticker {ticker}')
        return ticker

    if _TICKER.fullmatch(symbol):
        # The server writes BRK-B for BRK.B.
        with_hyphen = symbol.replace(".", "-").replace("/", "-")
        ticker_with_data = _first_with_data(context, endpoint, (symbol, with_hyphen))
        if ticker_with_data is not None:
            return ticker_with_data
    return _search_ticker(context, join_initials(name), symbol)


def _first_with_data(context: LookupContext, endpoint: str, tickers: Iterable[str]) -> str | None:
    """The first ticker that the endpoint has data for; the reply is cached for the next request."""
    for ticker in dict.fromkeys(tickers):
        if context.ask(endpoint, query=ticker) is not None:
            return ticker
    return None


# --- classes of shares ------------------------------------------------------------------------------------------------


class _Candidate(NamedTuple):
    """A listing of the stock exchange; candidates sort from the least to the most likely one."""

    score: float
    """Similarity to the name, from 0 to 1."""
    commonness: int
    """0 for a common share, -1 for each word such as "warrant"."""
    order: int
    """0 for the first listing of the reply, then -1, -2 ..."""
    listing: str


def _ticker_of_class(
    context: LookupContext,
    endpoint: str,
    name: str,
    shares: ShareClass,
) -> str | None:
    """The ticker of a class of shares; None: the name is read without a class.

    Raises NotFoundError: the company is listed, but not that class of its shares.
    """
    symbol = shares.company.upper()
    if _TICKER.fullmatch(symbol):
        ticker_with_data = _first_with_data(context, endpoint, class_tickers(symbol, shares.letter))
        if ticker_with_data is not None:
            return ticker_with_data

    candidates = _listings_of_class(context, shares)
    ticker_by_listing: dict[str, str] = {}
    for candidate in candidates:
        ticker = context.ask("/finance/get_ticker_by_name", query=candidate.listing)
        if ticker is not None:
            ticker_by_listing[candidate.listing] = str(ticker)

    ticker = _ticker_among(context, endpoint, ticker_by_listing, shares)
    if ticker is not None:
        context.remark(f'"{name}" is read as Class {shares.letter} of {candidates[0].listing} ({ticker})')
        return ticker

    # A letter at the end of a company's name is not a class, if the company has none
    has_classes = any(starmap(_class_of, ticker_by_listing.items()))
    if ticker_by_listing and (shares.certain or has_classes):
        listings = quote_names(list(ticker_by_listing))
        raise NotFoundError(f'the graph has no Class {shares.letter} shares of "{shares.company}"; listed: {listings}')
    return None


def _listings_of_class(context: LookupContext, shares: ShareClass) -> list[_Candidate]:
    """The listed shares of the company that is most like the name, those with the letter of the class first."""
    formal_name = _listed_name(context, shares.company)
    core = _company_words(formal_name)
    listings: list[str] = context.ask("/finance/get_company_name", query=f"{core} class {shares.letter}")
    listings = [*listings, *context.ask("/finance/get_company_name", query=core)]

    ranked = _rank_listings(formal_name, list(dict.fromkeys(listings)))
    similar = [candidate for candidate in ranked if candidate.score >= _COMPANY_FLOOR and candidate.commonness == 0]
    # "Paramount class b": of companies with like names the one that lists such a class
    similar.sort(key=lambda candidate: class_of_listing(candidate.listing) != shares.letter)
    if not similar:
        return []

    company = _company_words(similar[0].listing)
    return [candidate for candidate in similar if _company_words(candidate.listing) == company]


def _listed_name(context: LookupContext, company: str) -> str:
    """The name under which the exchange may list a company that is named in common use or by a ticker."""
    plain_name = normalise_name(company)
    names: dict[str, str] = shipped_list("companies")["names"]
    if plain_name in names:
        return names[plain_name]
    # "Ford" is a company, and by chance another one's ticker
    if plain_name in nicknames() or not _TICKER.fullmatch(company):
        return company

    info = context.ask("/finance/get_info", query=company.upper()) or {}
    return str(info.get("longName") or info.get("shortName") or company)


def _ticker_among(
    context: LookupContext,
    endpoint: str,
    ticker_by_listing: Mapping[str, str],
    shares: ShareClass,
) -> str | None:
    """The ticker of the class among the listings of one company, or None."""
    letters = [_class_of(listing, ticker) for listing, ticker in ticker_by_listing.items()]
    tickers = list(ticker_by_listing.values())
    if shares.letter in letters:
        return tickers[letters.index(shares.letter)]

    # Two classes with one name in the list: the server gives the ticker of one of them
    for ticker in tickers:
        ticker_with_data = _first_with_data(context, endpoint, class_tickers(ticker, shares.letter))
        if ticker_with_data is not None:
            return ticker_with_data

    # A company that lists a single share does not need to say which class it is
    is_only_share = len(tickers) == 1 and letters == [None]
    return tickers[0] if is_only_share and shares.certain else None


def _class_of(listing: str, ticker: str) -> str | None:
    """The class that the list names, or else the ticker."""
    return class_of_listing(listing) or class_of_ticker(ticker)


def _search_ticker(context: LookupContext, name: str, symbol: str) -> str:
    """The ticker of the most similar listing; a common share before units, warrants and preferred shares."""
    candidates = _search_listings(context, name)
    listings = [candidate.listing for candidate in candidates]
    if not _is_similar(candidates):
        if _TICKER.fullmatch(symbol):
            raise NotFoundError(f'the graph has no data of the ticker or company "{name}"')
        raise NotFoundError(f'the graph has no company "{name}"; nearest: {quote_names(listings)}')

    best = candidates[0]

    # Other classes of the same company's shares are no rivals
    company = _company_words(best.listing)
    rivals = [candidate for candidate in candidates[1:] if _company_words(candidate.listing) != company]
    if rivals and best.score < _NEARLY_CERTAIN and best.score - rivals[0].score < MARGIN:
        raise NotFoundError(f'"{name}" may be several companies: {quote_names(listings)}')

    same_company = [candidate for candidate in candidates if _company_words(candidate.listing) == company]
    same_kind = [candidate for candidate in same_company if candidate.commonness == best.commonness]
    listing, ticker = _main_share(context, same_kind)
    context.remark(f'"{name}" is read as {listing} ({ticker})')
    return ticker


def _search_listings(context: LookupContext, name: str) -> list[_Candidate]:
    """The listings that a name finds, the most likely first; other spellings are searched until one is similar."""
    without_possessive = without_possessive_at_end(name)
    # Legal forms are the most common words of the list: the second search is without them.
    core = _company_words(without_possessive)
    joined = " ".join(other_spellings(core))
    queries = {name: name, core: name, without_possessive: without_possessive, joined: without_possessive}

    candidates: list[_Candidate] = []
    for query, meant in queries.items():
        listings: list[str] = context.ask("/finance/get_company_name", query=query)
        found = _rank_listings(meant, listings)
        if _is_similar(found):
            return found
        candidates = candidates or found
    return candidates


def _main_share(context: LookupContext, listings: Sequence[_Candidate]) -> tuple[str, str]:
    """The first listing of a company and its ticker; one whose ticker names a class only if there is no other.

    Raises NotFoundError: no listing has a ticker.
    """
    tickers: list[tuple[str, str]] = []
    for candidate in listings:
        ticker = context.ask("/finance/get_ticker_by_name", query=candidate.listing)
        if ticker is None:
            continue
        tickers.append((candidate.listing, str(ticker)))
        # Most companies need one request: "HEI/A" is not the share that "heico" means
        if class_of_ticker(str(ticker)) is None:
            return tickers[-1]

    if not tickers:
        raise NotFoundError(f'the graph has no ticker of "{listings[0].listing}"')
    return tickers[0]


def _rank_listings(name: str, listings: Sequence[str]) -> list[_Candidate]:
    """The listings of a search, the most likely first."""
    words = _company_words(name)
    candidates: list[_Candidate] = []
    for index, listing in enumerate(listings):
        normalised = normalise_name(listing)
        uncommon_words = len(_UNCOMMON_SHARES.findall(normalised))
        likeness = _likeness(name, words, listing)

        # Greater is better: few words of uncommon shares, then an early position.
        candidates.append(_Candidate(likeness, -uncommon_words, -index, listing))
    return sorted(candidates, reverse=True)


def _is_similar(candidates: Sequence[_Candidate]) -> bool:
    return bool(candidates) and candidates[0].score >= _COMPANY_FLOOR


def _likeness(name: str, words: str, listing: str) -> float:
    """Similarity as whole names, as `words` without legal forms, or with these at the beginning of the listing."""
    whole_names = similarity(name, listing)
    listing_words = _company_words(listing)
    if not words:
        return max(whole_names, similarity(words, listing_words))

    without_legal_forms = _SAME_CORE if listing_words == words else similarity(words, listing_words)

    # Whole words: "meta" begins "meta platforms", not "metals".
    begins_alike = f"{listing_words} ".startswith(f"{words} ")
    beginning = _SAME_BEGINNING if begins_alike else 0.0
    return max(whole_names, without_legal_forms, beginning)


def _company_words(name: str) -> str:
    """The normalised name without legal forms and kinds of share."""
    normalised = normalise_name(name)
    # A name of nothing but such words, such as "The Trust", keeps them
    return " ".join(_LEGAL_FORM.sub(" ", normalised).split()) or normalised
