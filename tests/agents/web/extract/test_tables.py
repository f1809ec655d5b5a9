import pytest

from agents.web.extract.tables import is_data_table, row_text


def test_a_row_keeps_its_columns_in_place() -> None:
    assert row_text(["Year", "", "Film"]) == "Year |  | Film"
    assert row_text(["", "Film", ""]) == "Film"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b"], ["c", "d"]], True),
        ([["a", "b"]], False),
        ([["a"], ["b"], ["c"]], False),
        ([["menu", ""], ["article", ""]], False),
        ([["menu", "x" * 5000], ["a", "b"], ["c", "d"]], False),
        ([], False),
    ],
)
def test_data_and_layout(rows: list[list[str]], expected: bool) -> None:
    assert is_data_table(rows) is expected
