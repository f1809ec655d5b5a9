"""CSV as people write it: other capitals and blanks in the header, long cells; what cannot be read is named."""

import csv
import io

import pytest

from crag.core.csv_files import CsvReader, fold_name, misspelt_names
from crag.core.files import DatasetError

KNOWN = ("query", "answer", "alt_ans", "question_type")


def read(content: str, *, delimiter: str = ",", strict: bool = True) -> list[tuple[int, dict[str, str]]]:
    lines = io.StringIO(content, newline="")
    reader = CsvReader(lines, "q.csv", KNOWN, ("query",), delimiter=delimiter, strict=strict)
    return [(row.line, row.cells) for row in reader]


@pytest.mark.parametrize(
    "header",
    [
        "query,answer",
        "query, answer",
        " QUERY ,Answer\t",
        '"Query" , " answer "',
        "\ufeffquery\u00a0,\u200banswer",
        "\n\nquery,answer",
        "'query','answer'",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_capitals_blanks_and_quotes_of_a_header_do_not_matter(header: str, end: str) -> None:
    text = f'{header}\n"who, then?" , "Lee, ""Ann"""\n\n , \n'.replace("\n", end)
    ((_, cells),) = read(text)
    assert cells == {"query": "who, then?", "answer": 'Lee, "Ann"'}


def test_names_are_folded_and_others_keep_their_spelling() -> None:
    assert [fold_name(name) for name in ("Alt Ans", "ALT-ANS", "alt__ans", " alt_ans")] == ["alt_ans"] * 4
    assert read("Question Type,Query,,My Notes\nsimple,q,7,n\nset,r\n") == [
        (2, {"question_type": "simple", "query": "q", "My Notes": "n"}),
        (3, {"question_type": "set", "query": "r", "My Notes": ""}),
    ]


def test_a_cell_may_hold_a_page_and_a_tab_separates_too() -> None:
    page = 'a "page", \n' * 30_000
    quoted = page.replace('"', '""')
    ((_, cells),) = read(f'query\tanswer\n"{quoted}"\tx\n', delimiter="\t")
    assert cells == {"query": page.strip(), "answer": "x"}
    assert csv.field_size_limit() > len(page)


@pytest.mark.parametrize(
    ("content", "delimiter", "line"),
    [
        ('query;answer\n"who, or what?";3,5\n', ",", 2),
        ('"Query" ; "Answer"\n"who, or what?" ; "3,5"\n', ",", 2),
        ("\nquery\tanswer\nwho, or what?\t3,5\n", ",", 3),
        ("query|answer\r\nwho, or what?|3,5\r\n", ",", 2),
        ('query,answer\n"who, or what?","3,5"\n', "\t", 2),
        ("query;answer\nwho, or what?;3,5\n", "\t", 2),
        ("\ufeffsep=;\r\nquery;answer\r\nwho, or what?;3,5\r\n", ",", 3),
        ('sep=,\nquery,answer\n"who, or what?","3,5"\n', "\t", 3),
    ],
)
def test_the_header_tells_what_separates_the_cells(content: str, delimiter: str, line: int) -> None:
    assert read(content, delimiter=delimiter) == [(line, {"query": "who, or what?", "answer": "3,5"})]


def test_another_separator_in_a_header_or_a_cell_changes_nothing() -> None:
    assert read("query,notes; mine\nwho; when?,a;b\n") == [(2, {"query": "who; when?", "notes; mine": "a;b"})]
    assert read('query\n"""Up"" ; who?"\n') == [(2, {"query": '"Up" ; who?'})]
    assert read("query\nwho;when\twhere?\n") == [(2, {"query": "who;when\twhere?"})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Query,Answer,x, answer \n", "q.csv, line 1, column 4: 'answer' names the same column as 'Answer' (column 2)"),
        ("\nx,X\n", "q.csv, line 2, column 2: 'X' names the same column as 'x' (column 1)"),
        ("querry,answer\n", 'q.csv, line 1: the header has no column "query", only querry, answer; by "querry", did'),
        ("querry;answer\n", 'the header has no column "query", only querry, answer; by "querry", did you mean'),
        ("", 'q.csv, line 1: the header has no column "query", only nothing'),
        ("query,answer\nwho?,Lee, Ann\n", "q.csv, line 2: 3 cells, but the header has 2 columns; put quotes"),
        ('query\nq\n"open\nand on\n', "q.csv, line 3: not CSV in UTF-8 (unexpected end of data)"),
    ],
)
def test_what_cannot_be_read_is_named(content: str, message: str) -> None:
    with pytest.raises(DatasetError) as fault:
        read(content)
    assert message in str(fault.value)


def test_files_of_others_are_read_as_far_as_they_go() -> None:
    assert read('query\n"a" b,c\n', strict=False) == [(2, {"query": "a b"})]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("anwser", "answer"), ("Awnser", "answer"), ("answers", "answer"), ("querry", "query"), ("qurey", "query")),
        *(("answered", None), ("answer_id", None), ("main", None), ("query_id", None), ("notes", None), ("", None)),
    ],
)
def test_a_typing_error_is_told_from_another_word(name: str, meant: str | None) -> None:
    assert misspelt_names([name], ["query", "answer", "query_time"]).get(name) == meant
