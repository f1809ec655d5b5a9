"""From a company as people call it to its ticker: a nickname, a ticker, or the listing name found by search."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from agents.kg.context import LookupContext, NotFoundError, name_list
from agents.kg.names import MARGIN, normalise_name, similarity

_TICKER = re.compile(r"[A-Za-z]{1,5}(?:[.\-/][A-Za-z]{1,2})?")
_LEGAL_FORM = re.compile(
    r"\b(incorporated|inc|corporation|corp|company|co|limited|ltd|plc|llc|lp|l p|sa|nv|ag|se|holdings?|group|the|trust"
    r"|common|ordinary|class [a-c]|stock|shares?|american depositary|depositary|receipts?|units?|warrants?|adr|ads"
    r"|each representing.*|beneficial interest|of|new|par value.*)\b"
)
_TICKER_BEHIND = re.compile(r"\((?:[A-Za-z]+: ?)?([A-Z]{1,5}(?:[.\-/][A-Z]{1,2})?)\)\s*$")
_ASIDE = re.compile(r"(?i)(?:'s)?\s+(?:stocks?|shares?|ticker)$|^(?:nasdaq|nyse): ?")
_FLOOR = 0.8


@cache
def nicknames() -> dict[str, str]:
    """Names that the stock exchange's list does not know, such as "google", with the ticker that is meant."""
    data = tomllib.loads((Path(__file__).parent / "companies.toml").read_text(encoding="utf-8"))
    return {normalise_name(name): ticker for name, ticker in data["tickers"].items()}


def company_data(context: LookupContext, endpoint: str, name: str) -> tuple[str, Any]:
    """The ticker of a company and what an endpoint says about it.

    The order is: a nickname; the text itself as a ticker, since most questions name one; the search by name.

    Raises:
        NotFoundError: no such company, or the endpoint has nothing about it.
    """
    in_brackets = _TICKER_BEHIND.search(name)
    bare = in_brackets.group(1) if in_brackets else _ASIDE.sub("", name.strip())
    compact = bare.strip().lstrip("$").upper()
    known = nicknames().get(normalise_name(bare))
    if known:
        if known != compact:
            context.remark(f'"{name}" is read as the ticker {known}')
        return known, _required(context, endpoint, known)
    if _TICKER.fullmatch(compact):
        for ticker in dict.fromkeys((compact, compact.replace(".", "-").replace("/", "-"))):
            data = context.ask(endpoint, query=ticker)
            if data is not None:
                return ticker, data
    ticker = _search(context, name, compact)
    return ticker, _required(context, endpoint, ticker)


def _required(context: LookupContext, endpoint: str, ticker: str) -> Any:  # noqa: ANN401
    data = context.ask(endpoint, query=ticker)
    if data is None:
        raise NotFoundError(f"the graph has no {endpoint.rsplit('get_', 1)[-1].replace('_', ' ')} of {ticker}")
    return data


def _search(context: LookupContext, name: str, compact: str) -> str:
    """The ticker of the listing whose name is most alike; a common share before units, warrants and preferred ones."""
    wanted = _core(name)
    listings: list[str] = []
    scored: list[tuple[float, int, int]] = []
    for query in dict.fromkeys((name, wanted)):  # legal forms are the commonest words of the list
        if not scored or scored[0][0] < _FLOOR:
            listings = context.ask("/finance/get_company_name", query=query)
            scored = sorted(
                ((_likeness(wanted, name, one), -_oddity(one), -place) for place, one in enumerate(listings)),
                reverse=True,
            )
    if not scored or scored[0][0] < _FLOOR:
        if _TICKER.fullmatch(compact):
            raise NotFoundError(f'the graph has no data of the ticker or company "{name}"')
        raise NotFoundError(f'the graph has no company "{name}"; nearest: {name_list(listings)}')
    best = listings[-scored[0][2]]
    rivals = [score for score, _, place in scored[1:] if _core(listings[-place]) != _core(best)]
    if rivals and scored[0][0] < 0.99 and scored[0][0] - rivals[0] < MARGIN:
        raise NotFoundError(f'"{name}" may be several companies: {name_list(listings)}')
    ticker = context.ask("/finance/get_ticker_by_name", query=best)
    if ticker is None:
        raise NotFoundError(f'the graph has no ticker of "{best}"')
    context.remark(f'"{name}" is read as {best} ({ticker})')
    return str(ticker)


def _likeness(wanted: str, name: str, listing: str) -> float:
    """Alike as whole names, without legal forms, or with the wanted name at the start of the listing's."""
    core = _core(listing)
    starts = 0.97 if wanted and f"{core} ".startswith(f"{wanted} ") else 0.0
    return max(similarity(name, listing), 0.995 if wanted and core == wanted else similarity(wanted, core), starts)


def _core(name: str) -> str:
    """The normalised name without legal forms and kinds of share."""
    normalised = normalise_name(name)
    return " ".join(_LEGAL_FORM.sub(" ", normalised).split()) or normalised


def _oddity(listing: str) -> int:
    """How far a listing is from the company's ordinary share."""
    normalised = normalise_name(listing)
    odd = ("warrant", "unit", "right", "preferred", "notes", "debenture", "depositary shares", "preference")
    return sum(word in normalised for word in odd)
