"""The sentences that the answering model reads, whole: their wording is what a user sees."""

import re
from random import Random

import pytest

from agents.kg.results import Cell, Row
from agents.kg.schema import Column, Domain, load_schema
from agents.kg.verbalise import MOST_CHARACTERS, grouped, money, readable, verbalise
from tests.agents.kg.conftest import Run

SENTENCES = """
movie | get_person("cy dee")["birthday"]
  The birthday of Cy Dee is 1950-05-05.
movie | get_movie("red kite 2")
  The Red Kite 2 (2000): release date 2000-07-02; revenue $900; budget $300; rating 6; original language English (en);
  genres Drama; directed by Cy Dee; lead actors Ann Lee and Bob Ray.
movie | ALL get_movie_person_cast("red kite")["name"]
  2 roles of The Red Kite (1999). The actor of each: Bob Ray; Ann Lee.
movie | get_movie_person_oscar("red kite",None,eq(winner,"true"))["len"]
  The number of Oscar wins of The Red Kite is 1. It is: 2000, DIRECTING, Cy Dee.
movie | get_movie_person_cast(None,["ann lee","bob ray"])["len"]
  The number of roles of Ann Lee and Bob Ray is 2. They are: The Red Kite, 1999; The Red Kite 2, 2000.
movie | get_movie_person_cast(["blue door","borough"])["len"]
  The number of roles is 0.
finance | get_stock_market_cap("abc")
  The market capitalization of ABC is $1,234,567,890.
finance | get_stock_price("abc","2024-02-26")["close"]
  The closing price of ABC on 2024-02-26 is $12. (Also known: opening price $11; highest price $13; lowest price $10;
  trading volume 100 shares.)
finance | get_stock_price("abc","2024-02-22","2024-02-26")["open"]
  3 days of ABC. The opening price of each: $10 (2024-02-22); $12 (2024-02-23); $11 (2024-02-26). The average is $11,
  the lowest $10, the highest $12.
finance | get_stock_price("abc","2024-02-22","2024-02-23")["volume"]
  2 days of ABC. The trading volume of each: 100 shares (2024-02-22); 100 shares (2024-02-23). The sum is 200 shares,
  the average 100 shares, the lowest 100 shares, the highest 100 shares.
finance | get_stock_price("abc","2024-02-27","2024-02-28")
  2 days of ABC. 2024-02-27: opening price $14, highest price $16, lowest price $13, closing price $15, trading volume
  100 shares; 2024-02-28: opening price $13, highest price $15, lowest price $12, closing price $14, trading volume 100
  shares.
finance | get_stock_info("abc")["fullTimeEmployees"]
  The full-time employees of ABC are 12,345. (Also known: company name Abacus Inc.; expected earnings per share 2.5;
  price to expected earnings 20.25; ex dividend date 2024-02-21; company officers Ms. Ada Count (CEO).)
music | ALL get_person("wrens choir")["members"]
  The members of The Wrens Choir are Ida, Jo and Max.
music | get_person("wrens choir")["lifespan"]
  The life span (begin, end) of The Wrens Choir is 1990 to 2001.
music | get_person("zoe vox")["birth_place"]
  The country of origin of Zoe Vox is United Kingdom (GB).
music | get_grammy_person("zoe vox")["award_date"]
  The years of the Grammy Awards of Zoe Vox are 2012 and 2018.
music | get_billboard(None,"2024-02-28",eq(rank,"2"))["song"]
  The song of rank 2 of the Billboard Hot 100 of 2024-02-28 (Zoe Vox) is Second Song. (Also known: rank 2.)
sports | get_soccer_on_date("everton","2024-02")["result"]
  Of 2 games Everton drew 1 (1 at home, 0 away; against Arsenal), lost 1 (0 at home, 1 away; against Arsenal). In total
  3 scored and 11 conceded. 2 games of Everton (against Arsenal). The result of each: draw (on 2024-02-10, at home);
  loss (on 2024-02-24, away).
sports | get_nba_on_date("bulls","2022-12-31")["GF"]
  The score of Chicago Bulls (on 2022-12-31, against Utah Jazz, at home) is 101. (Also known: result win; score of the
  opponent 100; season type Regular Season; reb 40.)
music | get_person("zoe vox")["music"]⏎ALL sort(None,name)
  4 works of Zoe Vox. 2011-04-08: Live Somewhere, 2011-04-08; Hello Moon, 2010-03-04; Second Song, 2010; Undated.
finance | get_stock_price("abc","2024-02-26")["open"]⏎average
  The average of this 1 value of ABC is 11.
open | get_open("tall tower")
  Tall Tower: The Tall Tower stands in Foo. Its facts: height 828 m; location Foo.
open | get_open("tall tower")["height"]
  The height of Tall Tower is 828 m. (Also known: location Foo.)
"""


@pytest.mark.parametrize("case", re.split(r"\n(?! )", SENTENCES.strip()))
def test_sentences(run: Run, case: str) -> None:
    asked, *said = case.split("\n")
    domain, program = asked.split(" | ")
    assert run(domain, program.replace("⏎", "\n")).results[-1].text == " ".join(map(str.strip, said))


@pytest.mark.parametrize(
    ("domain", "program", "reason"),
    [
        ("movie", 'get_movie("borough")["revenue"]', "the graph does not know the revenue of Borough: Cultural Notes"),
        ("movie", 'ALL get_movie_person_cast("red kite",None,eq(name,"cy dee"))["character"]',
         "among the 2 roles of The Red Kite there is none where the actor is cy dee"),
        ("finance", 'get_stock_dividend("abc")\nsort(ge(date,"2025-01-01"),date)["value"]',
         "among the 3 dividends of ABC there is none where the dividend date is not before 2025-01-01"),
    ],
)  # fmt: skip
def test_why_nothing_was_found(run: Run, domain: str, program: str, reason: str) -> None:
    assert run(domain, program).results[-1].explanation[0] == reason


def test_long_lists_are_cut_and_counted() -> None:
    table = load_schema("finance").tables["get_stock_dividend"]
    rows = [Row(table.name, "ABC", {"date": f"20{n:02}-01-01", "value": n / 100}) for n in range(1, 61)]
    text = verbalise(table, rows, rows, "value")
    assert text.startswith("60 dividends of ABC.")
    assert "and 35 more. The sum is $18.30, the average $0.305, the lowest $0.01, the highest $0.6." in text
    members = tuple(f"Member {n}" for n in range(1000))
    person = load_schema("music").tables["get_person"]
    said = verbalise(person, [row := Row("get_person", "X", {"members": members})], [row], "members")
    assert said.endswith("Member 24 and 975 more.")


def test_every_text_is_bounded() -> None:
    rng = Random(5)
    for domain in ("movie", "finance", "music", "sports", "open"):
        for table in load_schema(domain).tables.values():
            values: list[Cell] = ["w " * 50, 3, None, ("v " * 40,) * 9]
            rows = [Row(table.name, "e" * 40, {key: rng.choice(values) for key in table.columns}) for _ in range(60)]
            for key in (None, *table.columns):
                for taken in (rows, rows[:1]):
                    assert len(verbalise(table, rows, taken, key)) <= MOST_CHARACTERS + 60


def column(place: str) -> Column:
    name, _, key = place.partition(".")
    tables = (schema.tables[name] for schema in map(load_schema, Domain) if name in schema.tables)
    return next(table.columns[key] for table in tables if key in table.columns)


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        ("get_stock_price.close", "1234567", "$1,234,567"),
        ("get_stock_price.close", "n/a", "n/a"),
        ("get_movie.length", 90.5, "90.5 minutes"),
        ("get_movie_person_oscar.winner", False, "no"),
        ("get_song.release_country", "XE", "Europe (XE)"),
        ("get_movie.original_language", "qq", "qq"),
        ("get_soccer_on_date.result", "D", "draw"),
        ("get_soccer_on_date.result", "abandoned", "abandoned"),
        ("get_person.lifespan", ("1990", None), "1990 to unknown"),
    ],
)
def test_values(place: str, value: Cell, text: str) -> None:
    assert readable(value, column(place)) == text


def test_numbers_and_money() -> None:
    numbers = (1234567, 3.14159, 0.03412, -7, 0, -12345.5, -0.034125, 1e15)
    shown = "1,234,567 3.142 0.03412 -7 0 -12,345.5 -0.03413 1,000,000,000,000,000"
    assert " ".join(map(grouped, numbers)) == shown
    assert grouped(1e300)
    amounts = (1234.5, 1200, 0.0341, -5, -2.5, 0.999, 1.999, 0)
    assert " ".join(map(money, amounts)) == "$1,234.50 $1,200 $0.0341 -$5 -$2.50 $0.999 $2.00 $0"
