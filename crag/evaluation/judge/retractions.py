"""What the words around the gold answer take back: "not Ann Lee", "Ann Lee or Bo Chan", "Bo Chan beat Ann Lee"."""

import re
from collections.abc import Sequence

from crag.evaluation.judge.read_claim import ReadClaim
from crag.text.matching import words

_DENIAL = frozenset({"not", "unlike", "except", "than", "neither"})
# "Orle beat Tann" names Tann as the loser
BEATEN = frozenset(words("beat beating defeat defeated defeating against versus vs over runner up runners"))
_LOST_AFTER = re.compile(
    r"\s(?:lost|loses?|fell)\b|\s(?:was|were|got)\s(?:beaten|defeated|eliminated|knocked)\b"
    r"|\s(?:was|were|(?:came|finished|placed|ended)(?:\sin)?)\s(?:the\s)?(?:2th|last|runners?[ -]?up)\b"
)
"""What says behind a name that somebody else won."""
_WON = re.compile(r"\bw[io]ns?\b|\bchampions?\b|\bvictor")
ASKS_WINNER = re.compile(r"\bw[io]ns?\b|\bwinners?\b|\bchampions?\b|\bbeat\b|\bdefeat")
_ASKS_HOLDER = re.compile(r"\b(?:who|which|what)(?:'s|\s(?:is|are|holds?|leads?|runs?|owns?))\b")
_ASKS_SUCCESSION = re.compile(
    r"\b(?:succe\w+|replac\w+|predecess\w+|former(?:ly)?|previous(?:ly)?|before|prior|after|took over)\b"
)
_SUCCEEDED = re.compile(r"\b(?:succeed(?:ed|ing)|replac(?:ed|ing|e)|took over from|taking over from)$")
_SUCCEEDED_BY = re.compile(r",?\s(?:was|were|has been|who was)\s(?:succeeded|replaced|followed)\sby\b")
_FORMERLY = frozenset(words("formerly previously once originally"))
_ASKS_PAST = re.compile(r"\b(?:was|were|did|had|former(?:ly)?|previous(?:ly)?|once|original(?:ly)?|old)\b")
_OR_ASIDE = re.compile(r"[,(]\s?or\b")
_NO_SECOND_NAME = frozenset(
    words("so more rather simply also sometimes just as known otherwise not later before after")
)
_GUESS = frozenset(words("maybe perhaps possibly probably even"))
_IS_ONE_OF_TWO = re.compile(r"[^\W\d_]{3,30}(?:\s[^\W\d_]{2,30}){0,2}\s?/\s?[^\W\d_]{3,30}(?:\s[^\W\d_]{2,30}){0,2}\.?")
"""A whole answer of two names: "Oslo/Bergen"."""
_OPPOSITE_PARTS = (("east", "west"), ("hyper", "hypo"), ("inter", "intra"), ("micro", "macro"), ("infra", "ultra"))
"""Parts of words that look alike and are each other's opposite."""
_PART_WORDS = frozenset(words("part chapter volume episode"))
_ASKS_STATE = re.compile(r"\b(?:state|country|nation)\b")


def find_retraction(claim: ReadClaim, position: int) -> str | None:
    """Why the gold answer, at this position in the prediction, is not the prediction's answer; None if it is."""
    if _says_opposite_word(claim, position):
        return "the prediction has the opposite word"
    # Three words before and two after are enough for "not", "either" and "or"
    before = claim.prediction_tokens[max(0, position - 3) : position]
    after = claim.prediction_tokens[position + len(claim.gold_tokens) :][:2]
    if _DENIAL.intersection(before):
        return "the prediction denies the gold answer"
    another = _find_another(claim, before, after)
    if another:
        return another

    # "Rocky 2" is another film than "Rocky"; "Rocky (2 hours)" is not.
    goes_on_with_number = len(after) == 1 and after[0].isdigit() and len(after[0]) < 3
    is_part = len(after) == 2 and after[0] in _PART_WORDS and after[1].isdigit() and _ends_with(claim, after)
    if (goes_on_with_number or is_part) and position == 0 and "(" not in claim.prediction:
        return f"the prediction continues with {' '.join(after)}"

    if _leaves_choice_open(claim, before, after):
        return "the prediction does not choose between the gold answer and another"
    return None


def _says_opposite_word(claim: ReadClaim, position: int) -> bool:
    """Whether a word that looks like one of the gold answer is its opposite: "northeast" for "northwest"."""
    for gold, said in zip(claim.gold_tokens, claim.prediction_tokens[position:], strict=False):
        for pair in _OPPOSITE_PARTS:
            for part, opposite in (pair, pair[::-1]):
                if gold != said and part in gold and gold.replace(part, opposite) == said:
                    return True
    return False


def _leaves_choice_open(claim: ReadClaim, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the words beside the gold answer offer another one: "either Ann Lee or Bo Chan"."""
    # The choice is the gold answer's or the question's own
    if "or" in (*claim.gold_tokens, *claim.query_tokens):
        return False
    if "either" in before or "or" in before[-1:]:
        return True
    if _IS_ONE_OF_TWO.fullmatch(claim.prediction.strip()) and "/" not in claim.gold:
        return True
    if len(after) < 2 or after[0] != "or" or after[1] in _NO_SECOND_NAME:
        return False
    if after[1] in _GUESS:
        return True

    # "Ash (or Oak in the north)" and "Ann Lee, or Annie" give another name of the same
    is_aside = _OR_ASIDE.search(claim.prediction_reading.plain) is not None
    return not is_aside or "either" in claim.prediction_tokens


def _names_another_holder(claim: ReadClaim, before: Sequence[str]) -> bool:
    """Whether a question for who is something is answered by who was: "Bo Chan succeeded Ann Lee"."""
    if not _ASKS_HOLDER.search(claim.asked) or _ASKS_SUCCESSION.search(claim.asked):
        return False
    if "former" in before or _SUCCEEDED.search(" ".join(before)):
        return True
    return _SUCCEEDED_BY.match(_text_after_gold(claim)) is not None


def _says_that_gold_lost(claim: ReadClaim) -> bool:
    """Whether "Orle lost to Tann" answers a question for the winner; not if somebody won in it too."""
    if not ASKS_WINNER.search(claim.asked):
        return False
    is_followed_by_loss = _LOST_AFTER.match(_text_after_gold(claim)) is not None
    return is_followed_by_loss and not _WON.search(claim.prediction_reading.plain)


def _text_after_gold(claim: ReadClaim) -> str:
    """What follows the gold answer in the prediction; "" if it is not there in the same letters."""
    gold = claim.gold_reading.plain.strip(" .")
    return claim.prediction_reading.plain.partition(gold)[2] if gold else ""


def _find_another(claim: ReadClaim, before: Sequence[str], after: Sequence[str]) -> str | None:
    """How the prediction says that somebody or something else is the answer; None if it does not."""
    word = before[-1] if before else ""
    is_loser = (word in BEATEN or before[-2:] == ("ahead", "of")) and ASKS_WINNER.search(claim.asked)
    if is_loser or _says_that_gold_lost(claim):
        return "the prediction names the gold answer as the loser"
    if _names_another_holder(claim, before):
        return "the prediction names somebody who came after the gold answer"
    if word in _FORMERLY and not _ASKS_PAST.search(claim.asked):
        return f"the prediction says that it was {word} {claim.gold}"
    if _goes_on_with_city(claim, after):
        return f"the prediction says {claim.gold} city"
    if word in _words_of_other_places(claim) and _begins_name(claim, word):
        return f"the prediction says {word} {claim.gold}"
    return None


def _words_of_other_places(claim: ReadClaim) -> frozenset[str]:
    """Words that make another name of a name: New York is not York, West Virginia is another state than Virginia."""
    # West London is in London, and so an answer to "in which city?"
    if _ASKS_STATE.search(claim.asked):
        directions = words("north south east west northern southern eastern western equatorial")
        return frozenset({"new", *directions})
    return frozenset({"new"})


def _goes_on_with_city(claim: ReadClaim, after: Sequence[str]) -> bool:
    """Whether a state or country is asked for and a city of that name given: Kansas City for Kansas."""
    return after[:1] == ("city",) and _ASKS_STATE.search(claim.asked) is not None and _ends_with(claim, after[:1])


def _ends_with(claim: ReadClaim, last: Sequence[str]) -> bool:
    return claim.prediction_tokens[-len(last) :] == tuple(last)


def _begins_name(claim: ReadClaim, word: str) -> bool:
    """Whether the word is written as the beginning of a name, "New York", or the text has no capitals to tell."""
    text = claim.prediction
    return text.islower() or re.search(rf"\b{word.capitalize()}\s[A-Z]", text) is not None
