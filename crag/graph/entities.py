"""Maps names in common use to the graph's names of teams and companies (`teams.toml`, `companies.toml`)."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from crag.graph.context import LookupContext, name_list
from crag.graph.results import NotFoundError
from crag.text.matching import MARGIN, best_match, normalise_name, similarity

League = Literal["soccer", "nba"]
_CLUB_WORDS = frozenset({"fc", "cf", "afc", "ac", "as", "sc", "rc", "ud", "sv", "vfl", "vfb", "tsg", "ssc", "1"})

_TICKER = re.compile(r"[A-Za-z]{1,5}(?:[.\-/][A-Za-z]{1,2})?")
_LEGAL_FORM = re.compile(
    r"\b(incorporated|inc|corporation|corp|company|co|limited|ltd|plc|llc|lp|l p|sa|nv|ag|se|holdings?|group|the|trust"
    r"|common|ordinary|class [a-c]|stock|shares?|american depositary|depositary|receipts?|units?|warrants?|adr|ads"
    r"|each representing.*|beneficial interest|of|new|par value.*)\b"
)
_TICKER_BEHIND = re.compile(r"\((?:[A-Za-z]+: ?)?([A-Z]{1,5}(?:[.\-/][A-Z]{1,2})?)\)\s*$")
_ASIDE = re.compile(r"(?i)(?:'s)?\s{1,9}(?:stocks?|shares?|ticker)$|^(?:nasdaq|nyse): ?")
_ODD_SHARES = ("warrant", "unit", "right", "preferred", "notes", "debenture", "depositary shares", "preference")
_FLOOR = 0.8
"""Companies whose names are less similar are different companies."""


@cache
def shipped_list(name: str) -> dict[str, Any]:
    """A TOML file of this folder: `teams`, `companies` or `codes`."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


# ---- teams


def team_spelling(name: str, league: League) -> tuple[str, bool]:
    """The graph's spelling of a team, and whether the team is known; an unknown name is returned unchanged.

    Nicknames and cities count only if they are unambiguous: "knicks", "manchester utd", but not "manchester".
    """
    known = _spellings(league)
    wanted = _team_words(name)
    if wanted in known:
        return known[wanted], True
    names = sorted(known)
    match = best_match(wanted, names, floor=0.86)
    return (known[names[match.position]], True) if match else (name.strip(), False)


@cache
def _spellings(league: League) -> dict[str, str]:
    """Unambiguous normalised name -> the graph's spelling."""
    teams: dict[str, list[str]] = shipped_list("teams")[league]
    found: dict[str, str] = {}
    parts: dict[str, set[str]] = {}
    for spelling, others in teams.items():
        found |= dict.fromkeys(map(_team_words, (spelling, *others)), spelling)
        if league == "nba":
            city = spelling.rsplit(" ", 2 if spelling.endswith("Trail Blazers") else 1)[0]
            for part in (city.replace("LA", "Los Angeles"), spelling.removeprefix(f"{city} ")):
                parts.setdefault(_team_words(part), set()).add(spelling)
    unique = {part: next(iter(owners)) for part, owners in parts.items() if len(owners) == 1}
    return unique | found


def _team_words(name: str) -> str:
    """The normalised name without "FC" and the like, and without a possessive s."""
    words = normalise_name(name.removesuffix("'s").removesuffix("\u2019s")).split()
    return " ".join(word for word in words if word not in _CLUB_WORDS) or normalise_name(name)


# ---- companies


@cache
def nicknames() -> dict[str, str]:
    """Tickers of names that the stock exchange's list lacks, such as "google"."""
    return {normalise_name(name): ticker for name, ticker in shipped_list("companies")["tickers"].items()}


def company_data(context: LookupContext, endpoint: str, name: str) -> tuple[str, Any]:
    """The ticker of a company and the endpoint's data for it.

    Tries, in order: a nickname; the text as a ticker, since most questions name one; the search by name.
    Raises NotFoundError: the company is unknown, or the endpoint has no data for it.
    """
    in_brackets = _TICKER_BEHIND.search(name)
    bare = in_brackets.group(1) if in_brackets else _ASIDE.sub("", name.strip())
    compact = bare.strip().lstrip("$").upper()
    ticker = nicknames().get(normalise_name(bare))
    if ticker and ticker != compact:
        context.remark(f'"{name}" is read as the ticker {ticker}')
    elif not ticker and _TICKER.fullmatch(compact):
        for form in dict.fromkeys((compact, compact.replace(".", "-").replace("/", "-"))):
            data = context.ask(endpoint, query=form)
            if data is not None:
                return form, data
    ticker = ticker or _search(context, name, compact)
    data = context.ask(endpoint, query=ticker)
    if data is None:
        raise NotFoundError(f"the graph has no {endpoint.rsplit('get_', 1)[-1].replace('_', ' ')} of {ticker}")
    return ticker, data


def _search(context: LookupContext, name: str, compact: str) -> str:
    """The ticker of the most similar listing; a common share before units, warrants and preferred shares."""
    wanted = _company_words(name)
    listings: list[str] = []
    scored: list[tuple[float, int, int]] = []
    for query in dict.fromkeys((name, wanted)):  # legal forms are the most common words of the list
        if not scored or scored[0][0] < _FLOOR:
            listings = context.ask("/finance/get_company_name", query=query)
            odd = [sum(word in normalise_name(listing) for word in _ODD_SHARES) for listing in listings]
            scores = ((_likeness(wanted, name, one), -odd[place], -place) for place, one in enumerate(listings))
            scored = sorted(scores, reverse=True)
    if not scored or scored[0][0] < _FLOOR:
        if _TICKER.fullmatch(compact):
            raise NotFoundError(f'the graph has no data of the ticker or company "{name}"')
        raise NotFoundError(f'the graph has no company "{name}"; nearest: {name_list(listings)}')
    best = listings[-scored[0][2]]
    rivals = [score for score, _, place in scored[1:] if _company_words(listings[-place]) != _company_words(best)]
    if rivals and scored[0][0] < 0.99 and scored[0][0] - rivals[0] < MARGIN:
        raise NotFoundError(f'"{name}" may be several companies: {name_list(listings)}')
    ticker = context.ask("/finance/get_ticker_by_name", query=best)
    if ticker is None:
        raise NotFoundError(f'the graph has no ticker of "{best}"')
    context.remark(f'"{name}" is read as {best} ({ticker})')
    return str(ticker)


def _likeness(wanted: str, name: str, listing: str) -> float:
    """Similarity as whole names, without legal forms, or with the wanted name at the start of the listing."""
    core = _company_words(listing)
    starts = 0.97 if wanted and f"{core} ".startswith(f"{wanted} ") else 0.0
    return max(similarity(name, listing), 0.995 if wanted and core == wanted else similarity(wanted, core), starts)


def _company_words(name: str) -> str:
    """The normalised name without legal forms and kinds of share."""
    normalised = normalise_name(name)
    return " ".join(_LEGAL_FORM.sub(" ", normalised).split()) or normalised
