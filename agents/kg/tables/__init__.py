"""How each table of the schema is filled from the server's endpoints."""

from collections.abc import Callable, Mapping, Sequence

from agents.kg.context import LookupContext, Wanted
from agents.kg.language import Condition
from agents.kg.results import Row
from agents.kg.schema import Domain
from agents.kg.tables import encyclopedia, finance, movie, music, sports

Filler = Callable[[LookupContext, Sequence[str | None], Wanted, Sequence[Condition]], list[Row]]
"""``(context, one name or None per parameter, wanted keys, conditions) -> rows``.

The conditions are a hint that saves calls; the executor applies them to whatever comes back. A filler raises
`NotFoundError` for an unknown entity, returns no rows for a known one without records, and lets `KgError` pass.
"""

FILLERS: Mapping[Domain, Mapping[str, Filler]] = {
    Domain.MOVIE: {
        "get_person": movie.get_person,
        "get_movie": movie.get_movie,
        "get_movie_person_cast": movie.get_movie_person_cast,
        "get_movie_person_crew": movie.get_movie_person_crew,
        "get_movie_person_oscar": movie.get_movie_person_oscar,
    },
    Domain.FINANCE: {
        "get_stock_price": finance.get_stock_price,
        "get_stock_pe_ratio": finance.get_stock_value("get_stock_pe_ratio"),
        "get_stock_eps": finance.get_stock_value("get_stock_eps"),
        "get_stock_market_cap": finance.get_stock_value("get_stock_market_cap"),
        "get_stock_dividend": finance.get_stock_dividend,
        "get_stock_info": finance.get_stock_info,
    },
    Domain.MUSIC: {
        "get_person": music.get_person,
        "get_song": music.get_song,
        "get_grammy_person": music.get_grammy_person,
        "get_grammy_song": music.get_grammy_song,
        "get_grammy_year": music.get_grammy_year,
        "get_billboard": music.get_billboard,
    },
    Domain.SPORTS: {
        "get_soccer_last_game": sports.get_soccer_last_game,
        "get_soccer_next_game": sports.get_soccer_next_game,
        "get_soccer_on_date": sports.get_soccer_on_date,
        "get_nba_on_date": sports.get_nba_on_date,
    },
    Domain.OPEN: {"get_open": encyclopedia.get_open},
}
