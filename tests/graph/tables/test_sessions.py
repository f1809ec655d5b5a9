"""Which session of the New York Stock Exchange is over."""

from datetime import date, datetime

import pytest

from crag.graph.tables.sessions import is_open, last_finished_session, last_opened_session

FINISHED = """
2024-02-26 07:00 | 2024-02-23 | a Monday before the opening
2024-02-26 15:59 | 2024-02-23 | during the session
2024-02-26 16:00 | 2024-02-26 | the close
2024-02-27 00:30 | 2024-02-26 | at night
2024-02-24 12:00 | 2024-02-23 | a Saturday
2024-02-19 18:00 | 2024-02-16 | Presidents' Day
2024-03-29 18:00 | 2024-03-28 | Good Friday
2024-01-02 09:00 | 2023-12-29 | after New Year's Day
2023-11-24 13:00 | 2023-11-24 | the half day after Thanksgiving
2023-11-24 12:59 | 2023-11-22 | before its early close
2024-07-03 13:30 | 2024-07-03 | the half day before Independence Day
"""


@pytest.mark.parametrize("case", FINISHED.strip().splitlines())
def test_the_last_finished_session(case: str) -> None:
    moment, session, _ = case.split(" | ")
    assert last_finished_session(datetime.fromisoformat(moment)) == date.fromisoformat(session)


def test_the_opening_price_is_known_from_the_opening_on() -> None:
    before, after = datetime(2024, 2, 26, 9, 29), datetime(2024, 2, 26, 9, 30)
    assert (last_opened_session(before), last_opened_session(after)) == (date(2024, 2, 23), date(2024, 2, 26))
    assert (is_open(before), is_open(after)) == (False, True)
