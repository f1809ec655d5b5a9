"""A name is found in whatever spelling the question and the page have it."""

import pytest

from crag.web.ranking import bm25_scores
from crag.web.terms import QuestionSpelling

SPELLINGS = [
    # accents on either side, composed or not
    ("zurich", "Zürich"),
    ("zürich", "Zurich"),
    ("zu\u0308rich", "Zürich"),
    ("zurich", "Zu\u0308rich"),
    ("muenster", "Münster"),
    ("münster", "Muenster"),
    ("weissbach", "Weißbach"),
    ("tromso", "Tromsø"),
    ("aerosund", "Ærøsund"),
    ("lomza", "Łomża"),
    ("dakovo", "Đakovo"),
    ("kadikoy", "KADIKÖY"),
    ("izmir", "İzmir"),
    # signs inside a name
    ("zztop", "ZZ-Top"),
    ("zz top", "ZZ/Top"),
    ("zz-top", "ZZTop"),
    ("omalley", "O’Malley"),
    ("o'malley", "OMalley"),
    ("b&q", "B&Q"),
    ("bq", "B&Q"),
    ("b&q", "BQ"),
    ("elo", "E.L.O."),
    ("e.l.o.", "ELO"),
    ("batman", "Bat-Man"),
    ("bat man", "Batman"),
    ("bat-man", "Bat Man"),
    ("a-ha", "Aha"),
    ("hannahs house", "Hannah's House"),
    ("hannah's house", "Hannahs House"),
    ("m&ms", "M&M's"),
    ("4x400m", "4 × 400 m"),
    ("4 x 400 m", "4×400m"),
    ("2-0", "2–0"),
    # signs that are words, and signs that are letters
    ("d++", "D++"),
    ("d plus plus", "D++"),
    ("g#", "G#"),
    ("g sharp", "G#"),
    ("gsharp", "G#"),
    (".org", "(.ORG)"),
    ("skyview plus", "SkyView+"),
    ("kri$ta", "Krista"),
    ("krista", "Kri$ta"),
    ("t!na", "Tina"),
]


@pytest.mark.parametrize(("asked", "written"), SPELLINGS)
def test_a_name_is_found_in_another_spelling(asked: str, written: str) -> None:
    spelling = QuestionSpelling(f"who started {asked} in larkfield?")
    terms = set(spelling.terms) - {"started", "larkfield"}
    assert terms
    assert terms <= set(spelling.read(f"In 1990, {written}, they say, began."))


@pytest.mark.parametrize(
    ("asked", "written"),
    [("2-0", "20"), ("20", "2-0"), ("therapist", "the rapist"), ("ford", "f or d"), ("band", "b and")],
)
def test_other_words_are_not_joined(asked: str, written: str) -> None:
    spelling = QuestionSpelling(f"who started {asked} in larkfield?")
    assert not (set(spelling.terms) - {"started", "larkfield"}) & set(spelling.read(written)) - {"2", "0"}


def test_a_page_about_the_language_is_before_one_about_the_letter() -> None:
    scores = bm25_scores(
        "who made d++ in larkfield?", ["D was made in Larkfield; D is a letter.", "D++ was made by Ann."] * 2
    )
    assert scores[1] > scores[0]


@pytest.mark.parametrize(
    ("asked", "written", "read"),
    [
        ("who led zztop", "ZZ/Top's singer", "zztop's singer"),
        ("who led zz-top", "ZZTop", "zz-top"),
        ("who led zz-top", "ZZ Top", "ZZ Top"),  # an encoder reads both alike
        ("who led muenster", "Münster", "muenster"),
        ("who led lomza", "in Łomża.", "in lomza."),
        ("who made d++", "D++", "D plus plus "),
        ("who made krista", "Kri$ta", "Krista"),
    ],
)
def test_encoders_read_names_as_the_question_writes_them(asked: str, written: str, read: str) -> None:
    assert QuestionSpelling(asked).rewrite(written) == read


def test_text_without_the_question_s_names_stays_as_it_is() -> None:
    spelling = QuestionSpelling("who opened nvidia's first office in zurich?")
    for text in ("Nvidia's first office; its first-rate staff — a café.", "An NVIDIA office, in Zurich", ""):
        assert spelling.rewrite(text) == text
    assert spelling.question == "who opened nvidia's first office in zurich?"


@pytest.mark.parametrize(
    ("asked", "about_it", "about_another"),
    [
        ("東京タワーの高さは何メートルですか?", "東京タワーの高さは333メートルです。", "大阪城は大阪市にある城です。"),
        ("长城有多长?", "万里长城的总长度为两万多公里。", "故宫位于北京市中心。"),
        ("한강의 길이는?", "한강은 길이가 494킬로미터이다.", "서울은 대한민국의 수도이다."),
    ],
)
def test_scripts_without_blanks_are_found_by_pairs_of_characters(asked: str, about_it: str, about_another: str) -> None:
    scores = bm25_scores(asked, [about_another, about_it])
    assert scores[1] > scores[0]
