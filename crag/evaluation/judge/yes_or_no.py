"""The rule for questions with the answer yes or no."""

import re
from itertools import takewhile

from crag.evaluation.judge.beside_numbers import ORDINARY_WORDS
from crag.evaluation.judge.opposites import LITTLE, MUCH, are_on_opposite_sides
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import same_quantity
from crag.evaluation.judge.reading.polarity import read_leading_word, read_polarity
from crag.text.matching import content, found_in, recall, words

SAYS_NO = re.compile(r"\b(?:not|no|never|none|cannot|neither|fail(?:s|ed)?|refuse[sd]?|yet\sto)\b|n't\b")
"""Turns a statement into its opposite."""
_ENDS_HERE = re.compile(r"\s{0,9}(?:[,.;:!(-]|$)")

_NOT_REPEATED = frozenset(words("can could will would should must may still ever yet already"))
_PRONOUN_SUBJECT = re.compile(r"\W{0,9}(?:he|she|it|they|this|that|there|those)\b")
_NEGATED_TOKENS = frozenset(
    words("never didnt doesnt dont isnt wasnt arent werent hasnt havent hadnt cant couldnt wont wouldnt")
)
_YES_OR_NO = {True: "yes", False: "no"}
_PRESENT = dict(
    pair.split(":")
    for pair in words(
        "won:win lost:lose wrote:write written:write made:make sang:sing sung:sing led:lead held:hold took:take "
        "taken:take gave:give given:give became:become began:begin begun:begin built:build bought:buy sold:sell "
        "went:go gone:go came:come ran:run beat:beat beaten:beat broke:break broken:break fell:fall fallen:fall "
        "grew:grow grown:grow left:leave met:meet paid:pay rose:rise risen:rise said:say saw:see seen:see "
        "spent:spend taught:teach wore:wear worn:wear got:get gotten:get kept:keep knew:know known:know died:die "
        "played:play dead:die"
    )
)
"""Irregular past forms of common verbs: "he won it" repeats "did he win it?"."""
RESTATED = 0.8
"""A prediction with so many of the question's words is about the question."""


def yes_or_no(claim: ReadClaim) -> RuleDecision | None:
    """Both must say yes or both no, by a leading word, a short reply or a statement about the question.

    Without one, a negation in the prediction decides, if it repeats the question.
    """
    gold_is_yes = _read_gold(claim)
    if gold_is_yes is None:
        return None

    # A clear yes or no in the prediction decides at once
    gold_word = _YES_OR_NO[gold_is_yes]
    is_yes = _read_reply(claim)
    if is_yes is not None:
        is_same = is_yes is gold_is_yes and not _adds_another_year(claim)
        return is_same, f"the gold answer says {gold_word}, the prediction {_YES_OR_NO[is_yes]}"
    if not claim.asks_yes_or_no:
        return None

    if not gold_is_yes and (_says_opposite(claim) or _names_other_subject(claim)):
        return True, "the gold answer says no, the prediction says the opposite of the question"

    # No clear reply: "he won it" can still answer "did he win it?"
    is_negated = bool(SAYS_NO.search(claim.prediction_reading.plain))
    # Text in brackets is an aside, not another statement
    bare = ReadClaim(claim.query, claim.gold, re.sub(r"\([^)]*\)", " ", claim.prediction))
    adds = len(_new_words(bare)) > 1  # a "yes" that adds something may be another statement
    if is_negated is gold_is_yes or not _repeats_question(claim) or (gold_is_yes and adds):
        return False, f"the gold answer says {gold_word}, the prediction does not"
    return True, f"the gold answer says {gold_word}, the prediction says the same in other words"


def _read_gold(claim: ReadClaim) -> bool | None:
    """Whether the gold answer is a yes; None if it is neither yes nor no."""
    gold = claim.gold_reading.plain
    leading = read_leading_word(gold)
    if leading is None:
        return read_polarity(gold, claim.asked) if claim.asks_yes_or_no else None

    # A comma or a full stop after "no" makes it an answer
    if not claim.asks_yes_or_no and not _ENDS_HERE.match(gold[leading.end :]):
        return None  # "No Country for Old Men" is a title
    return leading.is_yes


def _read_reply(claim: ReadClaim) -> bool | None:
    """Whether the prediction says yes; short replies such as "she did" only count for a question of yes or no."""
    reply = claim.prediction_reading.plain
    if claim.asks_yes_or_no:
        return read_polarity(reply, claim.asked)
    leading = read_leading_word(reply)
    return None if leading is None else leading.is_yes


def _adds_another_year(claim: ReadClaim) -> bool:
    """Whether each adds one number to the question, and these are two years: "yes, in 2015" and "yes, in 2016"."""
    gold = numbers_not_in(claim.gold_numbers, claim.query_numbers)
    predicted = numbers_not_in(claim.prediction_numbers, claim.query_numbers)
    if len(gold) != 1 or len(predicted) != 1 or not gold[0].year_like or not predicted[0].year_like:
        return False
    return not same_quantity(gold[0], predicted[0])


def _repeats_question(claim: ReadClaim) -> bool:
    """Whether the prediction has most words of the question, verbs in any tense."""
    # "can" and "still" do not survive in an answer
    question_words = [_in_present(token) for token in content(claim.query_tokens) if token not in _NOT_REPEATED]
    prediction_words = [_in_present(token) for token in claim.prediction_tokens]
    if _PRONOUN_SUBJECT.match(claim.prediction_reading.plain):
        # "She wrote it" and "it was not Ann": all that it says is in the question.
        said = [_in_present(token) for token in content(claim.prediction_tokens)]
        new = [token for token in said if not found_in(token, question_words) and token not in _NEGATED_TOKENS]
        if not new and any(found_in(token, question_words) for token in prediction_words):
            return True
    return recall(question_words, prediction_words) >= RESTATED


def _new_words(claim: ReadClaim) -> list[str]:
    """What the prediction adds to the question; not a number, which no number of the question contradicts."""
    asked = [_in_present(token) for token in claim.query_tokens]
    new = [token for token in claim.new_in_prediction if not found_in(_in_present(token), asked)]
    if any(not number.year_like for number in claim.query_numbers):
        return new
    return [token for token in new if not token[0].isdigit() and token not in ORDINARY_WORDS]


def _names_other_subject(claim: ReadClaim) -> bool:
    """Whether the prediction says of somebody else what is asked: "Tann won the cup" to "did orle win the cup?"."""
    if SAYS_NO.search(claim.prediction_reading.plain) or _PRONOUN_SUBJECT.match(claim.prediction_reading.plain):
        return False
    asked = [_in_present(token) for token in content(claim.query_tokens)]
    said = [_in_present(token) for token in claim.prediction_tokens]
    subject = list(takewhile(lambda token: not found_in(token, said), asked))
    predicate = asked[len(subject) :]
    is_other = bool(said) and not found_in(said[0], asked)
    return is_other and bool(subject) and len(predicate) > 1 and recall(predicate, said) == 1.0


def _says_opposite(claim: ReadClaim) -> bool:
    """Whether the prediction says of the same subject what excludes the question: "they lost" to "did they win?"."""
    if SAYS_NO.search(claim.prediction_reading.plain):
        return False
    asked = {_in_present(token) for token in claim.query_tokens}
    said = {_in_present(token) for token in claim.prediction_tokens}
    if not _PRONOUN_SUBJECT.match(claim.prediction_reading.plain) and not said & set(content(claim.query_tokens)):
        return False
    return any(are_on_opposite_sides(asked, said, sides) for sides in _OPPOSITE_VERBS)


def _in_present(token: str) -> str:
    """A verb without its past ending: "won" as "win", "rained" as "rain"; both sides are treated alike."""
    present = _PRESENT.get(token, token)
    if len(present) <= 4:
        return present
    # "Closed" and "close" are both "clos"
    return re.sub(r"ed?$", "", present)


def _verbs(listing: str) -> frozenset[str]:
    return frozenset(map(_in_present, words(listing)))


_OPPOSITE_VERBS = (
    (_verbs("win beat"), _verbs("lose")),
    (_verbs("rise increase gain climb grow up higher"), _verbs("fall decrease decline drop dropped down lower")),
    (_verbs("alive live living"), _verbs("die dead deceased late passed")),
    (_verbs("married marry"), _verbs("single unmarried divorced widowed")),
    (_verbs("open"), _verbs("closed shut")),
    (_verbs("same identical alike"), _verbs("different differ distinct")),
    (MUCH, LITTLE),
)
"""Words of which one excludes the other: "she lost" says no to "did she win?"."""
