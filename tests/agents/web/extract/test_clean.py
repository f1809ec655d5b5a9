from agents.web.extract.clean import clean_lines


def test_lines_in_other_scripts_go_and_names_numbers_and_accents_stay() -> None:
    text = "The film Amélie (アメリ) is French.\nфильм вышел в 2001 году\n2001 | 99 %\n電影\nMünchen"
    assert clean_lines(text, english_only=True, max_word_characters=None).split("\n") == [
        "The film Amélie (アメリ) is French.",
        "2001 | 99 %",
        "München",
    ]


def test_words_that_lost_their_spaces_go() -> None:
    text = f"a {'x' * 31} b {'y' * 30}\n{'z' * 40}\nc"
    assert clean_lines(text, english_only=False, max_word_characters=30) == f"a b {'y' * 30}\nc"


def test_nothing_is_changed_where_nothing_is_asked() -> None:
    assert clean_lines("電影 " + "x" * 99, english_only=False, max_word_characters=None) == "電影 " + "x" * 99
