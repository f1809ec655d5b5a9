"""Films, persons and years of the cinema."""

from mock_api.domains.faults import OfficialCrashError
from mock_api.search import WordIndex
from mock_api.tables import Record, Records, Tables

FIRST_YEAR = 1990
LAST_YEAR = 2021


class MovieAnswers:
    """Answers of /movie. The search sees the keys of the tables as they are, so they should be normalised names."""

    def __init__(self, tables: Tables) -> None:
        self._persons = list(tables.persons.values())
        self._movies = list(tables.movies.values())
        self._years = tables.years
        self._person_index = WordIndex(list(tables.persons))
        self._movie_index = WordIndex(list(tables.movies))
        self._person_by_id = _by_id(tables.persons)
        self._movie_by_id = _by_id(tables.movies)

    def get_person_info(self, query: str) -> list[Record]:
        """At most ten persons whose names share words with the query, best first."""
        return [self._persons[place] for place in self._person_index.top(query)]

    def get_movie_info(self, query: str) -> list[Record]:
        """At most ten films whose titles share words with the query, best first."""
        return [self._movies[place] for place in self._movie_index.top(query)]

    def get_year_info(self, query: str) -> Record | None:
        """Films and Oscar awards of a year.

        Raises OfficialCrashError where the text is not a number or the year lies outside 1990..2021.
        """
        try:
            year = int(query)
        except ValueError as error:
            raise OfficialCrashError(f"not a year: {query!r}") from error
        if not FIRST_YEAR <= year <= LAST_YEAR:
            raise OfficialCrashError(f"{year} lies outside {FIRST_YEAR}..{LAST_YEAR}")
        return self._years.get(query)

    def get_movie_info_by_id(self, query: int) -> Record | None:
        """The film with this id."""
        return self._movie_by_id.get(query)

    def get_person_info_by_id(self, query: int) -> Record | None:
        """The person with this id."""
        return self._person_by_id.get(query)


def _by_id(records: Records) -> dict[int, Record]:
    return {record["id"]: record for record in records.values() if "id" in record}
