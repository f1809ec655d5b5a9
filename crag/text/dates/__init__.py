"""Dates of a question, seen from the moment of asking, and the calendars that they are counted on."""

from crag.text.dates.calendars import DateRange as DateRange
from crag.text.dates.calendars import is_session as is_session
from crag.text.dates.calendars import session_at as session_at
from crag.text.dates.expressions import Calendar as Calendar
from crag.text.dates.expressions import ResolvedDate as ResolvedDate
from crag.text.dates.expressions import eastern_time as eastern_time
from crag.text.dates.expressions import find_dates as find_dates
from crag.text.dates.expressions import resolve_date as resolve_date
from crag.text.dates.vocabulary import MONTH_NAME as MONTH_NAME
from crag.text.dates.vocabulary import month_number as month_number
