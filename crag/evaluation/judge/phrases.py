"""The rule for gold answers that are a phrase: a name, a title, a few words."""

import re

from crag.evaluation.judge.listed_names import is_one_of_several
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.evaluation.judge.retractions import find_retraction
from crag.text.matching import content, count_listed, position_of, recall, words

ASKS_WHOLE_NAME = re.compile(
    r"\b(?:full|whole|complete|first|given|middle|birth|real|legal|maiden|stage)\s(?:\w+\s)?names?\b"
)
"""A question that a part of a name does not answer."""
_ENDS_OF_INSTITUTIONS = frozenset(
    words("university college school institute city county state island league party union bank museum hospital")
)
"""Words behind which no name is without its middle part: Ohio University is not Ohio State University."""
_PRONOUNS = frozenset(words("it her him them they he she we you that this"))
_INITIAL_IN_MIDDLE = re.compile(r"\b(?P<first>[a-z]{2,30})\s(?P<initial>[a-z])\.?\s(?P<last>[a-z]{2,30})\b")


def gold_phrase(claim: ReadClaim) -> RuleDecision | None:
    """The prediction contains the gold answer word by word, or all its words; slightly misspelt names count."""
    gold_words = content(claim.gold_tokens) or list(claim.gold_tokens)
    if claim.is_sentence or not gold_words:
        return None
    contradiction = _find_contradiction(claim)
    if contradiction:
        return False, contradiction

    # Word by word first: only there can the words around it take it back
    position = position_of(claim.gold_tokens, claim.prediction_tokens)
    if position >= 0:
        retraction = find_retraction(claim, position)
        return (False, retraction) if retraction else (True, "the prediction holds the gold answer")

    if _are_close_together(gold_words, claim.prediction_tokens) or _has_joined_words(claim):
        return True, "the prediction holds the gold answer"
    is_without_middle = _has_name_without_middle(claim, gold_words)
    return (True, "the prediction holds the name without its middle part") if is_without_middle else None


def _find_contradiction(claim: ReadClaim) -> str | None:
    """Why the prediction does not name the gold answer, although it may have its words; None if nothing speaks so."""
    if _is_only_pronoun(claim):
        return f'the prediction has "{claim.gold}" as a pronoun'
    # Naming several candidates would make every guess right
    if count_listed(claim.prediction) > 1 or is_one_of_several(claim):
        return "the prediction lists several answers where the gold answer is one"
    if _has_other_initial(claim):
        return "the prediction has another initial in the middle of the name"
    return None


def _is_only_pronoun(claim: ReadClaim) -> bool:
    """Whether the gold answer is a title such as "It" and the prediction has only the pronoun: "It is Misery"."""
    gold = claim.gold.strip(" .").lower()
    if gold not in _PRONOUNS:
        return False
    # In quotes, at the end or before the year in brackets
    is_title = rf"[\"“'‘*]{gold}[\"”'’*]|\w\s{gold}\W*\Z|\w\s{gold}\s\(|\A{gold}\W*\("
    has_capital = re.search(rf"\w\s{gold.capitalize()}\b", claim.prediction)
    return not has_capital and not re.search(is_title, claim.prediction.lower())


def _are_close_together(gold_words: list[str], text: tuple[str, ...]) -> bool:
    """All words are in a short part of the prediction, in any order."""
    # Room for a few words between those of the gold answer
    span = 2 * len(gold_words) + 3
    starts = range(max(1, len(text) - span + 1))
    return any(recall(gold_words, text[start : start + span]) == 1.0 for start in starts)


def _has_name_without_middle(claim: ReadClaim, gold_words: list[str]) -> bool:
    """The prediction has the first and the last of three or four words: "George Bush" for "George Walker Bush"."""
    if not 3 <= len(gold_words) <= 4 or "," in claim.gold or not all(word.isalpha() for word in gold_words):
        return False
    if ASKS_WHOLE_NAME.search(claim.asked) or gold_words[-1] in _ENDS_OF_INSTITUTIONS:
        return False
    return position_of([gold_words[0], gold_words[-1]], claim.prediction_tokens) >= 0


def _has_other_initial(claim: ReadClaim) -> bool:
    """Whether both names have an initial in the middle, and not the same: "Bo S. Chan" for "Bo T. Chan"."""
    gold = _INITIAL_IN_MIDDLE.search(claim.gold_reading.plain)
    if gold is None:
        return False
    predicted = re.search(
        rf"\b{re.escape(gold['first'])}\s(?P<initial>[a-z])\.?\s{re.escape(gold['last'])}\b",
        claim.prediction_reading.plain,
    )
    return predicted is not None and predicted["initial"] != gold["initial"]


def _has_joined_words(claim: ReadClaim) -> bool:
    """The prediction has the gold answer with other word boundaries: "spiderman" for "Spider-Man"."""
    gold = "".join(content(claim.gold_tokens))
    # Short strings arise from other words by chance
    if len(gold) < 6:
        return False

    text = content(claim.prediction_tokens)
    for start in range(len(text)):
        for end in range(start + 1, start + 6):
            if "".join(text[start:end]) == gold:
                return True
    return False
