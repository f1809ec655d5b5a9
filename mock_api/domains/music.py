"""Artists, songs, the Hot 100 and the Grammy awards."""

import math
from typing import Any

from mock_api.search import NameSearch, rare_word_weights
from mock_api.tables import Tables

Chart = tuple[list[str] | None, list[str] | None]

MISSING_TEXT = "nan"
"""How the official server reads a missing cell of the award table when it searches for a part of a name."""

FIRST_GRAMMY_YEAR = 1957
LAST_GRAMMY_YEAR = 2019
LOWEST_RANK = 100


class MusicAnswers:
    """Answers of /music. All but the two searches and the award counts by artist want the exact name."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._artist_search = NameSearch(tables.artists, rare_word_weights, later_first=False)
        self._song_search = NameSearch(tables.songs, rare_word_weights, later_first=False)
        self._credits = [
            tuple(text or MISSING_TEXT for text in (row["nominee"], row["artist"], row["workers"]))
            for row in tables.grammy_rows
        ]

    def search_artist_entity_by_name(self, query: str) -> list[str]:
        """At most ten artists that share a word with the query that is not too common, best first."""
        return self._artist_search(query)

    def search_song_entity_by_name(self, query: str) -> list[str]:
        """At most ten songs that share a word with the query that is not too common, best first."""
        return self._song_search(query)

    def get_billboard_rank_date(self, rank: int, date: str | None) -> Chart:
        """Songs and artists at a rank: of one day, or of all days without saying which.

        An unknown day gives ([], []), a rank outside 1..100 (None, None).
        """
        if not 1 <= rank <= LOWEST_RANK:
            return None, None
        entries = self._tables.chart_ranks.get(str(rank), [])
        if date:
            entries = [entry for entry in entries if entry["Date"] == date][:1]
        return [entry["Song"] for entry in entries], [entry["Artist"] for entry in entries]

    def get_billboard_attributes(self, date: str, attribute: str, song_name: str) -> object:
        """rank_last_week, weeks_in_chart, top_position or rank of a song on a day; for any other attribute the rank.

        A song that was not in the chart the week before has its last three columns in another order.
        """
        week = self._tables.chart_songs.get(song_name, {}).get(date)
        if week is None:
            return None
        if week[6] == "-":
            columns = {"rank_last_week": 6, "weeks_in_chart": 5, "top_position": 4}
        else:
            columns = {"rank_last_week": 4, "weeks_in_chart": 6, "top_position": 5}
        return week[columns.get(attribute, 3)]

    def grammy_get_best_artist_by_year(self, query: int) -> list[Any] | None:
        """Best New Artist of a year; None outside 1957..2019."""
        return self._winners("Best New Artist", query)

    def grammy_get_best_song_by_year(self, query: int) -> list[Any] | None:
        """Song Of The Year; None outside 1957..2019."""
        return self._winners("Song Of The Year", query)

    def grammy_get_best_album_by_year(self, query: int) -> list[Any] | None:
        """Album Of The Year; None outside 1957..2019."""
        return self._winners("Album Of The Year", query)

    def grammy_get_award_count_by_artist(self, query: str) -> int:
        """In how many nominee, artist and workers cells the text occurs: one award may count three times."""
        return sum(query in text for row in self._credits for text in row)

    def grammy_get_award_count_by_song(self, query: str) -> int:
        """Awards whose nominee is exactly this text."""
        return sum(row["nominee"] == query for row in self._tables.grammy_rows)

    def grammy_get_award_date_by_artist(self, query: str) -> list[int]:
        """Years of the awards that `grammy_get_award_count_by_artist` counts, each once, in no order."""
        rows = zip(self._tables.grammy_rows, self._credits, strict=True)
        return list({row["year"] for row, texts in rows if any(query in text for text in texts)})

    def grammy_get_all_awarded_artists(self) -> list[str]:
        """Best New Artists of all years, in the order of the table."""
        nominees = (row["nominee"] for row in self._tables.grammy_rows if row["category"] == "Best New Artist")
        return list(dict.fromkeys(nominee for nominee in nominees if nominee is not None))

    def get_artist_birth_place(self, query: str) -> object:
        """ISO code of a country."""
        return self._tables.artists.get(query, {}).get("country") or None

    def get_artist_birth_date(self, query: str) -> object:
        """Day, month or year of birth; of a band, when it began."""
        return self._tables.artists.get(query, {}).get("birth_date") or None

    def get_members(self, query: str) -> list[str] | None:
        """Members of a band, past and present, in an order that differs from one server process to the next."""
        members = self._tables.artists.get(query, {}).get("members")
        return None if members is None else list(set(members))

    def get_lifespan(self, query: str) -> list[Any]:
        """Dates of birth and death; both None where either is not recorded at all."""
        artist = self._tables.artists.get(query, {})
        if "birth_date" not in artist or "end_date" not in artist:
            return [None, None]
        return [artist["birth_date"], artist["end_date"]]

    def get_song_author(self, query: str) -> object:
        """Who wrote a song."""
        return self._tables.songs.get(query, {}).get("author") or None

    def get_song_release_country(self, query: str) -> object:
        """ISO code of a country, XW for the world."""
        return self._tables.songs.get(query, {}).get("country") or None

    def get_song_release_date(self, query: str) -> object:
        """Day, month or year."""
        return self._tables.songs.get(query, {}).get("date") or None

    def get_artist_all_works(self, query: str) -> list[str] | None:
        """Everything an artist released, live sets and remixes among them."""
        return self._tables.works.get(query)

    def _winners(self, category: str, year: int) -> list[Any] | None:
        """Nominees of a category; a missing one is NaN as on the official server, whose answer is then a 500."""
        if not FIRST_GRAMMY_YEAR <= year <= LAST_GRAMMY_YEAR:
            return None
        rows = (row for row in self._tables.grammy_rows if row["category"] == category and row["year"] == year)
        return [math.nan if row["nominee"] is None else row["nominee"] for row in rows]
