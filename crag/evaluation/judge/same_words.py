"""Rules for answers that are equal, or differ in a sign or a letter that makes another name."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.evaluation.judge.reading import same_quantity
from crag.evaluation.judge.reading.signed_names import differing_sign, is_signed_name, signed_names
from crag.text.matching import content, stem

FEWEST_DIGITS = 7
"""Of a number of a telephone or book; fewer are a score or a range."""
_GROUPED_DIGITS = re.compile(r"\+?\(?\d[\d ()-]{0,30}\d")
_WORD_AND_LETTER = re.compile(r"\b(?!and\b|or\b)(\w{2,})[\s\-('\"]{1,3}a\b")
_LAST_LETTER = re.compile(rf"{_WORD_AND_LETTER.pattern}\W*\Z")
"""A letter at the end is no article: "Serie A", "blood type A"."""
_LEADING_ZERO = re.compile(r"0\d{1,12}")
"""A code, such as a ZIP code; a number begins with another digit."""
_ASKS_VERSION = re.compile(
    r"\b(?:which|what)(?:\s(?:is|was))?(?:\sthe)?(?:\s\w{1,30}){0,3}\s(?:version|release|firmware|build)\b"
)
_VERSION = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")
_LETTER_S_OR_T = re.compile(
    r"""
    (?: \b(?P<before>[a-z]{2,})\.?[\s\-(] | \A )    # "Model T", "Mr. T"
    (?P<letter>[st])(?![\w'&./])                    # not "A/S", "S&P", nor the initial of "Harry S. Truman"
    (?: (?P<space>[\s\-])(?P<after>[a-z]{2,}) )?    # "T cells", "S-Class"
    """,
    re.VERBOSE,
)


def digits_as_written(claim: ReadClaim) -> RuleDecision | None:
    """Digits that count nothing must be the same: 02139 is not 2139, and version 3.10 is not version 3.1."""
    gold = claim.gold.strip(" .")
    if _LEADING_ZERO.fullmatch(gold):
        has_digits = re.search(rf"(?<![\d.,]){gold}(?![\d]|[.,]\d)", claim.prediction) is not None
        return (True, "the same digits") if has_digits else (False, f"the gold answer is {gold}")

    if not _ASKS_VERSION.search(claim.asked):
        return None
    versions = set(_VERSION.findall(gold))
    predicted = set(_VERSION.findall(claim.prediction))
    if versions and predicted and not versions & predicted:
        return False, f"the gold answer is {gold}, the prediction names another version"
    return None


def signs_of_names(claim: ReadClaim) -> RuleDecision | None:
    """A name with another sign is another name: C++ and C, B+ and B-."""
    difference = differing_sign(claim.gold_reading.plain, claim.prediction_reading.plain, claim.asked)
    return (False, difference) if difference else None


def signed_name(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is nothing but a name with a sign, such as A-: the prediction must have it and no other."""
    gold = signed_names(claim.gold_reading.plain)
    if len(gold) != 1 or not is_signed_name(claim.gold_reading.plain):
        return None

    (name,) = gold
    predicted = signed_names(claim.prediction_reading.plain)
    return (True, f"both say {claim.gold}") if predicted.get(name) == gold[name] else None


def letter_of_name(claim: ReadClaim) -> RuleDecision | None:
    """Serie A is neither Serie B nor a series, Model S is not Model X, and World War I not World War II.

    Elsewhere the letters A, I, S and T read as words without meaning: an article, a pronoun, the ends of "it's" and
    "don't".
    """
    return _differing_letter_a(claim) or _missing_s_or_t(claim) or _other_than_first(claim)


def _differing_letter_a(claim: ReadClaim) -> RuleDecision | None:
    gold = _LAST_LETTER.search(claim.gold_reading.plain)
    prediction = claim.prediction_reading.plain
    if gold is None or prediction.strip(" .") == "a":
        return None

    names = {stem(match[1]) for match in _WORD_AND_LETTER.finditer(prediction)}
    return None if stem(gold[1]) in names else (False, f"the gold answer is {claim.gold}")


def _missing_s_or_t(claim: ReadClaim) -> RuleDecision | None:
    """The letter beside a word of the gold answer is not in the prediction: "T cells" for "B cells"."""
    prediction = claim.prediction_reading.plain
    together = re.sub(r"\W", "", prediction)
    for match in _LETTER_S_OR_T.finditer(claim.gold_reading.plain):
        before, letter, after = match["before"], match["letter"], match["after"]
        # The initial of "Ulysses S Grant" may be left out
        if before and after and match["space"] == " ":
            continue
        neighbours = [before + letter] if before else []
        neighbours += [letter + after] if after else []
        # A unit or a ticker stands alone
        if not neighbours or any(name in together for name in neighbours):
            continue
        if not re.search(rf"(?<![\w'&.]){letter}(?![\w'&])", prediction):
            return False, f"the gold answer is {claim.gold}"
    return None


def _other_than_first(claim: ReadClaim) -> RuleDecision | None:
    """The gold answer ends with the numeral I, and the prediction has another numeral or letter there, or none."""
    gold = claim.gold_tokens
    if len(gold) < 2 or gold[-1] != "i" or not content(gold[-2:-1]):
        return None

    predicted = claim.prediction_tokens
    neighbours: set[str] = set()
    for position, token in enumerate(predicted):
        if token == gold[-2]:
            # "World War 2", "the 2nd World War"
            neighbours.update(predicted[position + 1 : position + 2], predicted[max(0, position - 2) : position])

    if neighbours & {"i", "1"}:
        return None
    others = [token for token in neighbours if re.fullmatch(r"\d{1,2}|[b-hj-z]", token)]
    # "Elizabeth" alone could be the second
    has_none = not claim.is_sentence and not {"i", "1"}.intersection(predicted)
    return (False, f"the gold answer is {claim.gold}") if others or has_none else None


def same_words(claim: ReadClaim) -> RuleDecision | None:
    """Equal except for case, accents, punctuation, articles, plurals and hyphens; numbers must be the same too."""
    gold = "".join(claim.gold_tokens)
    prediction = "".join(claim.prediction_tokens)
    if not gold:
        # The grade "A" is only an article to `tokens`.
        gold = claim.gold_reading.plain.strip(" .")
        prediction = claim.prediction_reading.plain.strip(" .")
    if not gold or gold != prediction:
        return None
    if _is_identifier(claim.gold) and _is_identifier(claim.prediction):
        return True, "the same digits"
    return (True, "the same words") if _have_same_numbers(claim) else None


def _is_identifier(text: str) -> bool:
    """Whether a text is a number in groups of digits, such as a telephone number, which people group differently."""
    return _GROUPED_DIGITS.fullmatch(text.strip()) is not None and sum(map(str.isdigit, text)) >= FEWEST_DIGITS


def _have_same_numbers(claim: ReadClaim) -> bool:
    """Whether signs, units and separators of the numbers are the same: -1.25 is not 1.25, 3-1 is not 31."""
    # Tokens lose signs and separators, so equal words are not enough
    if len(claim.gold_numbers) != len(claim.prediction_numbers):
        return False

    gold_series = [series.numbers for series in claim.gold_reading.series]
    predicted_series = [series.numbers for series in claim.prediction_reading.series]
    if gold_series and predicted_series and gold_series != predicted_series:
        return False

    pairs = zip(claim.gold_numbers, claim.prediction_numbers, strict=True)
    return all(same_quantity(gold, answer) and gold.bound is answer.bound for gold, answer in pairs)
