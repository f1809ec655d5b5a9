"""Fillers about companies and their shares."""

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from agents.dates import Calendar, resolve_date
from training.api_pairs.fillers.base import (
    Draw,
    Filler,
    Filling,
    NothingToDrawError,
    filling,
    moment,
    same,
    written_out,
)
from training.api_pairs.templates import Gap, words

_LARGE = 3e11
"""Cap on the market value as a measure of fame; higher values may be in another currency than dollars."""
_ON_RATE = 0.3
"""Share of questions that say "on last friday"."""
_FIRST_DAY = date(2024, 1, 1)
"""CRAG's questions were asked later; they give earlier days as dates only."""
NAME_RATE = 0.4
"""Share of questions with a company's name; the others have its ticker."""
_SECURITY = re.compile(
    r"\s+(?:class [a-z] |series [a-z] )?(?:common|ordinary|capital|american depositary|depositary|subordinate|voting"
    r"|preferred|beneficial|american)\b.*|\s+(?:warrants?|units?|rights?|adss?|adrs?)\b.*|\s+\(.*",
    re.IGNORECASE,
)
_LEGAL = re.compile(r",?\s+(?:inc\.?|corp\.?|corporation|ltd\.?|limited|plc|n\.v\.|s\.a\.|co\.?|company|l\.p\.)$", re.I)
_PRICE_KEYS = ("Open", "High", "Low", "Close", "Volume")


def spoken_name(listed: str, *, short: bool) -> str:
    """A company's spoken name: without the kind of share and, if `short`, without the legal form."""
    name = _SECURITY.sub("", listed).strip(" ,.")
    while short and (shorter := _LEGAL.sub("", name).strip(" ,.")) != name:
        name = shorter
    return name


def _company(draw: Draw, ticker: str, gap: str) -> tuple[dict[str, str], dict[str, str]]:
    """The company's name, and its ticker if that is another name."""
    listed = draw.graph.companies.get(ticker, "")
    name = spoken_name(listed, short=draw.rng.random() < 0.6)
    if name and len(name) > 3 and draw.rng.random() < NAME_RATE:
        return {gap: name}, {gap: ticker.lower()}
    return {gap: ticker}, {}


def _about(draw: Draw, tickers: list[str], asked_at: datetime | None = None, /, **gaps: Gap) -> Filling:
    """A filling of one or two companies, both called by name or both by ticker."""
    names: dict[str, str] = {}
    plain: dict[str, str] = {}
    for gap, ticker in zip(("company", "company2"), tickers, strict=False):
        one, other = _company(draw, ticker, gap)
        if gap == "company2" and not plain:
            one, other = {gap: ticker}, {}
        names, plain = names | one, plain | other
    owners = {gap: ticker.lower() for gap, ticker in zip(names, tickers, strict=True)}
    found = filling(draw, names, **gaps)
    return Filling(found.gaps, owners, asked_at, found.plain | plain)


def _keys(draw: Draw) -> tuple[str, ...]:
    return _PRICE_KEYS if draw.has == "all" else (draw.has,)


def _tickers_of_day(draw: Draw) -> dict[str, list[str]]:
    """Days -> tickers with the wanted figures."""
    found: dict[str, list[str]] = {}
    for ticker, days in draw.graph.prices.items():
        for day, cells in days.items():
            if all(cells.get(key) is not None for key in _keys(draw)):
                found.setdefault(day, []).append(ticker)
    return found


class _Day(NamedTuple):
    """A day in words, as the calls write it, in a sentence ("on last friday"), and a time of asking that fits."""

    said: str
    called: str
    on_day: str
    asked_at: datetime | None

    @property
    def gaps(self) -> dict[str, Gap]:
        """``{day}`` and ``{on_day}``."""
        return {"day": Gap(self.said, self.called), "on_day": same(self.on_day)}


def _said(draw: Draw, day: date) -> _Day:
    if day < _FIRST_DAY and (draw.rng.random() < _ON_RATE or day < _FIRST_DAY - timedelta(days=20)):
        written = written_out(day, draw.rng)
        return _Day(written, day.isoformat(), f"on {written}", None)
    asked_at = moment(_workday(day + timedelta(days=draw.rng.choice((0, 1, 1, 1, 2, 3, 5, 8)))), draw.rng)
    fitting = []
    for words_for_it in words()["trading"]["day"]:
        found = resolve_date(words_for_it, asked_at, Calendar.TRADING)
        if found and found.range and found.range.first == found.range.last == day:
            fitting.append(words_for_it)
    if fitting and draw.rng.random() < 0.8:
        said = draw.rng.choice(fitting)
        is_date = said.startswith("the ") and "before" not in said
        may_have_on = said.startswith("last ") and draw.rng.random() < _ON_RATE
        on_day = f"on {said}" if is_date or may_have_on else said
        return _Day(said, said.removeprefix("the "), on_day, asked_at)
    written = written_out(day, draw.rng)
    return _Day(written, day.isoformat(), f"on {written}", asked_at)


def _workday(day: date) -> date:
    return day + timedelta(days=max(0, 7 - day.weekday()) if day.weekday() > 4 else 0)


def _price_of_day(companies: int) -> Filler:
    def fill(draw: Draw) -> Filling:
        days = {day: found for day, found in _tickers_of_day(draw).items() if len(found) >= companies}
        day = draw.one(sorted(days), [(len(days[each]) - 1) ** 2 + 0.02 for each in sorted(days)])
        said = _said(draw, date.fromisoformat(day))
        tickers = draw.rng.sample(sorted(days[day]), companies)
        return _about(draw, tickers, said.asked_at, **said.gaps)

    return fill


def _price_now(draw: Draw) -> Filling:
    days = _tickers_of_day(Draw(draw.graph, draw.rng, "Close"))
    day = draw.one(sorted(days))
    latest = [ticker for ticker in draw.graph.prices_now if ticker in draw.graph.prices]
    ticker = draw.one(latest) if latest and draw.rng.random() < 0.2 else draw.one(sorted(days[day]))
    return _about(draw, [ticker], moment(date.fromisoformat(max(draw.graph.prices[ticker])), draw.rng))


def _prices_of_days(companies: int) -> Filler:
    def fill(draw: Draw) -> Filling:
        chosen = draw.several(_with_several_days(draw), companies)
        days = _days(draw, chosen[0])
        last = max(date.fromisoformat(draw.rng.choice(days)), _FIRST_DAY)
        asked_at = moment(_workday(last + timedelta(days=draw.rng.choice((0, 1, 2, 5, 7)))), draw.rng)
        said = draw.one([said for said in words()["trading"]["days"] if _covers(said, asked_at, days)])
        spoken = said if said.split()[0] in {"this", "last"} else f"in {said}"
        called = said.removeprefix("the ")
        return _about(draw, chosen, asked_at, days=same(called), in_days=same(spoken))

    return fill


def _with_several_days(draw: Draw) -> list[str]:
    return [ticker for ticker in sorted(draw.graph.prices) if len(_days(draw, ticker)) > 1]


def _days(draw: Draw, ticker: str) -> list[str]:
    prices = draw.graph.prices[ticker]
    return sorted(day for day, cells in prices.items() if all(cells.get(key) is not None for key in _keys(draw)))


def _covers(said: str, asked_at: datetime, days: list[str]) -> bool:
    found = resolve_date(said, asked_at, Calendar.TRADING)
    if found is None or found.range is None or found.range.first > asked_at.date():
        return False
    return sum(found.range.first.isoformat() <= day <= found.range.last.isoformat() for day in days) > 1


def _between_days(draw: Draw) -> Filling:
    ticker = draw.one([one for one in _with_several_days(draw) if len(_days(draw, one)) > 3])
    days = _days(draw, ticker)
    first = draw.rng.randrange(len(days) - 2)
    start, end = days[first], days[min(len(days) - 1, first + draw.rng.randint(2, 9))]
    style = draw.rng.random()
    gaps = {}
    for gap, day in (("day", start), ("day2", end)):
        said = date.fromisoformat(day)
        gaps[gap] = same(day)
        gaps[f"{gap}_said"] = same(day if style < 0.5 else f"{said:%B} {said.day}, {said.year}".lower())
    return _about(draw, [ticker], None, **gaps)


def _companies(count: int) -> Filler:
    def fill(draw: Draw) -> Filling:
        tickers = [ticker for ticker, facts in draw.graph.company_facts.items() if facts.get(draw.has) is not None]
        if len(tickers) < count:
            raise NothingToDrawError
        worth = [1 + min(draw.graph.company_facts[ticker].get("marketCap") or 0, _LARGE) / 5e9 for ticker in tickers]
        chosen = list(dict.fromkeys(draw.rng.choices(tickers, worth, k=4 * count)))[:count]
        if len(chosen) < count:
            raise NothingToDrawError
        return _about(draw, chosen)

    return fill


def _company_by_name(draw: Draw) -> Filling:
    ticker = draw.one([one for one, facts in draw.graph.company_facts.items() if facts.get(draw.has)])
    name = spoken_name(draw.graph.companies.get(ticker, ""), short=True)
    if not name:
        raise NothingToDrawError
    owner = {"company": ticker.lower()}
    return Filling(filling(draw, {"company": name}).gaps, owner, None, owner)


def _dividend(companies: int, *, year: bool) -> Filler:
    def fill(draw: Draw) -> Filling:
        tickers = draw.several(sorted(draw.graph.dividends), companies)
        if not year:
            return _about(draw, tickers)
        chosen = draw.rng.choice([day[:4] for day in draw.graph.dividends[tickers[0]]])
        asked_at = datetime(2024, 2, 28, 7, draw.rng.randrange(60), draw.rng.randrange(60))
        said = draw.rng.choice({"2023": ["2023", "last year"], "2024": ["2024", "this year"]}.get(chosen, [chosen]))
        in_year = said if said.endswith("year") else draw.rng.choice((f"in {said}", f"during {said}", f"in {said}"))
        return _about(draw, tickers, asked_at, year=same(said), in_year=same(in_year))

    return fill


FILLERS: dict[str, Filler] = {
    "price of a day": _price_of_day(1),
    "prices of two": _price_of_day(2),
    "price now": _price_now,
    "prices of days": _prices_of_days(1),
    "days of two": _prices_of_days(2),
    "price between days": _between_days,
    "company": _companies(1),
    "two companies": _companies(2),
    "company by name": _company_by_name,
    "dividend": _dividend(1, year=False),
    "dividend year": _dividend(1, year=True),
    "dividends of two": _dividend(2, year=True),
}
