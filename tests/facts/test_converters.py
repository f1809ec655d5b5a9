"""The converters, on rows written in the formats of the public files, and on the real files where they are there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.facts.converters import (
    build_companies,
    build_films,
    build_grammys,
    build_oscars,
    oscar_award,
    oscar_winners,
)
from crag.facts.entities import load_entities
from crag.facts.paragraphs import write_paragraph
from crag.facts.tables import TableError
from crag.text.matching import plain_name

PUBLIC = Path(__file__).parents[3] / "shared/data/public"
OSCAR_HEADER = "year_film,year_ceremony,ceremony,category,name,film,winner\n"
GRAMMY_HEADER = "year,title,category,nominee,artist,workers,winner\n"


def source(folder: Path, text: str) -> Path:
    path = folder / "source"
    path.write_text(text, encoding="utf-8")
    return path


def paragraphs(folder: Path) -> dict[str, str]:
    return {entity.names[0]: write_paragraph(entity, 20) for entity in load_entities(folder)}


def test_where_the_file_calls_all_nominees_of_a_grammy_winners_the_first_is_the_winner(tmp_path: Path) -> None:
    show = "62nd Annual GRAMMY Awards  (2019)"
    rows = (
        f'2019,{show},Best Song,Hum,,"Jane Doe & Jim Roe, songwriters (Al Poe)",True\n'
        f"2019,{show},Best New Artist,Al Poe,,,True\n"
        f"2019,{show},Best New Artist,Bo Loe,,,True\n"
        f"2019,{show},Best New Artist,Cy Moe,,,True\n"
        f"2019,{show},Best Duo,Drum,Al Poe & Bo Loe Featuring Di Noe,,True\n"
    )
    build_grammys(source(tmp_path, GRAMMY_HEADER + rows), tmp_path / "out")
    reported = paragraphs(tmp_path / "out")
    assert (
        "held in 2020. The awarded year is 2019. The winner is Al Poe. The other nominees are Bo Loe and Cy"
        in (reported["Best New Artist"])
    )
    assert 'Best Song for "Hum" (ceremony of 2020)' in reported["Al Poe"]
    assert 'Best Song for "Hum" (ceremony of 2020)' in reported["Jim Roe"]
    assert {"Al Poe & Bo Loe", "Di Noe"} <= set(reported)  # "A & B" stays a band's name unless both are artists here
    assert "Apple Inc." in reported, "the preset reads this folder instead of the shipped one"


SENTENCE = (
    "the information of example inc.(ex): the market capitalization is 1234567.5, "
    "the earnings per share (eps) is -0.5, the p/e ratio is unknown."
)


def test_figures_in_sentences_become_a_table_of_companies(tmp_path: Path) -> None:
    data = json.dumps({"ticker_info_map": {"ex": SENTENCE}})
    assert build_companies(source(tmp_path, data), tmp_path / "out", as_of="1 March 2024") == 1
    assert paragraphs(tmp_path / "out")["example inc."] == (
        "The name is example inc. The ticker symbol is EX. The market capitalisation is $1,234,567.50. "
        "The earnings per share is -0.5. The date of the figures is 1 March 2024."
    )


def test_a_figure_that_is_not_a_number_is_unknown(tmp_path: Path) -> None:
    sentence = SENTENCE.replace("1234567.5", "nan").replace("-0.5", "NaN").replace("unknown", "infinity")
    build_companies(source(tmp_path, json.dumps({"ticker_info_map": {"ex": sentence}})), tmp_path / "out", as_of="")
    assert paragraphs(tmp_path / "out")["example inc."] == (
        "The name is example inc. The ticker symbol is EX. The price to earnings ratio is infinity."
    )


COMPANIES = "Name,Ticker Symbol,Market Capitalisation,Earnings per Share,Price to Earnings Ratio\n"


def companies_csv(folder: Path, text: str) -> Path:
    path = folder / "figures.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_figures_in_a_csv_file_become_the_same_table(tmp_path: Path) -> None:
    table = companies_csv(tmp_path, f'{COMPANIES}Kite Works,kite,"$1,200,000,000",2.5,n/a\n')
    assert build_companies(table, tmp_path / "out", as_of="1 March 2024") == 1
    assert paragraphs(tmp_path / "out")["Kite Works"] == (
        "The name is Kite Works. The ticker symbol is KITE. The market capitalisation is $1,200,000,000. "
        "The earnings per share is 2.5. The date of the figures is 1 March 2024."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{COMPANIES}Kite Works,KITE,1.2B,2.5,\n", r"company KITE, .market_capitalisation.: '1\.2B' is not a number"),
        ("name,ticker\nKite Works,KITE\n", 'has no columns "earnings_per_share"'),
    ],
)
def test_a_csv_file_of_companies_without_numbers_or_columns_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        build_companies(companies_csv(tmp_path, text), tmp_path / "out", "")


FILM_HEADER = "id,title,original_title,release_date,original_language,genres,runtime,budget,revenue\n"
FILM = """7,Deep,Tief,1970-05-01,de,"[{'id': 1, 'name': 'Drama'}]",91.0,0,2500000\n"""


def test_films_have_their_director_and_actors_from_the_credits(tmp_path: Path) -> None:
    people = tmp_path / "credits.csv"
    people.write_text(
        """cast,crew,id\n"[{'name': 'Jane Doe'}]","[{'job': 'Director', 'name': 'Jim Roe'}]",7\n""", encoding="utf-8"
    )
    build_films(source(tmp_path, FILM_HEADER + FILM), tmp_path / "out", people)
    reported = paragraphs(tmp_path / "out")
    assert reported["Deep"] == (
        'The title is "Deep". The original title is "Tief". The director is Jim Roe. The lead actor is Jane Doe. '
        "The release year is 1970. The release date is 1970-05-01. The original language is de. The genre is Drama. "
        "The runtime in minutes is 91. The revenue is $2,500,000."
    )
    assert reported["Jim Roe"] == 'The name is Jim Roe. The film directed is "Deep" (1970).'


def test_a_row_of_films_without_title_and_number_is_left_out(tmp_path: Path) -> None:
    assert build_films(source(tmp_path, f"{FILM_HEADER}{FILM}broken,,,,,,,,\n"), tmp_path / "out", None) == 1


def test_a_film_with_unreadable_genres_keeps_its_other_cells(tmp_path: Path) -> None:
    broken = FILM.replace("[{'id", "[{'id' oops")
    build_films(source(tmp_path, FILM_HEADER + broken), tmp_path / "out", None)
    paragraph = paragraphs(tmp_path / "out")["Deep"]
    assert "The release year is 1970." in paragraph
    assert "genre" not in paragraph


OTHER_COLUMNS = "a,b\n1,2\n"


def films_without_credits(films: Path, out: Path) -> int:
    return build_films(films, out, None)


def companies_of_no_day(companies: Path, out: Path) -> int:
    return build_companies(companies, out, "")


@pytest.mark.parametrize(
    ("build", "text", "message"),
    [
        (build_oscars, OTHER_COLUMNS, 'source, line 1: the header has no columns "category", "ceremony"'),
        (
            films_without_credits,
            "id,title,original_title,release_date,original_language,genres\n",
            'has no columns "budget", "revenue", "runtime"',
        ),
        (companies_of_no_day, "{}", "ticker_info_map"),
        (companies_of_no_day, OTHER_COLUMNS, "Invalid JSON"),
    ],
)
def test_a_file_of_another_form_is_named_with_what_it_lacks(
    tmp_path: Path, build: Callable[[Path, Path], int], text: str, message: str
) -> None:
    with pytest.raises(TableError, match=message):
        build(source(tmp_path, text), tmp_path / "out")


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot be read"):
        build_grammys(tmp_path / "absent.csv", tmp_path / "out")


@pytest.mark.parametrize(
    ("build", "text", "message"),
    [
        (build_oscars, f"{OSCAR_HEADER}1970,1971,43rd,DIRECTING,Jane Doe,Deep,True\n", "line 2, \"ceremony\": '43rd'"),
        (build_oscars, f"{OSCAR_HEADER}1970,,43,DIRECTING,Jane Doe,Deep,True\n", "line 2, \"year_ceremony\": ''"),
        (build_grammys, f"{GRAMMY_HEADER}\nsoon,62nd,Best Song,Hum,Jane Doe,,True\n", "line 3, \"year\": 'soon'"),
    ],
)
def test_a_cell_that_is_no_number_is_named_with_its_line(
    tmp_path: Path, build: Callable[[Path, Path], int], text: str, message: str
) -> None:
    with pytest.raises(TableError, match=f"source, {message} is not a whole number"):
        build(source(tmp_path, text), tmp_path / "out")


@pytest.mark.parametrize(
    ("written", "result"), [("True", "won"), ("TRUE", "won"), ("1", "won"), ("FALSE", "nominated")]
)
def test_an_oscar_is_won_however_the_table_says_so(tmp_path: Path, written: str, result: str) -> None:
    build_oscars(source(tmp_path, f"{OSCAR_HEADER}1970,1971,43,DIRECTING,Jane Doe,Deep,{written}\n"), tmp_path / "out")
    header, row = (tmp_path / "out/oscars.csv").read_text(encoding="utf-8").splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["result"] == result


def test_the_real_public_files_agree_with_the_shipped_tables(tmp_path: Path) -> None:
    if not PUBLIC.is_dir():
        pytest.skip("../shared/data/public is not there")
    assert build_oscars(PUBLIC / "the_oscar_award.csv", tmp_path) > 10_000
    assert build_grammys(PUBLIC / "the_grammy_awards.csv", tmp_path) > 4_000
    assert build_companies(PUBLIC / "finance_marketcap_eps_pe.json", tmp_path, "") > 6_000
    awards = [own for own in load_entities(tmp_path) if own.one_a_year]
    winners = {(own.names[0].lower(), own.years): write_paragraph(own, 99) for own in awards}
    compared = agreed = 0
    for own in filter(lambda entity: entity.one_a_year, load_entities()):
        other = winners.get((own.names[0].lower(), own.years))
        if other:
            compared += 1
            reported = write_paragraph(own, 99)
            title = reported.split('"')[1] if '"' in reported else reported.split("winner is ")[1]
            agreed += plain_name(title) in plain_name(other.split("The other nominee")[0])
    assert compared > 300
    assert agreed >= compared * 0.95  # the rest are titles that the files spell otherwise


AWARDS = {
    "ACTOR IN A LEADING ROLE": "Best Actor",
    "DOCUMENTARY (Short Subject)": "Best Documentary Short",
    "SHORT FILM (Animated)": "Best Animated Short Film",
    "MUSIC (Song--Original for the Picture)": "Best Original Song",
    "MUSIC (Original Song Score)": "Best Original Song Score",
    "CINEMATOGRAPHY (Black-and-White)": "Best Cinematography (Black-and-White)",
    "HONORARY AWARD": "Honorary Award",
}
CREDITS = {
    "Jane Doe and Jim Roe, Producers": ["Jane Doe", "Jim Roe"],
    "Screenplay by Jane Doe; Story by Jim Roe & Jane Doe": ["Jane Doe", "Jim Roe"],
    "Production Design: Jane Doe; Set Decoration: Jim Roe": ["Jane Doe", "Jim Roe"],
    "Jane Doe, Jim Roe, Jr. and Al Poe": ["Jane Doe", "Jim Roe, Jr.", "Al Poe"],
    "Orle Studio Sound Department, Jane Doe, Sound Director": ["Orle Studio Sound Department", "Jane Doe"],
    "(Orle Studio Sound Department, Jane Doe, Sound Director)": ["Orle Studio Sound Department", "Jane Doe"],
    "Orle Department, Jane Doe, Sound Director; and Kite Department, Jim Roe, Sound Director": [
        "Orle Department",
        "Jane Doe",
        "Kite Department",
        "Jim Roe",
    ],
    "Jane Doe, head of department  (Score by Jim Roe and Al Poe)": ["Jane Doe", "Jim Roe", "Al Poe"],
    "Jane Doe, head of department  (no composer credit)": ["Jane Doe"],
    "Jane Doe, Producer; Jim Roe and Al Poe, Co-Producers": ["Jane Doe", "Jim Roe", "Al Poe"],
    "(Jane Doe), (Jim Roe)": ["Jane Doe", "Jim Roe"],
    "Jane Doe (Orle Studios)": ["Jane Doe"],
    "Jane (Janie) Doe": ["Jane (Janie) Doe"],
    "To Jane Doe, for her craft, and her patience.": ["Jane Doe"],
    "To Jane Doe and Jim Roe, for their craft.": ["Jane Doe", "Jim Roe"],
    " Jane Doe for her craft and her patience.": ["Jane Doe"],
    " Jane Doe and Jim Roe for the craft of their lives": ["Jane Doe", "Jim Roe"],
    " The Society of Kites and Herons for its services to flying and to birds": ["The Society of Kites and Herons"],
    " Jane Doe (Commemorative Award) - recognizing the craft and patience of Jane Doe": ["Jane Doe"],
    "The Fund for the Arts": ["The Fund for the Arts"],
    "": [],
}


@pytest.mark.parametrize(("category", "award"), AWARDS.items())
def test_a_category_is_named_as_people_name_it(category: str, award: str) -> None:
    assert oscar_award(category) == award


@pytest.mark.parametrize(("credit", "winners"), CREDITS.items())
def test_the_winners_are_the_names_in_a_credit(credit: str, winners: list[str]) -> None:
    assert oscar_winners(credit) == winners
