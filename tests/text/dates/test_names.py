"""A name is not a date, whatever it is made of; the same words are dates where the sentence says so."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.text.dates import find_dates

SUNDAY = datetime(2024, 3, 10, 9, 30)

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
YEARS = st.integers(1850, 2090).map(str)

# What the words of invented titles are: none of them is a word of grammar.
ADJECTIVES = ("black", "blue", "manic", "good", "stormy", "long", "lazy", "silver", "endless", "broken")
NOUNS = ("lights", "rain", "fever", "sky", "witch", "child", "road", "garden", "fools", "penguins", "madness")

TITLES = st.one_of(
    st.tuples(st.sampled_from(ADJECTIVES), st.sampled_from(DAYS + MONTHS)),
    st.tuples(st.sampled_from(DAYS + MONTHS), st.sampled_from(NOUNS)),
    st.tuples(st.sampled_from(DAYS), st.sampled_from(("night", "morning")), st.sampled_from(NOUNS)),
    st.tuples(st.sampled_from(MONTHS), st.just("of the"), st.sampled_from(NOUNS)),
    st.tuples(st.sampled_from(ADJECTIVES), st.sampled_from(NOUNS), YEARS),
).map(" ".join)

QUESTIONS = (
    "who directed {}?",
    "who sang {}?",
    "who wrote {}?",
    "who produced the movie {}?",
    "who starred in {}?",
    "which actor plays the lead in the movie called {}?",
    "what band recorded {}?",
    "when was {} released?",
    "what is the plot of {}?",
    "who is in the cast of {}?",
    "how long is {}?",
    "what is {} about?",
    "does {} have a sequel?",
    "how many oscars did {} win?",
    "has {} won any awards?",
    "is {} based on a true story?",
    "tell me about {}",
)


@given(st.sampled_from(QUESTIONS), TITLES)
def test_an_invented_title_is_no_date(question: str, title: str) -> None:
    assert find_dates(question.format(title), SUNDAY) == []


KNOWN_TITLES = [
    title.strip()
    for title in """
    saturday night fever | friday night lights | blue monday | manic monday | ruby tuesday | freaky friday
    his girl friday | friday the 13th | any given sunday | sunday bloody sunday
    rainy days and mondays | tuesdays with morrie | the man who was thursday | friday i'm in love | gloomy sunday
    saturday night's alright for fighting | monday night raw | november rain | july morning | october sky
    the hunt for red october | the ides of march | march of the penguins | the guns of august | enchanted april
    august rush | wake me up when september ends | sweet november | april love | maggie may | may day
    2012 | 1917 | 1984 | 1776 | blade runner 2049 | 2001: a space odyssey | wonder woman 1984 | class of 1999
    death race 2000 | space: 1999 | spirit of 1776
""".replace("\n", "|").split("|")
    if title.strip()
]
TITLE_QUESTIONS = (
    "who directed {}?",
    "who wrote {}?",
    "who starred in {}?",
    "what is the plot of {}?",
    "how long is {}?",
    "when was {} released?",
)


@pytest.mark.parametrize("title", KNOWN_TITLES)
def test_a_known_title_is_no_date(title: str) -> None:
    for question in TITLE_QUESTIONS:
        assert find_dates(question.format(title), SUNDAY) == [], question


@pytest.mark.parametrize(
    "question",
    [
        # an ordinal that belongs to what follows, or to the event
        "in march first solar sold what?",
        "who lives on may second street?",
        "which team scored in may first?",
        "who sang april, 1950 (what a day)?",
        # days of feasts and of history
        "how much did shoppers spend on cyber monday?",
        "why is ash wednesday celebrated?",
        "how far did the dow fall on black monday?",
        "who invented april fools?",
        "how many people died in the september 11 attacks?",
        "when is the next friday the 13th?",
        "is the fourth of july a holiday?",
        # people, clubs, firms and symbols
        "how tall is june squibb?",
        "who is august wilson?",
        "who plays wednesday?",
        "who scored for sheffield wednesday?",
        "who is the lead singer of the 1975?",
        "where is ruby tuesday's headquarters?",
        "who is the ceo of sun pharma?",
        "what did wed stock close at?",
        "which company in the russell 2000 pays most?",
        "who reads the sunday times?",
        "what is the sale price of windows 2000?",
        # other words
        "who sat on the iron throne?",
        "may i march in the parade?",
        "is the sun larger than mars?",
        "how might this may be read?",
        # titles beside words that could announce a date
        "who directed born on the fourth of july?",
        "when was born on the fourth of july released?",
        "who plays k in blade runner 2049?",
        "who played guitar on november rain?",
        "who commentates on monday night football?",
        "which song is the biggest hit on 1989?",
        "who wrote yesterday?",
        "who directed the day after tomorrow?",
        "who directed next friday?",
        "who is the author of first monday in october?",
        "which actress played wednesday in the series?",
        "what film called friday?",
        "who hosts the tonight show?",
        'who wrote "monday" and "in may"?',
        "which actor was nominated for 1917?",
        "what did the composer win an oscar for 1917?",
        "which grammys did she win for 1989?",
        "who wrote the soundtrack for 2012?",
        "what is the runtime of 1917?",
        # numbers in words that count or name something
        "who owns nineteen ninety-nine-cent stores?",
        "who works in nineteen ninety-nine cent stores?",
        "who wrote nineteen eighty-four?",
        "who plays the lead in nineteen eighty-four?",
        "what causes twenty twenty vision?",
        "in two thousand and eight cases, what was stolen?",
        "since two thousand people came, what was eaten?",
        "which town has more than two thousand?",
        "how many points were scored in two thousand games?",
        "who sold the two thousand games?",
        "between two thousand and two thousand five hundred fans came to what?",
        # centuries and short years
        "who runs the 21st century fund?",
        "who wrote poverty in the twenty-first century?",
        "who sang winter of '71?",
        "who sang '99'?",
        # capitals
        "Who directed Saturday Night Fever?",
        "Who Sang Blue Monday?",
        "Which station has Sunday Night Baseball on Sunday Night Radio?",
        "Which column ran in USA Today first?",
    ],
)
def test_a_name_is_no_date(question: str) -> None:
    assert [date.expression for date in find_dates(question, SUNDAY)] == []


@pytest.mark.parametrize(
    ("question", "expressions"),
    [
        # prepositions of time
        ("what was the close on friday?", "friday"),
        ("who was arrested on friday in london?", "friday"),
        ("what happened on friday night?", "friday"),
        ("who hosted saturday night live on saturday?", "saturday"),
        ("until friday, what was the highest price?", "friday"),
        ("in february tesla sold how many cars?", "february"),
        ("how many jobs were added in february according to the report?", "february"),
        ("what films came out in may?", "may"),
        ("what was the price at the end of february?", "end of february"),
        ("how did apple on march 5 compare to march 1?", "march 5|march 1"),
        ("who was born on the fourth of july?", "fourth of july"),
        ("who directed oppenheimer in 2023?", "2023"),
        ("in 2022, who won: denver or atlanta?", "2022"),
        ("how many cars in 2023 compared to 2005?", "2023|2005"),
        # last, next, this; a date beside it
        ("which albums were released last friday?", "last friday"),
        ("did it close higher on february twenty-third?", "february twenty-third"),
        ("what happened on march the third?", "march the third"),
        ("what was the price on friday, march 1?", "friday, march 1"),
        ("who won last march, and who on friday the 1st of march?", "last march|friday the 1st of march"),
        # possessives
        ("what was the price at friday's close?", "friday"),
        ("who won tuesday's $2 million jackpot?", "tuesday"),
        ("what was february's inflation rate?", "february"),
        ("what is adele's 2015 album called?", "2015"),
        # a bare day after an event or a price
        ("did tesla close higher friday?", "friday"),
        ("what was nvidia's closing price friday?", "friday"),
        ("who did the suns beat saturday?", "saturday"),
        ("which minister was dismissed thursday?", "thursday"),
        ("who won the saturday game?", "saturday"),
        ("A storm made landfall Wednesday in which state?", "wednesday"),
        # years of editions, and of what is counted
        ("which 2010 film won?", "2010"),
        ("who won the super bowl 2018?", "2018"),
        ("what was the best film of 2012?", "2012"),
        ("who won best newcomer at the last awards (2014)?", "2014"),
        ("which version is better, 1984 or 2021?", "1984|2021"),
        ("how many did they win in 2019, 2020 and 2021?", "2019|2020|2021"),
        ("who won the nobel prize for 2019?", "2019"),
        ("who won the best actor oscar for 2019?", "2019"),
        # centuries and short years
        ("who was the best player of the 20th century?", "the 20th century"),
        ("who won the cup in '98?", "'98"),
        ("who led the league in the 98-99 season?", "98-99 season"),
        # years in words
        ("in nineteen ninety-nine, who won the cup?", "nineteen ninety-nine"),
        ("which film won at the oscars in two thousand and eight?", "two thousand and eight"),
        ("who won the twenty twenty world cup?", "twenty twenty"),
        ("by nineteen forty-five, how many had fled?", "nineteen forty-five"),
        ("which films opened in twenty twenty starring the band?", "twenty twenty"),
        ("who ruled by the end of twenty twenty-two?", "end of twenty twenty-two"),
    ],
)
def test_the_same_words_are_dates_where_the_sentence_says_so(question: str, expressions: str) -> None:
    assert "|".join(date.expression for date in find_dates(question, SUNDAY)) == expressions


@given(st.sampled_from(DAYS), st.sampled_from(("on", "since", "until", "last", "this", "next")))
def test_a_weekday_after_such_a_word_is_a_date(day: str, word: str) -> None:
    (found,) = find_dates(f"what was the price of the stock {word} {day}?", SUNDAY)
    assert found.range is not None
    assert found.range.first.strftime("%A").lower() == day or word == "until"
