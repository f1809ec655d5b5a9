"""Rules for questions with a choice (yes or no, this or that), and for gold answers that are sets of items."""

import re
from itertools import chain

from crag.evaluation.judge.base import CLAUSE_VERB, ReadClaim, RuleDecision, not_among
from crag.text.matching import (
    Number,
    content,
    count_listed,
    normalise_text,
    position_of,
    read_numbers,
    recall,
    split_list,
    tokens,
    words,
)

_YES_NO = re.compile(r"\W{0,9}(?:answer\s{0,9}:\s{0,9})?(?P<word>yes|no|yeah|yep|nope|correct|incorrect|true|false)\b")
_YES = frozenset({"yes", "yeah", "yep", "correct", "true"})
_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot|neither)\b|n't\b")
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|most|least|than|first|1th|last|before|after|earlier|later|better|best|higher|highest|lower|larger|"
    r"largest|bigger|biggest|longer|longest|older|oldest|younger|taller|tallest|smaller|shorter|greater|win(?:s|ner)?)\b"
)
_EARLY = frozenset(words("older oldest longer longest 1th earlier before"))
_LATE = frozenset(words("younger youngest newer later latest after recently"))
_MUCH = frozenset(words("more most larger largest longer longest higher highest bigger biggest greater taller older"))
_LITTLE = frozenset(words("less fewer fewest least smaller smallest lower lowest shorter shortest younger cheaper"))

_OPPOSITES = (
    _MUCH | _EARLY | {"faster", "heavier", "better", "richer", "farther", "tallest"},
    (_LITTLE | _LATE | {"slower", "lighter", "worse", "poorer", "nearer", "newest"})
    - {"cheaper", "latest", "recently"},
)
"""A sentence that compares by the opposite word reverses the choice: B shorter than A is A longer than B."""

_QUESTION_WORDS = frozenset({"which", "who", "what", "how", "where", "when"})
_SAME = re.compile(r"\b(?:same|equal(?:ly)?|tied?|as well)\b")
_OPTION_EDGE = re.compile(r"[,;:?]|\bbetween\b|\bof these\b|\bis\b|\bdoes\b|\bdid\b|\bhas\b|\bwas\b|\bare\b|\bwere\b")
_BETWEEN = re.compile(r"\b(?:between|of|out of) (?P<first>[^,?]{1,200}) and (?P<second>[^,?]{1,200}?)(?=,|$)")
"""Two options that a question compares."""
_ASKS_WHICH = re.compile(r"\b(?:which|who|whose|what)\b")
_ENDS_HERE = re.compile(r"\s{0,9}(?:[,.;:!(-]|$)")


def yes_or_no(claim: ReadClaim) -> RuleDecision | None:
    """The leading word decides. Without one, a negation in the prediction decides, if it is about the question."""
    gold = _YES_NO.match(normalise_text(claim.gold))
    if gold is None or not (claim.asks_yes_or_no or _ENDS_HERE.match(normalise_text(claim.gold)[gold.end() :])):
        return None  # "No Country for Old Men" is a title
    wanted = gold["word"] in _YES
    leading = _YES_NO.match(normalise_text(claim.prediction))
    if leading is not None:
        agrees = (leading["word"] in _YES) is wanted
        return agrees, f"the gold answer says {gold['word']}, the prediction {leading['word']}"
    if not claim.asks_yes_or_no:
        return None
    negated = bool(_NEGATION.search(normalise_text(claim.prediction)))
    restated = recall(content(claim.query_tokens), claim.prediction_tokens) >= 0.8
    bare = ReadClaim(claim.query, claim.gold, re.sub(r"\([^)]*\)", " ", claim.prediction))
    adds = len(bare.new_in_prediction) > 1
    if negated is wanted or not restated or (wanted and adds):
        return False, f"the gold answer says {gold['word']}, the prediction does not"
    return True, f"the gold answer says {gold['word']}, the prediction says the same in other words"


def this_or_that(claim: ReadClaim) -> RuleDecision | None:
    """For "which is longer, A or B?": both must pick the same option; a number for each may pick one."""
    options = _options(claim.query)
    if options is None:
        return None
    if all(_SAME.search(normalise_text(text)) for text in (claim.gold, claim.prediction)):
        return True, "both say that there is no difference"
    wanted = _picked(options, claim.gold, claim.query)
    if wanted is None:
        return None
    picked = _picked(options, claim.prediction, claim.query)
    if picked is None:
        return False, "the prediction picks neither option"
    if picked == wanted and _other_numbers(claim):
        return False, "the prediction picks the same option as the gold answer, but by other numbers"
    other = "too" if picked == wanted else "the other"
    return picked == wanted, f'the prediction picks "{" ".join(options[picked])}", the gold answer {other}'


def _other_numbers(claim: ReadClaim) -> bool:
    """Whether both give numbers and each has some that the other lacks: the reason is part of the gold answer."""
    both = claim.gold_numbers, claim.prediction_numbers
    gold, given = ([number for number in numbers if not number.ordinal] for numbers in both)
    return bool(not_among(gold, given) and not_among(given, gold)) and len(given) >= len(gold) and claim.is_sentence


def _options(query: str) -> tuple[list[str], list[str]] | None:
    """The options of a question: the words on both sides of its last "or", or of the "and" after "between", without
    shared words.
    """
    lowered = normalise_text(query).strip(" ?.")
    between = _BETWEEN.search(lowered)
    left, _, right = lowered.rpartition(" or ")
    if between is not None and not left and _ASKS_WHICH.search(lowered) and _COMPARES.search(lowered):
        left, right = between["first"], between["second"]
    first = list(tokens(_OPTION_EDGE.split(left)[-1] if _OPTION_EDGE.split(left)[-1].strip() else left))
    second = list(tokens(_OPTION_EDGE.split(right)[0]))
    shared = set(first) & set(second)
    first, second = ([token for token in option if token not in shared] for option in (first, second))
    if len(first) > len(second) + 3:
        first = first[-len(second) :]
    if not first or not second or len(second) > 8 or _QUESTION_WORDS.intersection(first):
        return None
    return first, second


def _picked(options: tuple[list[str], list[str]], text: str, query: str) -> int | None:
    """The option that the text picks: the only one it names, or the first in its last comparing sentence."""
    named = _named(options, tokens(text))
    if len(named) == 1:
        return named[0]
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+|;", text) if part.strip()]
    for sentence in reversed(sentences):
        cleaned = normalise_text(sentence)
        places = _named(options, tokens(sentence))
        if places and _COMPARES.search(cleaned) and not _SAME.search(cleaned):
            return 1 - places[0] if len(places) == 2 and _turned_round(query, cleaned) else places[0]
    return _implied(options, text, query)


def _turned_round(query: str, sentence: str) -> bool:
    """Whether the sentence compares by the opposite words of the question."""
    asked, said = (set(re.findall(r"[a-z]+", normalise_text(text))) for text in (query, sentence))
    sides = [(bool(asked & words), bool(said & words)) for words in _OPPOSITES]
    return sides in ([(True, False), (False, True)], [(False, True), (True, False)])


def _implied(options: tuple[list[str], list[str]], text: str, query: str) -> int | None:
    """The option that wins by the numbers that the text gives, if it gives some for each.

    A number belongs to the last named option. For two lengths such as 7 ft 6 and 7 ft 1 the later numbers decide.
    """
    by_option: dict[int, list[Number]] = {}
    option = None
    for part in re.split(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\bwhile\b|\bwhereas\b|\band\b", text):
        named = _named(options, tokens(part))
        if len(named) > 1:
            return None
        if named:
            option = named[0]
        numbers = [number for number in read_numbers(part) if f"{number.value:g}" not in chain(*options)]
        if option is not None and numbers and option not in by_option:
            by_option[option] = [number for number in numbers if not number.year_like] or numbers
    if len(by_option) < 2 or by_option[0][0].year_like != by_option[1][0].year_like:
        return None
    values = [[number.value for number in by_option[place]] for place in (0, 1)]
    asked = set(re.findall(r"\w+", normalise_text(query)))
    low_wins, high_wins = (_EARLY, _LATE) if by_option[0][0].year_like else (_LITTLE, _MUCH)
    if values[0] == values[1] or not asked.intersection(low_wins | high_wins):
        return None
    lowest = 0 if values[0] < values[1] else 1
    return lowest if asked & low_wins else 1 - lowest


def _named(options: tuple[list[str], list[str]], text: tuple[str, ...]) -> list[int]:
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


# --- sets -------------------------------------------------------------------------------------------------------------

_ASKS_SET = re.compile(
    r"\b(?:which|what) (?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\b"
    r"|\b(?:what|who|which|who all) (?:are|were|have|has)\b|\b(?:list|names?|all|members|every|each|top \d+)\b"
    r"|\bwho (?:all )?(?:played|produced|wrote|directed|starred|held|won)\b"
    r"|\b(?:what|which) (?:\w+ ){0,3}(?!(?:was|is|has|does|this)\b)\w+[^s\W]s "
    r"(?:are|were|have|had|did|do|won|play|make)\b"
)


def same_items(claim: ReadClaim) -> RuleDecision | None:
    """The prediction must have every item of the gold set and no others.

    Items are separated by commas, semicolons and "and". An item is in the prediction if its words are; a name also
    without its middle parts or its last word of three or more ("Fiat Chrysler"), or slightly misspelt.
    """
    items = gold_items(claim)
    if items is None:
        return None
    missing = [item for item in items if not _has(claim.prediction_tokens, item, items)]
    if missing:
        return False, f'of {len(items)} items the prediction lacks "{" ".join(missing[0])}"'
    listed = max(count_listed(claim.prediction), _bare_items(claim.prediction))
    if listed > len(items):
        return False, f"the prediction has all {len(items)} items, but lists {listed}"
    return True, f"the prediction has all {len(items)} items"


def gold_items(claim: ReadClaim) -> list[list[str]] | None:
    """The items of the gold answer as tokens, or None if it is not a set."""
    if not _ASKS_SET.search(claim.asked):
        return None
    text = re.sub(r"\([^)]*\)", " ", normalise_text(claim.gold)).strip(" .")
    quoted = [item for item in re.findall(r'"([^"]+)"', text) if f'"{item}"' not in normalise_text(claim.query)]
    if len(quoted) > 1:
        return [content(tokens(item)) or list(tokens(item)) for item in quoted]
    if not claim.is_sentence:
        return _usable([content(tokens(part)) for part in split_list(text)])
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return None
    return _items_of_clause(claim, text[: verb.start()]) or _items_of_clause(claim, text[verb.end() :])


def _items_of_clause(claim: ReadClaim, text: str) -> list[list[str]] | None:
    parts = [tokens(part) for part in split_list(text)]
    new = [claim.not_asked(part) for part in parts if content(part)]
    new = [[token for token in item if not token[0].isdigit()] or item for item in new]  # years beside names
    return None if any(not item for item in new) else _usable(new)


def _usable(items: list[list[str]]) -> list[list[str]] | None:
    items = [item for item in items if item]
    return items if len(items) > 1 and all(len(item) <= 7 for item in items) else None


def _bare_items(prediction: str) -> int:
    """The number of short items in a prediction that is only a list: "red, white and blue"; 0 for a sentence."""
    text = re.sub(r"\([^)]*\)", " ", normalise_text(prediction)).strip(" .")
    parts = [content(tokens(part)) for part in split_list(text)]
    return len(parts) if not CLAUSE_VERB.search(text) and all(0 < len(part) <= 4 for part in parts) else 0


def _has(text: tuple[str, ...], item: list[str], items: list[list[str]]) -> bool:
    if recall(item, text) == 1.0:
        return True
    shorter = item[:-1] if item[-1].isalpha() and item[:-1] not in items else item
    return len(item) > 2 and (recall([item[0], item[-1]], text) == 1.0 or position_of(shorter, text) >= 0)
