"""Tests: numbers, dates and times of a workbook stand in the text as Excel shows them."""

import io
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest

from crag.asking.office.number_formats import show_number
from crag.asking.office.shown_values import show_value
from crag.asking.office.time_formats import show_duration, show_moment
from crag.asking.office.workbook import read_workbook
from tests.asking.office_files import build_xlsx_of_cell

_ACCOUNTS = '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (2.675, "0.00", "2.68"),
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.3333333333"),
        (123456789012, "General", "123456789012"),
        (1067, "00000", "01067"),
        (3, "0.##", "3"),
        (0.5, "#.0", "0.5"),
        (0.1234, "0.0%", "12.3%"),
        (0.125, "0.##%", "12.5%"),
        (45, '0"%"', "45%"),
        (-1500, "#,##0_);(#,##0)", "-1,500"),
        (-5, "0;[Red]0", "-5"),
        (-3, '0 "profit";0 "loss"', "3 loss"),
        (5, "+0;-0;0", "+5"),
        (-2500, _ACCOUNTS, "-2,500.00 €"),
        (0, _ACCOUNTS, "0.00 €"),
        (19.9, '"$"#,##0.00', "$19.90"),
        (4500, "[$CHF] #,##0", "CHF 4,500"),
        (1999.9, "#,##0.00 [$€-407]", "1,999.90 €"),
        (12, '0 "kilograms"', "12 kilograms"),
        (15, "0\\ \\k\\g", "15 kg"),
        (12345678, '0.0,,"M"', "12.3M"),
        (1500, '[>999]0.0,"k";0', "1.5k"),
        (6.02214e23, "0.00E+00", "6.02E+23"),
        (2.5, "# ?/?", "2.5"),
        (5551234, "[<=9999999]###-####;(###) ###-####", "555-1234"),
        (1e25, "0.00000", "10000000000000000000000000.00000"),
        (99, ";;;", ""),
    ],
)
def test_a_number_is_read_as_its_format_shows_it(value: float, number_format: str, shown: str) -> None:
    assert show_number(value, number_format) == shown


@pytest.mark.parametrize(
    ("moment", "number_format", "shown"),
    [
        (datetime(2023, 3, 5), "dd.mm.yyyy", "2023-03-05"),
        (datetime(2023, 3, 5), "[$-407]d/ mmmm yyyy;@", "2023-03-05"),
        (datetime(2023, 3, 5), "dddd, mmmm d, yyyy", "Sunday, 2023-03-05"),
        (datetime(2023, 3, 1), "mmm yyyy", "March 2023"),
        (datetime(2023, 1, 1), "yyyy", "2023"),
        (datetime(2023, 3, 5, 14, 30, 15), "yyyy-mm-dd", "2023-03-05"),
        (datetime(2023, 3, 5, 14, 30, 15), "d/m/yy h:mm", "2023-03-05 14:30"),
        (datetime(2023, 3, 5), "yyyy-mm-dd hh:mm:ss", "2023-03-05 00:00:00"),
        (time(15, 45), "h:mm AM/PM", "15:45"),
        (time(0, 3, 7), "mm:ss.0", "03:07.0"),
        (time(0, 9, 58, 400_000), "mm:ss.00", "09:58.40"),
        (time(0, 9, 58, 400_000), "mm:ss", "09:58"),
        (datetime(2023, 3, 5, 14, 30, 15, 250_000), "yyyy-mm-dd hh:mm:ss.000", "2023-03-05 14:30:15.250"),
    ],
)
def test_a_moment_has_the_parts_that_its_format_shows(moment: datetime | time, number_format: str, shown: str) -> None:
    assert show_moment(moment, number_format) == shown


@pytest.mark.parametrize(
    ("duration", "number_format", "shown"),
    [
        (timedelta(days=1, hours=6, minutes=15), "[h]:mm", "30:15"),
        (timedelta(hours=1, seconds=7), "[h]:mm:ss", "1:00:07"),
        (timedelta(minutes=93, seconds=7), "[mm]:ss", "93:07"),
        (timedelta(minutes=93, seconds=7.25), "[mm]:ss.00", "93:07.25"),
        (timedelta(hours=1, seconds=7.5), "[h]:mm:ss.0", "1:00:07.5"),
        (timedelta(seconds=9.58), "[ss].00", "9.58"),
        (timedelta(minutes=1, seconds=59.96), "[m]:ss.0", "2:00.0"),
        (-timedelta(hours=2), "[h]:mm", "-2:00"),
    ],
)
def test_a_duration_may_have_more_hours_than_a_day(duration: timedelta, number_format: str, shown: str) -> None:
    assert show_duration(duration, number_format) == shown


@pytest.mark.parametrize(
    ("seconds", "number_format", "shown"),
    [
        (598.4, "mm:ss.00", "09:58.40"),
        (598.46, "mm:ss.0", "09:58.5"),
        (9.58, "[s].00", "9.58"),
        (598.4, "h:mm", "00:09"),
    ],
)
def test_a_result_of_sport_keeps_the_parts_of_a_second_that_are_shown(
    seconds: float, number_format: str, shown: str
) -> None:
    assert show_value(seconds / 86400, number_format) == shown


def test_a_formula_without_a_value_is_told_and_no_zero() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["item", "bought", "sum"], ["rope", date(2024, 3, 5), "=1+2"]):
        sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)

    reading = read_workbook(file.getvalue())
    assert reading.sheets[0].rows == [["item", "bought", "sum"], ["rope", "2024-03-05", ""]]
    assert reading.note.startswith("formulas without a saved value: 1;")


@pytest.mark.parametrize(
    ("cell", "calculate_first", "shown", "is_told"),
    [
        ('<c r="A1"><f>1-1</f><v>0</v></c>', "1", "", True),
        ('<c r="A1"><f>1+1</f><v>2</v></c>', "1", "2", False),
        ('<c r="A1"><f>1-1</f><v>0</v></c>', "0", "0", False),
        ('<c r="A1" t="str"><f>""</f><v></v></c>', "0", "", False),
    ],
    ids=["zero of a program", "value of a program", "zero of Excel", "empty text"],
)
def test_a_value_of_a_formula_counts_if_it_was_calculated(
    cell: str, calculate_first: str, shown: str, is_told: bool
) -> None:
    reading = read_workbook(build_xlsx_of_cell(cell, calculate_first))
    assert reading.sheets[0].rows == [[shown]]
    assert bool(reading.note) is is_told
