"""Tests: each row of a table is read with what names its columns, whatever stands above, below and beside it."""

import csv
import io

import pytest

from crag.asking.delimited import read_rows
from crag.asking.office.word import read_word
from crag.asking.tables import table_pages
from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.asking.office_files import build_docx, word_cell

SETTINGS = ExtractSettings(labelled_tables=True)

CASES = {
    "a name over several columns": (
        """
        Sales of the works,,,

        region,2022,,2023
        ,units,price,units
        north,120,5500.50,140
        south,80,3300,95
        """,
        [
            "Sales of the works",
            "region: north | 2022 units: 120 | 2022 price: 5500.50 | 2023 units: 140",
            "region: south | 2022 units: 80 | 2022 price: 3300 | 2023 units: 95",
        ],
    ),
    "years under names over several columns": (
        """
        group,north,,south,
        group,2022,2023,2022,2023
        boats,1,2,3,4
        """,
        ["group: boats | north 2022: 1 | north 2023: 2 | south 2022: 3 | south 2023: 4"],
    ),
    "years that are values": (
        """
        name,born,,goals
        Ida,1969,1990,12
        Ole,1971,1992,8
        """,
        ["name: Ida | born: 1969 | 1990 | goals: 12", "name: Ole | born: 1971 | 1992 | goals: 8"],
    ),
    "months as names": (
        "lamp,2023-01,2023-02\nrope,5,6\nhook,3,4",
        ["lamp: rope | 2023-01: 5 | 2023-02: 6", "lamp: hook | 2023-01: 3 | 2023-02: 4"],
    ),
    "dates are values above dates": (
        "Ole Brandt,2024-03-05\nMia Lund,2024-04-05",
        ["Ole Brandt | 2024-03-05", "Mia Lund | 2024-04-05"],
    ),
    "numbers that count the columns": (
        "team,1,2,3,4,all\nBulls,20,21,19,23,83\nNets,10,11,12,13,46",
        [
            "team: Bulls | 1: 20 | 2: 21 | 3: 19 | 4: 23 | all: 83",
            "team: Nets | 1: 10 | 2: 11 | 3: 12 | 4: 13 | all: 46",
        ],
    ),
    "spans as names": (
        "age,0-14,15–64,65+\nmen,5,6,7\nwomen,8,9,10",
        ["age: men | 0-14: 5 | 15–64: 6 | 65+: 7", "age: women | 0-14: 8 | 15–64: 9 | 65+: 10"],
    ),
    "seasons and months as names": (
        "club,2018/19,2019/20\nAjax,5,6\n\nlamp,01/2020,02/2020,03/2020\nrope,1,2,5",
        ["club: Ajax | 2018/19: 5 | 2019/20: 6", "lamp: rope | 01/2020: 1 | 02/2020: 2 | 03/2020: 5"],
    ),
    "results are no names": (
        "Ajax,0-1,1-2\nBrann,3-1,2-2",
        ["Ajax | 0-1 | 1-2", "Brann | 3-1 | 2-2"],
    ),
    "numbers with signs and units, and marks in their place, are values of a column": (
        "item,price\nrope,−5\nlamp,US$7\nhook,~8\nbolt,kr 9\npin,½\nnut,DNF\nsail,trace",
        [f"item: {item} | price: {price}" for item, price in (
            ("rope", "−5"), ("lamp", "US$7"), ("hook", "~8"), ("bolt", "kr 9"), ("pin", "½"), ("nut", "DNF"),
            ("sail", "trace"))],
    ),
    "a name of the second column alone": (
        "Crew\n,Ida\nage,31\ntown,5",
        ["Crew", "age | Ida: 31", "town | Ida: 5"],
    ),
    "two columns of one name": (
        "name,phone,phone\nInes,2207,2290\nRolf,99,88",
        ["name: Ines | phone: 2207 | phone: 2290", "name: Rolf | phone: 99 | phone: 88"],
    ),
    "labels beside values of mixed kinds": (
        "project,harbour wall\nleader,Tilda Rask\nbudget,\"1,250,000\"\nstart,2024-05-01",
        ["project: harbour wall", "leader: Tilda Rask", "budget: 1,250,000", "start: 2024-05-01"],
    ),
    "labels beside values, a year first": (
        "founded,1931\ntown,Ostholm\nboss,Mia Lund",
        ["founded: 1931", "town: Ostholm", "boss: Mia Lund"],
    ),
    "a price that is not known is no label's value": (
        "item,price\nrope,5\nhook,n/a\nlamp,8\nbolt,on request\nnut,3\npin,4",
        [f"item: {item} | price: {price}" for item, price in (
            ("rope", "5"), ("hook", "n/a"), ("lamp", "8"), ("bolt", "on request"), ("nut", "3"), ("pin", "4"))],
    ),
    "units below the names": (
        "boat,length,harbour,price\n,m,,(million $)\nMarta,12.5,Oslo,3\nVidar,9,Moss,",
        [
            "boat: Marta | length m: 12.5 | harbour: Oslo | price (million $): 3",
            "boat: Vidar | length m: 9 | harbour: Moss",
        ],
    ),
    "no units": (
        "boat,length,harbour\n,n/a,Oslo\nMarta,12.5,Moss",
        ["length: n/a | harbour: Oslo", "boat: Marta | length: 12.5 | harbour: Moss"],
    ),
    "two tables": (
        """
        Boats
        name,metres
        Marta,12.5

        Crew
        sailor,role,since
        Ole Brandt,cook,2011
        Mia Lund,mate,2016
        """,
        [
            "Boats",
            "name: Marta | metres: 12.5",
            "Crew",
            "sailor: Ole Brandt | role: cook | since: 2011",
            "sailor: Mia Lund | role: mate | since: 2016",
        ],
    ),
    "facts of a report above its table, which goes on below a gap": (
        """
        report,sales
        author,Mia Lund

        region,units,price
        north,12,5500

        total,12,5500
        """,
        [
            "report: sales",
            "author: Mia Lund",
            "region: north | units: 12 | price: 5500",
            "region: total | units: 12 | price: 5500",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "lines"), CASES.values(), ids=CASES.keys())
def test_rows_are_read_with_their_names(text: str, lines: list[str]) -> None:
    stripped = "\n".join(line.strip() for line in text.strip().splitlines())
    [page] = table_pages(list(csv.reader(io.StringIO(stripped))))
    assert page_text(page.html, SETTINGS).splitlines() == lines


def test_a_table_of_word_has_names_over_several_columns() -> None:
    head = word_cell("region", '<w:vMerge w:val="restart"/>') + word_cell("2022", '<w:gridSpan w:val="2"/>')
    second = word_cell("", "<w:vMerge/>") + word_cell("units") + word_cell("price")
    values = word_cell("north") + word_cell("120") + word_cell("5,500.50")
    rows = "".join(f"<w:tr>{cells}</w:tr>" for cells in (head, second, values))
    form = f"<w:tr>{word_cell('leader:')}{word_cell('Tilda Rask')}</w:tr>"

    markup = read_word(build_docx(f"<w:tbl>{rows}</w:tbl><w:p/><w:tbl>{form}</w:tbl>")).html
    assert page_text(markup, SETTINGS).splitlines() == [
        "region: north | 2022 units: 120 | 2022 price: 5,500.50",
        "leader: Tilda Rask",
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('name,said\n"Ida","He said \\"hi, all\\""\n', [["name", "said"], ["Ida", 'He said "hi, all"']]),
        ('path,n\n"C:\\boats\\",5\n', [["path", "n"], ["C:\\boats\\", "5"]]),
        ('code,name\n="0012",Ida\n"=""007""",Ole\n', [["code", "name"], ["0012", "Ida"], ["007", "Ole"]]),
        (
            "Account;NO93\nPeriod;May\n\nDate;Text;Amount\n04.05.2023;Shop;-12,50\n05.05.2023;Pay;3000,00\n",
            [
                ["Account", "NO93"],
                ["Period", "May"],
                [],
                ["Date", "Text", "Amount"],
                ["04.05.2023", "Shop", "-12,50"],
                ["05.05.2023", "Pay", "3000,00"],
            ],
        ),
    ],
    ids=["escaped quotation marks", "a path ends with a backslash", "text for Excel", "facts above the table"],
)
def test_rows_of_other_programs(text: str, rows: list[list[str]]) -> None:
    assert read_rows(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('name;n\n"open;1\nb;2\n', [["name", "n"], ["open", "1"], ["b", "2"]]),
        ('n;name\n1;"a\n2;"b"\n3;c\n', [["n", "name"], ["1", "a"], ["2", "b"], ["3", "c"]]),
        ('name;n\n"two\nlines";1\n', [["name", "n"], ["two\nlines", "1"]]),
        ('size;n\n7" long;1\n"7"" ""long";2\n', [["size", "n"], ['7" long', "1"], ['7" "long', "2"]]),
    ],
    ids=["never closed", "closed in another row", "over two lines", "inches"],
)
def test_a_lone_quotation_mark_costs_no_row(text: str, rows: list[list[str]]) -> None:
    assert read_rows(text) == rows
