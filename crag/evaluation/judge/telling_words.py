"""Rules for predictions that say less than the gold answer: its beginning, or the words of a sentence that tell."""

import re
from collections.abc import Sequence

from crag.evaluation.judge.listed_names import is_list_of_names
from crag.evaluation.judge.read_claim import CLAUSE_VERB, ReadClaim, RuleDecision
from crag.evaluation.judge.reading import read_answer
from crag.evaluation.judge.short_names import ASKS_ONE_PERSON
from crag.text.matching import content, found_in, recall, words

_SECOND_QUESTION = re.compile(r"\band (?:what|when|who|which|where|how)\b")
_GENERATIONS = frozenset(words("junior senior 2 3 4"))
PART_WORDS = frozenset(words("part pt volume vol chapter episode season"))
_BRACKETS = re.compile(r"\([^()]{0,200}\)")
_LONGEST_NAME = 4
"""Tokens of a person's name; longer gold answers have more than the name."""
NEEDED = 0.7
"""A prediction with this share of the gold answer's telling words has the answer."""
NEEDED_OF_EXPLANATION = 0.4
EXPLANATION = 9
"""With this many telling words a gold answer is an explanation, which nobody repeats word by word."""


def nothing_but_gold(claim: ReadClaim) -> RuleDecision | None:
    """The gold answer contains everything that the prediction adds to the question.

    If the gold answer is not a sentence, the prediction must be its beginning: "Melbourne" of "Melbourne, Australia",
    but not the artist of "album by artist", nor "Rocky" of "Rocky 2".
    """
    gold = claim.gold_tokens
    predicted = claim.prediction_tokens
    is_sentence = claim.is_sentence or claim.gold.rstrip().endswith(".")
    is_beginning = gold[: len(predicted)] == predicted and not _leaves_out_part(claim)
    if not is_sentence and not is_beginning:
        return None

    new = claim.new_in_prediction
    if new and all(found_in(token, gold) for token in new):
        return True, "the gold answer contains all of the prediction"
    return None


def _leaves_out_part(claim: ReadClaim) -> bool:
    """Whether the prediction is the beginning of a name with a number, as that of a sequel, or of a list of several."""
    # "Kestrel" of "Kestrel (1988)" leaves nothing out
    gold = _BRACKETS.sub(" ", claim.gold)
    rest = read_answer(gold).tokens[len(claim.prediction_tokens) :]
    if not rest:
        return False
    if _is_beginning_of_person(claim, rest):
        return True
    number = rest[1] if len(rest) > 1 and rest[0] in PART_WORDS else rest[0]
    if number.isdigit() and len(number) < len("100"):
        return True
    if _SECOND_QUESTION.search(claim.asked):
        return True
    is_list = rest[0] == "and" or is_list_of_names(claim.gold)
    return is_list and "(" not in claim.gold


def _is_beginning_of_person(claim: ReadClaim, rest: Sequence[str]) -> bool:
    """Whether the prediction lacks the surname of the person who is asked for: "Ann" for "Ann Lee"."""
    is_name = "," not in claim.gold and all(token.isalpha() for token in claim.gold_tokens)
    has_surname = _GENERATIONS.issuperset(rest) or len(claim.gold_tokens) > _LONGEST_NAME
    return is_name and not has_surname and ASKS_ONE_PERSON.search(claim.asked) is not None


def telling_words(claim: ReadClaim) -> RuleDecision | None:
    """The prediction has enough of the words that a gold sentence adds to the question."""
    expected = _answer_part(claim) or claim.new_in_gold or content(claim.gold_tokens) or list(claim.gold_tokens)
    if not expected:
        return None  # no letters and digits: only an identical text matches

    if _names_other_generation(claim):
        return False, f"the gold answer ends with {claim.gold_tokens[-1]}, the prediction names another generation"

    # Another number is wrong, however many words agree
    numerals = [token for token in expected if token[0].isdigit()]
    new_numerals = [token for token in claim.new_in_prediction if token[0].isdigit() and token not in claim.gold_tokens]
    if new_numerals and not set(numerals) <= set(claim.prediction_tokens):
        return False, f"the gold answer says {', '.join(numerals)}, the prediction {', '.join(new_numerals[:3])}"

    # Of one or two words none may be missing
    if len(expected) <= 2 or _is_title_with_subtitle(claim):
        needed = 1.0
    elif len(expected) < EXPLANATION:
        needed = NEEDED
    else:
        needed = NEEDED_OF_EXPLANATION
    share = recall(expected, claim.prediction_tokens)
    return share >= needed, f"{share:.0%} of the gold answer's key words are in the prediction"


def _is_title_with_subtitle(claim: ReadClaim) -> bool:
    """Whether the gold answer is a title with a colon: the films of a series share most of their words."""
    title, colon, subtitle = claim.gold_reading.plain.partition(": ")
    return bool(colon and title and subtitle) and not claim.is_sentence and "," not in claim.gold


def _names_other_generation(claim: ReadClaim) -> bool:
    """Whether the gold name ends with "Jr.", "Sr." or "III" and the prediction has another of these."""
    generation = claim.gold_tokens[-1] if claim.gold_tokens else ""
    if generation not in _GENERATIONS:
        return False
    predicted = _GENERATIONS.intersection(claim.prediction_tokens)
    return bool(predicted) and generation not in predicted


def _answer_part(claim: ReadClaim) -> list[str]:
    """The words of a gold sentence that answer: its subject if it is not in the question, else the words from the verb
    to the next comma. Empty if the sentence cannot be divided, or the question asks two things.
    """
    if not claim.is_sentence or _SECOND_QUESTION.search(claim.asked):
        return []

    text = claim.gold_reading.plain
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return []

    # Not at the comma of "1,204"
    subject = re.split(r",(?!\d{3})", text[: verb.start()])[0]
    predicate = re.split(r",(?!\d{3})|\bwhich\b|\bwhile\b|\bbecause\b", text[verb.end() :])[0]
    return claim.not_asked(read_answer(subject).tokens) or claim.not_asked(read_answer(predicate).tokens)
