"""Rules for questions that leave a choice: yes or no, a false premise or not, this or that."""

import re

from evaluation.judge.case import Case, Finding
from evaluation.judge.numbers import Number, numbers
from evaluation.judge.text import clean, content, position_of, recall, tokens

_INVALID = re.compile(r"\binvalid question\b|\bquestion is (?:invalid|not valid)\b|\bfalse premise\b")
_YES_NO = re.compile(r"\W*(?:answer\s*:\s*)?(?P<word>yes|no|yeah|yep|nope|correct|incorrect|true|false)\b")
_YES = frozenset({"yes", "yeah", "yep", "correct", "true"})
_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot|neither)\b|n't\b")
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|most|least|than|first|last|before|after|earlier|later|better|best|higher|highest|lower|larger|"
    r"largest|bigger|biggest|longer|longest|older|oldest|younger|taller|tallest|smaller|shorter|greater|win(?:s|ner)?)\b"
)
_EARLY = frozenset({"older", "oldest", "longer", "longest", "1th", "earlier", "before"})
_LATE = frozenset({"younger", "youngest", "newer", "later", "latest", "after", "recently"})
_MUCH = frozenset(
    {
        "more",
        "most",
        "larger",
        "largest",
        "longer",
        "longest",
        "higher",
        "highest",
        "bigger",
        "biggest",
        "greater",
        "taller",
        "older",
    }
)
_LITTLE = frozenset(
    {
        "less",
        "fewer",
        "fewest",
        "least",
        "smaller",
        "smallest",
        "lower",
        "lowest",
        "shorter",
        "shortest",
        "younger",
        "cheaper",
    }
)
_QUESTION_WORDS = frozenset({"which", "who", "what", "how", "where", "when"})
_SAME = re.compile(r"\b(?:same|equal(?:ly)?|tied?|as well)\b")
_OPTION_EDGE = re.compile(r"[,;:?]|\bbetween\b|\bof these\b|\bis\b|\bdoes\b|\bdid\b|\bhas\b|\bwas\b|\bare\b|\bwere\b")


def false_premise(case: Case) -> Finding | None:
    """Both saying "invalid question" is right, only one saying it is wrong (Meta's judge)."""
    gold, said = (bool(_INVALID.search(clean(text))) for text in (case.gold, case.prediction))
    if gold and said:
        return Finding(True, "both say that the question is invalid")
    if gold or said:
        return Finding(False, f"only the {'gold answer' if gold else 'prediction'} says that the question is invalid")
    return None


_ENDS_HERE = re.compile(r"\s*(?:[,.;:!(-]|$)")


def yes_or_no(case: Case) -> Finding | None:
    """The leading word decides; where the prediction has none, a negation in it, if it speaks of the matter at all."""
    gold = _YES_NO.match(clean(case.gold))
    if gold is None or not (case.asks_yes_or_no or _ENDS_HERE.match(clean(case.gold)[gold.end() :])):
        return None  # "No Country for Old Men" is a title
    wanted = gold["word"] in _YES
    said = _YES_NO.match(clean(case.prediction))
    if said is not None:
        found = said["word"] in _YES
        return Finding(found is wanted, f"the gold answer says {gold['word']}, the prediction {said['word']}")
    if not case.asks_yes_or_no:
        return None
    negated = bool(_NEGATION.search(clean(case.prediction)))
    restated = recall(content(case.query_tokens), case.prediction_tokens) >= 0.8
    adds = len(case.new_in_prediction) > 2
    if negated is wanted or not restated or (wanted and adds):
        return Finding(False, f"the gold answer says {gold['word']}, the prediction does not")
    return Finding(True, f"the gold answer says {gold['word']}, and so does the prediction in other words")


def this_or_that(case: Case) -> Finding | None:
    """For "which is longer, A or B?": both must pick the same option; a number for each can pick one, too."""
    options = _options(case.query)
    if options is None:
        return None
    wanted = _picked(options, case.gold, case.query)
    if wanted is None:
        return None
    found = _picked(options, case.prediction, case.query)
    if found is None:
        return Finding(False, "the prediction picks neither option")
    picked = " ".join(options[found])
    other = "too" if found == wanted else "the other"
    return Finding(found == wanted, f'the prediction picks "{picked}", the gold answer {other}')


def _options(query: str) -> tuple[list[str], list[str]] | None:
    """What the question offers: the words on both sides of its last "or", without those that they share."""
    lowered = clean(query).strip(" ?.")
    left, found, right = lowered.rpartition(" or ")
    if not found:
        return None
    first = list(tokens(_OPTION_EDGE.split(left)[-1] if _OPTION_EDGE.split(left)[-1].strip() else left))
    second = list(tokens(_OPTION_EDGE.split(right)[0]))
    shared = set(first) & set(second)
    first = [token for token in first if token not in shared]
    second = [token for token in second if token not in shared]
    if len(first) > len(second) + 3:
        first = first[-len(second) :]
    if not first or not second or len(second) > 8 or _QUESTION_WORDS.intersection(first):
        return None
    return first, second


def _picked(options: tuple[list[str], list[str]], text: str, query: str) -> int | None:
    """The option that the text picks: the only one that it names, or the first in its last sentence that compares."""
    named = _named(options, tokens(text))
    if len(named) == 1:
        return named[0]
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+|;", text) if part.strip()]
    for sentence in reversed(sentences):
        cleaned = clean(sentence)
        found = _named(options, tokens(sentence))
        if found and _COMPARES.search(cleaned) and not _SAME.search(cleaned):
            return found[0]
    return _implied(options, text, query)


def _implied(options: tuple[list[str], list[str]], text: str, query: str) -> int | None:
    """The option that wins by the numbers that the text gives for the two, if it gives one for each."""
    values: dict[int, Number] = {}
    for part in re.split(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\bwhile\b|\bwhereas\b|\band\b", text):
        found = numbers(part)
        named = _named(options, tokens(part))
        if len(named) == 1 and found:
            values.setdefault(named[0], next((number for number in found if not number.year_like), found[0]))
    if len(values) < 2 or values[0].value == values[1].value or values[0].year_like != values[1].year_like:
        return None
    asked = set(re.findall(r"\w+", clean(query)))
    low_wins, high_wins = (_EARLY, _LATE) if values[0].year_like else (_LITTLE, _MUCH)
    if not asked.intersection(low_wins | high_wins):
        return None
    lowest = 0 if values[0].value < values[1].value else 1
    return lowest if asked & low_wins else 1 - lowest


def _named(options: tuple[list[str], list[str]], text: tuple[str, ...]) -> list[int]:
    """The options that the text names, in the order in which it does."""
    places = []
    for number, option in enumerate(options):
        place = position_of(option, text)
        if place < 0:
            important = [token for token in option if len(token) > 2] or option
            hits = [text.index(token) for token in important if token in text]
            place = min(hits) if len(hits) >= max(1, round(0.6 * len(important))) else -1
        if place >= 0:
            places.append((place, number))
    return [number for _, number in sorted(places)]
