"""The names of the official server's files, and which of our tables each becomes."""

from pathlib import Path

OFFICIAL_FILES: dict[str, str] = {
    "open/kg.0.jsonl.bz2": "open/kg.jsonl",
    "open/kg.1.jsonl.bz2": "open/kg.jsonl",
    "movie/movie_db.json": "movie/movie_db.json",
    "movie/person_db.json": "movie/person_db.json",
    "movie/year_db.json": "movie/year_db.json",
    "finance/company_name.dict": "finance/company_name.dict",
    "finance/finance_price.sqlite": "finance/finance_price.json",
    "finance/finance_detailed_price.sqlite": "finance/finance_detailed_price.json",
    "finance/finance_dividend.sqlite": "finance/finance_dividend.json",
    "finance/finance_marketcap.sqlite": "finance/finance_marketcap.json",
    "finance/finance_info.sqlite": "finance/finance_info.json",
    "music/artist_dict_simplified.pickle": "music/artist_dict_simplified.json",
    "music/artist_work_dict.pickle": "music/artist_work_dict.json",
    "music/grammy_df.pickle": "music/grammy_df.json",
    "music/rank_dict_hot100.pickle": "music/rank_dict_hot100.json",
    "music/song_dict_hot100.pickle": "music/song_dict_hot100.json",
    "music/song_dict_simplified.pickle": "music/song_dict_simplified.json",
    "sports/nba.sqlite": "sports/nba_game.json",
    "sports/soccer_team_match_stats.pkl": "sports/soccer_team_match_stats.json",
}
"""As `mock_api/cragkg` of facebookresearch/CRAG names them. `nba.sqlite` becomes two more: columns and events."""


def looks_official(folder: Path) -> bool:
    """Whether a folder holds a file that only the official graph has."""
    return any((folder / name).is_file() for name, table in OFFICIAL_FILES.items() if name != table)


def command(folder: Path | None = None, out: Path | None = None) -> str:
    """The command that imports, as a message names it."""
    return f"python -m mock_api.tables import {folder or 'OFFICIAL_FOLDER'} --out {out or 'DIR'}"
