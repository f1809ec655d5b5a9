"""Dates of a question, seen from the moment of asking, and the calendars that they are counted on."""

from agents.dates.calendars import DateRange as DateRange
from agents.dates.expressions import Calendar as Calendar
from agents.dates.expressions import ResolvedDate as ResolvedDate
from agents.dates.expressions import eastern_time as eastern_time
from agents.dates.expressions import find_dates as find_dates
from agents.dates.expressions import resolve_date as resolve_date
from agents.dates.rules import MONTH_NAME as MONTH_NAME
from agents.dates.rules import month_number as month_number
