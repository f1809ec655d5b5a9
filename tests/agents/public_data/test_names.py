import pytest

from agents.public_data.names import company_names, normalise, spellings


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("Amélie", "amelie"),
        ("Wall-E", "wall e"),
        ("Mumford & Sons", "mumford and sons"),
        ("Don’t  Look\tUp!", "dont look up"),
        ("...", ""),
    ],
)
def test_marks_and_case_do_not_tell_names_apart(written: str, same: str) -> None:
    assert normalise(written) == same


def test_a_possessive_and_an_article_are_optional() -> None:
    assert spellings("Schindler's List") == {"schindlers list", "schindler list"}
    assert spellings("The Godfather") == {"the godfather", "godfather"}
    assert spellings("A") == {"a"}


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("Airbnb Inc. Class A Common Stock", "airbnb"),
        ("American Airlines Group Inc.", "american airlines"),
        ("Deere & Company", "deere"),
        ("Example Holdings Ltd. American Depositary Shares", "example"),
        ("Incyte Corp", "incyte"),
        ("Group 1 Automotive", "group 1 automotive"),
    ],
)
def test_companies_are_known_without_their_legal_form(listed: str, said: str) -> None:
    assert list(company_names(listed))[-1] == said
    assert next(company_names(listed)) == normalise(listed)
