import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.web.extract.clean import clean_lines, neutralise, plain, plain_url

CONTROL_TOKENS = [
    "<|eot_id|>", "<|begin_of_text|>", "<|start_header_id|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<doc>", "</doc>", '<doc source="x">', "<DOC >", "<unk>",
    "<pad>", "<bos>", "<start_of_turn>", "[CLS]", "[SEP]", "[MASK]", "<|", "|>", "<doc unclosed",
]  # fmt: skip


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_no_control_token_survives_and_the_text_round_it_does(token: str) -> None:
    text = neutralise(f"before {token} after")
    assert token.lower() not in text.lower()
    assert text.startswith("before ")
    assert text.endswith(" after")
    for invisible in ("\u200b", "\u00ad", "\u2060", "\x00"):
        assert token not in neutralise(invisible.join(token))


@given(st.lists(st.sampled_from([*CONTROL_TOKENS, "<", "|", ">", "[", "s", "/", "doc", "INST]", " "]), max_size=12))
def test_tokens_cannot_be_built_from_parts_and_a_second_pass_changes_nothing(parts: list[str]) -> None:
    text = neutralise("".join(parts))
    assert neutralise(text) == text
    assert not [token for token in ("<|", "|>", "[INST]", "<s>", "</s>", "<doc>", "</doc>", "<<SYS>>") if token in text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the <strong>longest</strong> dog", "the longest dog"),
        ("Mo&amp;M&#x27;s   price\n is 3", "Mo&M's price is 3"),
        ("if a < b and b > c", "if a < b and b > c"),
        ("", ""),
        ("&lt;|eot_id|&gt; hi", "(eot_id) hi"),
        ('</do<b>c> <<b>doc source="x">', '(/doc) (doc source="x")'),
        ("[I<b></b>NST]", "(INST)"),
        ("&lt;|[INST]|&gt;", "((INST))"),
    ],
)
def test_a_snippet_is_one_line_without_tags_and_marks(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_url_cannot_leave_its_quotes() -> None:
    assert plain_url('https://a.org/"><doc source="x') == "https://a.org/(doc)source=x"
    assert len(plain_url("https://a.org/" + "x" * 9999)) == 200
    assert plain_url("https://a.org/[IN ST]") == "https://a.org/(INST)"


@pytest.mark.parametrize(
    "mark", ["<|eot_id|>", "[INST]", "[/INST]", "<<SYS>>", "<s>", "</s>", "<doc>", "</doc>", "[CLS]"]
)
@pytest.mark.parametrize("between", ["<b>", "</b>", "<b x=1></b>", "\u200b", "&#x200b;", '"', " ", "<b>&shy;</b>"])
def test_what_holds_the_halves_of_a_mark_apart_cannot_vanish_and_leave_the_mark(mark: str, between: str) -> None:
    for place in range(1, len(mark)):
        text = mark[:place] + between + mark[place:]
        for cleaned in (plain(text), plain_url(text)):
            assert mark not in cleaned
            assert neutralise(cleaned) == cleaned


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("La película se estrenó en los cines de España con una gran acogida por la crítica.", True),
        ("Der Film kam im März 1972 in die Kinos und ist bis heute einer der bekanntesten.", True),
        ("Le film est sorti dans les salles en 1972 et a reçu un accueil favorable.", True),
        ("Il film non è uscito nelle sale italiane, ma per la critica fu un successo che dura.", True),
        ("Directed by Alejandro de la Cruz", False),
        ("Cast: Robert De Niro, Leonardo DiCaprio, La La Land, Die Hard", False),
        ("The opera La donna del lago was first given in Naples and is one of his best.", False),
        ("Points per game, rebounds per game, assists per game", False),
    ],
)
def test_a_line_is_english_unless_words_of_another_language_outnumber_the_english_ones(
    line: str, foreign: bool
) -> None:
    assert (clean_lines(line, english_only=True, max_word_characters=None) == "") is foreign


def test_lines_in_other_scripts_and_words_that_lost_their_spaces_go() -> None:
    text = f"The film Amélie (アメリ) is French.\nфильм\n2001 | 99 %\n電影\nMünchen\n{'x' * 31} {'y' * 30}\n{'z' * 40}"
    assert clean_lines(text, english_only=True, max_word_characters=30).split("\n") == [
        "The film Amélie (アメリ) is French.",
        "2001 | 99 %",
        "München",
        "y" * 30,
    ]
    assert clean_lines(text, english_only=False, max_word_characters=None) == text
