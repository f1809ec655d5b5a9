"""Yes and no, also without the word: "He did.", "Certainly not.", "That is correct"."""

import re
from typing import NamedTuple

from crag.evaluation.judge.reading.patterns import any_of

_CERTAINLY = any_of(r"(?:most\s|quite\s)?(?:certainly|definitely|absolutely) of\scourse surely")
_NO = any_of(
    r"nope no nah incorrect false wrong negative never none(?=\W{0,3}$) not(?=\W{0,3}$) "
    r"not\s(?:at\sall|yet|really|true|correct|so|quite|any\s?more) "
    r"(?:probably|apparently|clearly|obviously|i'm\safraid|sadly)\snot i\s(?:do\snot|don't)\s(?:think|believe)\sso "
    r"i\s(?:think|believe|fear)\snot i\sdoubt\sit by\sno\smeans in\sno\sway far\sfrom\sit on\sthe\scontrary hardly"
)
_YES = any_of(
    r"yes yeah yep yup aye correct true right indeed affirmative i\s(?:think|believe)\sso without\s(?:a\s)?doubt "
    r"no\sdoubt exactly sure undoubtedly"
)
_LEADING = re.compile(
    rf"""
    \W{{0,9}} (?:answer\s{{0,9}}:\s{{0,9}})?
    (?:
        (?P<no> {_CERTAINLY}\snot | (?!no\sdoubt\b){_NO} )
      | (?P<yes> {_CERTAINLY} | {_YES} )
    )\b
    (?! \s(?:and|or)\s(?:yes|no)\b )    # "yes and no"
    """,
    re.VERBOSE,
)
_PREAMBLE = re.compile(
    r"""
    \W{0,9}
    (?: (?:the|my)\s(?:short\s|final\s|correct\s)?answer(?:\sto\s(?:the|this|that|your)\squestion)?
        \s(?:is|would\sbe)[\s:,]
      | (?:based\son|according\sto|as\sof|from|per|given)\s[^,.;!?\n]{1,80},\s
      | (?:unfortunately|sadly|regrettably|alas|fortunately|luckily|happily|actually|well|in\sfact|in\sshort)[\s,]
    )
    """,
    re.VERBOSE,
)
"""What may stand before the reply: "Based on the page, ...", "The answer is ...", "Unfortunately, ..."."""
_CONCLUSION = re.compile(
    r"\b(?:so|therefore|thus|hence|answer\sis|answer\swould\sbe|answer:),?:?\s(?:the\sanswer\sis:?\s)?(?P<word>yes|no)\W{0,9}\Z"
)
"""At the end: "There are 120, so yes."."""
_LETTERS = {"y": True, "n": False, "✅": True, "✔": True, "👍": True, "❌": False, "✘": False, "👎": False}
"""Letters and signs that are a whole reply."""
_STATEMENT = re.compile(
    r"""
    \W{0,9}
    (?:that|this|it|the\s(?:statement|claim|answer|premise))(?:\sis|\swas|'s)(?P<contracted>n't)?
    \s(?P<negation>not\s|un)?(?:indeed\s|quite\s|absolutely\s)?
    (?P<word>correct|right|true|so|accurate|the\scase|a\smyth|a\slie|a\smisconception|untrue|incorrect|wrong|false|inaccurate)\b
    """,
    re.VERBOSE,
)
"""A sentence about the question as a statement."""
_THAT_NOT = re.compile(r"\sthat\s[^.!?\n]{0,200}?(?:\b(?:not|never)\b|n't\b)")
"""What the statement is about, denied: "it is true that he did not win"."""
_FALSE_WORDS = frozenset({"incorrect", "wrong", "false", "inaccurate", "untrue", "a myth", "a lie", "a misconception"})

_AUXILIARY = r"(?:did|do|does|is|are|am|was|were|has|have|had|can|could|will|would|should|must)"
_SHORT_REPLY = re.compile(
    rf"""
    \W{{0,9}} (?:(?:indeed|oh|well|and),?\s)?
    (?P<subject>[a-z][\w'.-]{{0,30}}(?:\s[a-z][\w'.-]{{0,30}}){{0,3}}?)
    \s(?P<early>never\s|indeed\s|also\s)?
    (?: {_AUXILIARY} (?P<negation>n't|\snot|not|\snever)? | (?P<contracted>won't|can't|shan't) )
    (?:\sbeen|\sbe)? (?:\sso|\sindeed|\stoo|\sany|\sone|\syet)?
    \s{{0,9}}[.!]{{0,3}}\s{{0,9}}$
    """,
    re.VERBOSE,
)
"""A whole sentence of a subject and an auxiliary verb: "She did not."; "it's not" is read below."""
_SHORT_IS_NOT = re.compile(r"\W{0,9}(?:(?:it|he|she|that|there)'s|(?:they|we|you)'re|i'm)\snot\s{0,9}[.!]{0,3}\s{0,9}$")
_ONE_OF_THEM = re.compile(
    rf"""
    \W{{0,9}} (?:only\s|just\s)? 1 (?:\sof\s\w{{1,20}}(?:\s\w{{1,20}})?)?
    \s{_AUXILIARY} \s{{0,9}}[.!]{{0,3}}\s{{0,9}}$
    """,
    re.VERBOSE,
)
"""A reply that says no to "are both?" and yes to "is any?"."""
_ALL = re.compile(r"\b(?:both|all|every|each)\b")
_ANY = re.compile(r"\b(?:any|either|one)\b")
_USED_TO = re.compile(r"\W{0,9}(?:he|she|it|they|we|i)\sused\sto(?:\s\w{1,20})?\s{0,9}[.!]{0,3}\s{0,9}$")
"""A reply to "does she still?" that means no."""
_WORD = re.compile(r"[a-z]+")
_PRONOUNS = frozenset({"he", "she", "it", "they", "i", "we", "you", "that", "this", "there", "those", "these"})
_NOBODY = frozenset({"none", "nobody", "neither", "nothing"})
_ABOUT_PRONOUN = re.compile(rf"{_AUXILIARY}(?:n't)?\s(?:{'|'.join(sorted(_PRONOUNS))})\b")
"""A question about somebody whom it does not name."""
_FIRST_SENTENCE = re.compile(r"[^.!?\n;,]{1,200}")


class LeadingWord(NamedTuple):
    """A word or phrase at the beginning of a text that means yes or no, and where it ends."""

    is_yes: bool
    end: int


def read_leading_word(text: str) -> LeadingWord | None:
    """The word that means yes or no at the beginning of a text; None if it begins otherwise.

    >>> read_leading_word("certainly not, he lost")
    LeadingWord(is_yes=False, end=13)
    """
    match = _LEADING.match(text)
    if match is None:
        return None
    return LeadingWord(match["yes"] is not None, match.end())


def read_polarity(text: str, question: str = "") -> bool | None:
    """Whether a text in lower case says yes; None if it says neither.

    Reads the leading word, short replies, and a conclusion at the end.

    >>> read_polarity("she never did."), read_polarity("that is correct"), read_polarity("in 1990")
    (False, True, None)
    >>> read_polarity("the answer is no."), read_polarity("she has two, so yes.")
    (False, True)
    """
    letter = _LETTERS.get(text.strip(" ."))
    if letter is not None:
        return letter

    preamble = _PREAMBLE.match(text)
    reply = _read_reply(text[preamble.end() :] if preamble else text, question)
    if reply is not None:
        return reply
    conclusion = _CONCLUSION.search(text)
    return conclusion["word"] == "yes" if conclusion else None


def _read_reply(text: str, question: str) -> bool | None:
    """What the beginning of a text says."""
    statement = _STATEMENT.match(text)
    if statement is not None:
        # "not wrong" says yes: a negation turns the word around
        is_false = statement["word"] in _FALSE_WORDS
        says_yes = is_false is bool(statement["negation"] or statement["contracted"])
        return says_yes is (_THAT_NOT.match(text, statement.end()) is None)

    leading = read_leading_word(text)
    if leading is not None:
        return leading.is_yes
    return _read_short_reply(text, question)


def _read_short_reply(text: str, question: str) -> bool | None:
    """What "she did" says; a reply about somebody whom the question does not name says no."""
    # Only the first sentence replies; the rest explains
    first = _FIRST_SENTENCE.match(text.lstrip())
    if first is None:
        return None
    if _SHORT_IS_NOT.match(first[0]) or (_USED_TO.match(first[0]) and "still" in _WORD.findall(question)):
        return False
    asks_all = _ALL.search(question) is not None
    if _ONE_OF_THEM.match(first[0]) and (asks_all or _ANY.search(question)):
        return not asks_all
    match = _SHORT_REPLY.match(first[0])
    if match is None:
        return None

    # "She never did": the pattern may take the adverb for a part of the subject
    subject = set(_WORD.findall(match["subject"])) - {"never", "indeed"}
    question_words = set(_WORD.findall(question))
    is_other = not subject & (_PRONOUNS | question_words) and not _ABOUT_PRONOUN.match(question)
    if is_other or subject & _NOBODY:
        # "Bo did" to "did Ann win?", but "none did" to "did nobody win?"
        return bool(subject & question_words & _NOBODY)

    # The adverb stands before or after the auxiliary verb
    is_never = "never" in (match["early"] or "") or "never" in match["subject"].split()
    return not (match["negation"] or match["contracted"] or is_never)
