"""Cleans web text: it may say anything, but must not contain our markup."""

import re

from crag.core.text import CONTROL_TOKENS, clean

# Marks that chat templates or tokenizers turn into control tokens, and our own marks around passages. Their text stays
# readable, but tokenizers no longer recognise them.
_CONTROL_MARK = re.compile(
    rf"{CONTROL_TOKENS}|</?doc(?=[\s>/])[^<>\n]{{0,256}}>|</?doc>|</?doc(?![A-Za-z0-9])", re.IGNORECASE
)
_BRACKETS = {"<": "<>|｜", "[": "[]"}
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
_FEWEST_FOREIGN_WORDS = 3
"""Different ones: names hold two ("de la")."""


def neutralise(text: str, *, references: bool = False) -> str:
    """Clean the text with `crag.core.text.clean` and make chat-template tokens and `<doc>` marks plain brackets.

    ``<|eot_id|>`` becomes ``(eot_id)``, ``[INST]`` becomes ``(INST)``. Applying it again changes nothing.
    """
    text = clean(text, references=references)
    before = ""
    while text != before and ("<" in text or "[" in text or "|>" in text):  # a mark may be inside another one
        before = text
        text = _CONTROL_MARK.sub(lambda match: f"({match[0].strip(_BRACKETS[match[0][0]]).strip()})", text)
        text = text.replace("<|", "(|").replace("|>", "|)")
    return text


def plain(text: str) -> str:
    """A snippet or page name as one line, without tags and entities.

    Search engines mark hits with ``<strong>`` and write ``&#x27;``. Removing a tag can join two halves of a mark, so
    the text is neutralised before and after.
    """
    return " ".join(neutralise(_TAG.sub("", neutralise(text)), references=True).split())


def plain_url(url: str, max_characters: int = 200) -> str:
    """The URL for use in quotes: without blanks, quotes and angle brackets, and cut off."""
    return neutralise(re.sub(r"[\s\"'<>]", "", neutralise(url)))[:max_characters]


def tidy(text: str) -> str:
    """Collapse blanks to one space and line ends to one line end; strip both ends."""
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", text)).strip()


def clean_lines(text: str, *, english_only: bool, max_word_characters: int | None) -> str:
    """Drop lines in other languages and overlong words (NEC 2.1, step 3)."""
    if english_only:
        text = "\n".join(line for line in text.split("\n") if not _is_foreign(line))
    if max_word_characters is not None:
        text = re.sub(rf"\S{{{max_word_characters + 1},}}[^\S\n]?", "", text)
        text = "\n".join(line.strip() for line in text.split("\n") if line.strip())
    return text


def _is_foreign(line: str) -> bool:
    """Whether most letters are of another script, or function words of another language outnumber the English ones."""
    foreign, english = (len(set(words.findall(line.lower()))) for words in (_FOREIGN_WORD, _ENGLISH_WORD))
    if foreign >= _FEWEST_FOREIGN_WORDS and foreign > english:
        return True
    letters = len(_LETTER.findall(line))
    return letters - len(_LATIN_LETTER.findall(line)) > _FOREIGN_LETTER_SHARE * letters
