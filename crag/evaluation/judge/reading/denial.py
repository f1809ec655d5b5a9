"""What an answer denies, and what is left of it: "not 4,000 but 5,000" says 5,000."""

import re

from crag.evaluation.judge.reading.patterns import SENTENCE_EDGE, any_of

_AUXILIARY = any_of("did do does is are was were has have had can could will would should must might may")
_NEGATED_VERB = (
    rf"(?:{_AUXILIARY}(?:n't|\snot|\snever)|cannot|can't|won't|never|hardly|fail(?:s|ed)?\sto|den(?:y|ies|ied))\b"
)
_AFFIRMS = re.compile(
    r"""
    \bnot\s(?:only|just|merely)\b                           # "not only Oslo but also Bergen"
    | \b(?:none|nobody|no\sone|nothing)\s(?:other\sthan|but|except)\b       # "none other than Ann Lee"
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DENIES_NOTHING = re.compile(
    rf"""
    # "not until 1990" is 1990
    \bnot\s(?:until|before)\b
    | \b{_AUXILIARY}(?:n't|\snot)\b (?=(?:\s[\w']+){{0,4}}\suntil\b)
    # A bound
    | \bn(?:o|ot)\s(?:more|fewer|less|later|earlier|lower|higher|greater|longer)\sthan\b
    | \bnot\s(?:over|above|exceeding|under|below)\b
    # Idioms
    | \bnot\s(?:counting|including|to\smention|sure|certain)\b
    | \bno\sdoubt\b | \bwithout\s(?:a\s)?doubt\b | \b(?:can|could)(?:not|n't|\snot)\sbe\sdenied\b
    | \bwhy\snot\b | \bif\snot\b | \bwhether\sor\snot\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"""
    \b(?: no,?\s(?:wait|sorry|actually) | wait,?\s(?:no|actually) | actually,?\sno
        | sorry,?\sI\smeant? | or\srather | scratch\sthat | correction )\b
    [\s,.:;!-]{0,9}
    (?=\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Takes back all that was said before: "Oslo. No, wait, Bergen"."""
_MISBELIEF = re.compile(
    r"""
    (?:^|(?<=[.!?;]\s))
    (?: (?:while\s|although\s|though\s)?
        (?:many|most|some)(?:\s(?:people|fans|sources))?\s(?:think|thought|believed?|assumed?|say|said|claim(?:ed)?|expect(?:ed)?)
      | (?:it|he|she|they|this|that)\s(?:is|was|are|were)\s(?:often|commonly|widely|usually|popularly)\s
        (?:thought|believed|assumed|said|claimed)
    )\b
    [^.!?;]{1,200}?
    (?: ,?\s(?:but|however|yet)\b[\s,]
      | [.;]\s(?:but|however|actually|in\sfact|in\sreality)\b[\s,]{1,2} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What others believe, with the word that contradicts it: "many think that it is Oslo, but"."""
_ALTHOUGH = re.compile(
    r"""
    (?:^|(?<=[.!?;]\s)) (?:while|although|though|even\sthough)\s
    (?:many|most|some)(?:\s(?:people|fans|sources))?\s(?:think|thought|believed?|assumed?|say|said|claim(?:ed)?)\b
    [^,.!?;]{1,200},\s
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The same before a comma: "although some think it is Oslo, "."""
_ANYONE_BUT = re.compile(r"\b(?P<all>(?:any|every)(?:one|body|thing|where)|all)\s(?:but|except)\b", re.IGNORECASE)
_WORD_START = re.compile(r"\b(?=\w)(.)")
_MASK = "\x00"
"""Hides a word from the patterns of denial."""

_CLAUSE_EDGE = re.compile(
    rf"""
    {SENTENCE_EDGE} | \n+ | \s?[;:]\s | \s-\s
    | ,?\s\b(?:but|however|although|though|while|whereas|because|since|yet)\b
    | ,\s(?=(?:and|so|it|he|she|they|who|which|that|this|there|his|her|its)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMMA = re.compile(r",\s(?!\d{3}\b)")
_AND_NEGATED = re.compile(rf"\sand\s(?={_NEGATED_VERB})", re.IGNORECASE)
"""A second verb of the same subject: "founded the mill and did not sell it"."""

_AND_VERB = re.compile(
    r"\sand\s(?:then\s|later\s)?(?=(?:[a-z]{2,12}ed|won|wrote|made|became|is|was|has|had|did|holds|held|led|built|took|ran)\b)",
    re.IGNORECASE,
)
"""A second verb that is not negated: "has never lost and won in 2020"."""

_DENIES_CLAUSE = re.compile(
    rf"""
    \b{_NEGATED_VERB}
    | \bn't\b
    | \b(?:it(?:\sis|'s)|that(?:\sis|'s)?)\s(?:false|untrue|wrong|a\smyth|a\smisconception)\b
    | \bneither\b | \bno\slonger\b
    | \b(?:false|untrue|wrong|incorrect)\sthat\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The whole clause is denied, its subject too."""
_DENIES_REST = re.compile(
    r"""
    \b(?: not | nor | unlike | except(?:\sfor)? | excluding
        | rather\sthan | instead\sof | apart\sfrom | other\sthan | as\sopposed\sto | contrary\sto
        | least\sof\sall )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What follows in the clause is denied."""
NEGATION = re.compile(r"\b(?:not|never|no|nor|neither|none|cannot|nobody|without|except)\b|n['’]t\b", re.IGNORECASE)


def without_denied(text: str) -> str:
    """The text without what it denies; empty if it denies everything.

    A negated verb denies its clause, "not" before a name or number only what follows.

    >>> without_denied("Not Jon Ek but Mabel Okafor")
    'Mabel Okafor'
    >>> without_denied("Mabel Okafor did not found it.")
    ''
    """
    # "everyone but Ann" denies Ann alone
    written = text.replace("’", "'")
    last_word = _after_correction(written)
    plain = _ANYONE_BUT.sub("except", last_word)
    # Returned as it came: callers compare both to see whether anything is denied
    if last_word == written and not _DENIES_REST.search(plain) and not _DENIES_CLAUSE.search(plain):
        return text

    # Phrases with "not" that deny nothing must be out of the way first
    plain = _AFFIRMS.sub(" ", plain)
    plain = _DENIES_NOTHING.sub(_mask, plain)
    affirmations: list[str] = []
    # A denial ends with its clause
    for clause in _split_clauses(plain):
        affirmed = _without_denied_part(clause)
        if re.search(r"\w", affirmed):
            affirmations.append(affirmed.strip(" ,"))
    return " ; ".join(affirmations).replace(_MASK, "")


def _after_correction(text: str) -> str:
    """The text behind its last correction and without what others believe."""
    for correction in reversed(list(_CORRECTION.finditer(text))):
        if correction.start() > 0:
            text = text[correction.end() :]
            break
    return _ALTHOUGH.sub("", _MISBELIEF.sub("", text))


def _mask(match: re.Match[str]) -> str:
    return _WORD_START.sub(rf"\1{_MASK}", match[0])


def _split_clauses(text: str) -> list[str]:
    clauses: list[str] = []
    for clause in _CLAUSE_EDGE.split(text):
        for part in _AND_NEGATED.split(clause):
            clauses += _split_at_commas(part)
    return clauses


def _split_at_commas(clause: str) -> list[str]:
    """The parts between commas; names before a negated verb stay with it: "Ann Lee, a teacher, did not found it"."""
    parts = _COMMA.split(clause)
    if len(parts) == 1:
        return parts

    for index, part in enumerate(parts):
        # A negated verb without a subject denies what comes before it in the clause.
        if index and re.match(rf"\s*{_NEGATED_VERB}", part, re.IGNORECASE):
            return [", ".join(parts[: index + 1]), *parts[index + 1 :]]
    return parts


def _without_denied_part(clause: str) -> str:
    """The clause up to a denied part; of a clause with a negated verb only what a second verb affirms."""
    negated = _DENIES_CLAUSE.search(clause)
    if negated is not None:
        # "She never lost and won in 2020" still says "she won in 2020"
        second_verb = _AND_VERB.search(clause, negated.end())
        if second_verb is None:
            return ""
        subject = clause[: negated.start()]
        return f"{subject} {clause[second_verb.end() :]}"

    match = _DENIES_REST.search(clause)
    if match is None:
        return clause
    return clause[: match.start()]
