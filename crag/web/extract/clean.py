"""Cleans web text: it may say anything, but must not contain our markup."""

import re

from crag.core.model_marks import CONTROL_TOKENS
from crag.core.text import clean

# Marks that chat templates or tokenizers turn into control tokens, and our own marks around passages. Their text stays
# readable, but tokenizers no longer recognise them.
_CONTROL_MARK = re.compile(
    rf"{CONTROL_TOKENS}|</?doc(?=[\s>/])[^<>\n]{{0,256}}>|</?doc>|</?doc(?![A-Za-z0-9])", re.IGNORECASE
)
_MARK_BRACKETS = {"<": "<>|｜", "[": "[]", "◁": "◁▷"}
"""The characters around a mark's text, by the mark's first character."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LATIN_LETTER = re.compile(r"[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_FOREIGN_LETTER_SHARE = 0.5
"""A line is dropped if more than this share of its letters is outside A to Z."""
_ENGLISH_WORD = re.compile(r"\b(?:the|of|and|to|for|with|that|by|from|are|is|his|this|it|he|she|has|not|or|but)\b")
_FOREIGN_WORD = re.compile(
    r"\b(?:"
    r"el|la|los|las|del|que|una|por|con|para|como|más|su|le|les|des|et|est|une|dans|pour|qui|sur|pas|au|"
    r"aux|avec|du|der|die|das|und|ist|nicht|ein|eine|einen|mit|von|dem|den|auf|für|im|zu|il|che|di|non|"
    r"per|sono|della|è|gli|nel|os|em|não|um|uma|dos|da|ao|het|een|van|dat|zijn|niet|voor|op|och|att|det|"
    r"är|som|på|av|jest|nie|się|na"
    r")\b"
)
"""The most frequent words of Spanish, French, German, Italian, Portuguese, Dutch, Swedish and Polish."""
_MIN_FOREIGN_WORDS = 3
"""Distinct words of a foreign line: names hold two ("de la")."""


def neutralise(text: str, *, references: bool = False) -> str:
    """Clean the text with `crag.core.text.clean` and make chat-template tokens and `<doc>` marks plain brackets.

    Applying it again changes nothing.

    Example:
        neutralise("<|eot_id|>")  # "(eot_id)"
        neutralise("[INST] hello")  # "(INST) hello"
    """
    text = clean(text, references=references)

    # A mark may be inside another one, so the marks are replaced until there are none.
    before = ""
    while text != before and any(bracket in text for bracket in ("<", "[", "◁", "|>")):
        before = text
        text = _CONTROL_MARK.sub(_replace_brackets, text)
        text = text.replace("<|", "(|").replace("|>", "|)")
    return text


def _replace_brackets(mark: re.Match[str]) -> str:
    """The text of a mark in round brackets."""
    brackets = _MARK_BRACKETS[mark[0][0]]
    inner_text = mark[0].strip(brackets).strip()
    return f"({inner_text})"


def plain(text: str) -> str:
    """A snippet or page name as one line, without tags and entities.

    Search engines mark hits with ``<strong>`` and write ``&#x27;``.

    Example:
        plain("Tom&#x27;s <strong>comet</strong>")  # "Tom's comet"
    """
    # Removing a tag can join two halves of a mark, so the text is neutralised before and after.
    without_tags = _TAG.sub("", neutralise(text))
    safe_text = neutralise(without_tags, references=True)
    return " ".join(safe_text.split())


def plain_url(url: str, max_characters: int = 200) -> str:
    """The URL for use in quotes: without blanks, quotes and angle brackets, and at most `max_characters` long."""
    without_quotes = re.sub(r"[\s\"'<>]", "", neutralise(url))
    # Again, since a removed character can join two halves of a mark.
    return neutralise(without_quotes)[:max_characters]


def tidy(text: str) -> str:
    """Collapse blanks to one space and line ends to one line end; strip both ends."""
    single_blanks = re.sub(r"[^\S\n]+", " ", text)
    return re.sub(r" ?\n[ \n]*", "\n", single_blanks).strip()


def clean_lines(text: str, *, english_only: bool, max_word_characters: int | None) -> str:
    """Drop lines in other languages and overlong words (NEC 2.1, step 3)."""
    if english_only:
        english_lines = [line for line in text.split("\n") if not _is_foreign(line)]
        text = "\n".join(english_lines)

    if max_word_characters is not None:
        overlong_word = rf"\S{{{max_word_characters + 1},}}[^\S\n]?"
        text = re.sub(overlong_word, "", text)

        # Lines can be empty now.
        lines = [line.strip() for line in text.split("\n")]
        text = "\n".join(filter(None, lines))
    return text


def _is_foreign(line: str) -> bool:
    """Whether most letters are of another script, or function words of another language outnumber the English ones."""
    lower_line = line.lower()
    foreign_words = set(_FOREIGN_WORD.findall(lower_line))
    english_words = set(_ENGLISH_WORD.findall(lower_line))
    if len(foreign_words) >= _MIN_FOREIGN_WORDS and len(foreign_words) > len(english_words):
        return True

    letters = len(_LETTER.findall(line))
    latin_letters = len(_LATIN_LETTER.findall(line))
    return letters - latin_letters > _FOREIGN_LETTER_SHARE * letters
