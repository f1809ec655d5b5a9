"""The rule for questions that offer two options: "which is longer, A or B?"."""

import re

from crag.evaluation.judge.opposites import EARLY, LATE, LITTLE, MUCH, are_on_opposite_sides
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import AnswerQuantity, plain_text, read_answer
from crag.evaluation.judge.reading.denial import without_denied
from crag.evaluation.judge.reading.patterns import SENTENCE_EDGE
from crag.evaluation.judge.reading.units import in_base_unit
from crag.evaluation.judge.two_options import (
    COMPARES,
    LONGEST_OPTION,
    Options,
    named_options,
    position_of_option,
    read_options,
)
from crag.evaluation.judge.yes_or_no import SAYS_NO

_OPPOSITES = (
    MUCH | EARLY | {"faster", "heavier", "better", "richer", "farther", "tallest"},
    (LITTLE | LATE | {"slower", "lighter", "worse", "poorer", "nearer", "newest"})
    # Their opposites, such as "dearer", are not in the first set
    - {"cheaper", "latest", "recently"},
)
"""A sentence that compares by the opposite word reverses the choice: B shorter than A is A longer than B."""

_BOUND = re.compile(r"\b(?:at\s(?:least|most)|(?:no\s)?(?:more|less|fewer)\sthan)\s(?=[$€£¥]?\d)")
"""Before a number these words compare nothing: "A has at least 66"."""
_NEITHER = re.compile(r"\W{0,9}(?:neither|none)\b(?!\sother)")
_BOTH = re.compile(r"\W{0,3}both(?:\sof\s(?:them|these))?\W{0,3}")
_SAME = re.compile(r"\b(?:same|equal(?:ly)?|tied?|as well)\b")
_ASKS_WINNER = re.compile(r"\bw[io]ns?\b|\bwinners?\b|\bbeat\b|\bdefeat\w*")
_LOSES = re.compile(r"\blos[et]s?\b|\b(?:beaten|beat|defeated|outscored|eliminated)\sby\b|\bfell\s(?:to|against)\b")
_BEATS = re.compile(
    r"\b(?:beat|beating|defeat\w*|over|outscored|eliminated|(?:won|win|victory|victorious)\s(?:against|over))\b"
)
_ORDINAL_PICK = re.compile(
    r"\W{0,3}(?:it\s(?:is|was)\s|it's\s)?(?:the\s)?(?:(?P<first>former|first|1th)|latter|second|2th)(?:\s(?:one|1|option))?\W{0,3}"
)
_PART_OF_SENTENCE = re.compile(SENTENCE_EDGE + r"|\n+|;|,\s(?!\d{3}\b)|\bwhile\b|\bwhereas\b|\band\b")
"""What divides a text into parts about one option each; not the comma of "1, 204"."""


def this_or_that(claim: ReadClaim) -> RuleDecision | None:
    """For "which is longer, A or B?": both must pick the same option; a number for each may pick one."""
    options = read_options(claim.query)
    if options is None:
        return None

    without_pick = _agree_on_no_pick(claim)
    if without_pick is not None:
        return without_pick

    gold_pick = _find_pick(options, claim.gold, claim.query)
    if gold_pick is None:
        return None
    pick = _find_pick(options, claim.prediction, claim.query)
    if pick is None:
        return False, "the prediction picks neither option"

    # "A, with 300 goals" against "A, with 120 goals"
    if pick == gold_pick and _gives_different_numbers(claim):
        return False, "the prediction picks the same option as the gold answer, but by other numbers"
    gold_choice = "too" if pick == gold_pick else "the other"
    return pick == gold_pick, f'the prediction picks "{" ".join(options[pick])}", the gold answer {gold_choice}'


def _agree_on_no_pick(claim: ReadClaim) -> RuleDecision | None:
    """Compares answers that pick neither option, "they are equally long" and "neither"; None if the gold one picks."""
    if all(_SAME.search(reading.plain) for reading in (claim.gold_reading, claim.prediction_reading)):
        return True, "both say that there is no difference"
    if _BOTH.fullmatch(claim.gold_reading.plain) and _SAME.search(claim.prediction_reading.plain):
        return True, "both say that there is no difference"
    if _NEITHER.match(claim.gold_reading.plain) is None:
        return None
    is_neither = _NEITHER.match(claim.prediction_reading.plain) is not None
    return is_neither, f"the gold answer picks neither option, the prediction {'too' if is_neither else 'picks one'}"


def _gives_different_numbers(claim: ReadClaim) -> bool:
    """Whether both give numbers and each has some that the other lacks: the reason is part of the gold answer."""
    if not claim.is_sentence:
        return False
    gold = [number for number in claim.gold_numbers if not number.ordinal]
    predicted = [number for number in claim.prediction_numbers if not number.ordinal]
    # A prediction may leave the reason out
    if len(predicted) < len(gold):
        return False
    return bool(numbers_not_in(gold, predicted) and numbers_not_in(predicted, gold))


def _find_pick(options: Options, text: str, query: str) -> int | None:
    """The option that the text picks, 0 or 1: the only one it names, or the first in its last comparing sentence."""
    winner = _read_winner(options, text) if _ASKS_WINNER.search(query.lower()) else None
    if winner is not None:
        return winner

    named = named_options(options, read_answer(text).tokens)
    affirmed = named_options(options, read_answer(without_denied(text)).tokens)
    if not named:
        return _read_ordinal_pick(text)
    if len(named) == 1:
        return _pick_by_only_option(named[0], text, query, is_affirmed=bool(affirmed))
    if len(affirmed) == 1:
        return affirmed[0]

    pick = _pick_by_conclusion(options, text, query)
    return _pick_by_numbers(options, text, query) if pick is None else pick


def _pick_by_only_option(option: int, text: str, query: str, *, is_affirmed: bool) -> int:
    """The only option that the text names, or the other one: "not the Nile", "the Nile is shorter"."""
    is_short = len(read_answer(text).tokens) <= LONGEST_OPTION
    is_reversed = is_short and _compares_by_opposite(query, text)
    return option if is_affirmed is not is_reversed else 1 - option


def _pick_by_conclusion(options: Options, text: str, query: str) -> int | None:
    """The option that wins in the last clause that compares; None without such a clause."""
    for clause in reversed(_split_clauses(text)):
        reading = read_answer(clause)
        named = named_options(options, reading.tokens)
        if not named or not COMPARES.search(_BOUND.sub(" ", reading.plain)) or _SAME.search(reading.plain):
            continue

        # "A is not longer than B" and "A is shorter than B" pick B, "A is not shorter than B" picks A.
        is_negated = bool(SAYS_NO.search(reading.plain))
        is_reversed = _compares_by_opposite(query, reading.plain) is not is_negated
        return 1 - named[0] if len(named) == 2 and is_reversed else named[0]
    return None


def _read_winner(options: Options, text: str) -> int | None:
    """Who won by "Orle beat Tann", "Tann lost to Orle" or "Tann lost"; None for any other text."""
    tokens = read_answer(text).tokens
    named = named_options(options, tokens)
    # "Not Orle" and "Orle never beat Tann" are for the general reading
    if not named or SAYS_NO.search(plain_text(text)):
        return None

    first = named[0]
    start = position_of_option(options[first], tokens)
    end = position_of_option(options[1 - first], tokens) if len(named) == len(options) else len(tokens)
    verb = " ".join(tokens[start:end])
    if _LOSES.search(verb):
        return 1 - first
    return first if len(named) == len(options) and _BEATS.search(verb) else None


def _read_ordinal_pick(text: str) -> int | None:
    """The option of "the former" or "the second one"; None for any other text."""
    match = _ORDINAL_PICK.fullmatch(plain_text(text))
    if match is None:
        return None
    return 0 if match["first"] else 1


def _split_clauses(text: str) -> list[str]:
    return [part for part in re.split(SENTENCE_EDGE + r"|\n+|;", text) if part.strip()]


def _compares_by_opposite(query: str, sentence: str) -> bool:
    """Whether the sentence compares by the opposite words of the question."""
    query_words = set(re.findall(r"[a-z]+", plain_text(query)))
    sentence_words = set(re.findall(r"[a-z]+", _BOUND.sub(" ", plain_text(sentence))))
    return are_on_opposite_sides(query_words, sentence_words, _OPPOSITES)


def _pick_by_numbers(options: Options, text: str, query: str) -> int | None:
    """The option that wins by the numbers that the text gives, if it gives some for each."""
    numbers = _numbers_by_option(options, text)
    if numbers is None:
        return None

    first, second = numbers
    # A year and a length cannot be compared
    if first[0].year_like != second[0].year_like:
        return None

    query_words = set(re.findall(r"\w+", plain_text(query)))
    # "older" asks for the smaller year, but for the larger age
    low_wins, high_wins = (EARLY, LATE) if first[0].year_like else (LITTLE, MUCH)
    # For two lengths such as 7 ft 6 and 7 ft 1 the later numbers decide.
    first_values = [_comparable_value(number) for number in first]
    second_values = [_comparable_value(number) for number in second]
    if first_values == second_values or not query_words.intersection(low_wins | high_wins):
        return None

    lowest = 0 if first_values < second_values else 1
    return lowest if query_words & low_wins else 1 - lowest


def _comparable_value(number: AnswerQuantity) -> float:
    """The value in the base unit of the number's dimension; without a unit as it is."""
    return in_base_unit(number.value, number.units[0]) if number.units else number.value


def _numbers_by_option(options: Options, text: str) -> tuple[list[AnswerQuantity], list[AnswerQuantity]] | None:
    """The first numbers that the text gives for each option; None if one has none, or a part names both.

    A number belongs to the option that was named before it.
    """
    option_tokens = {*options.first, *options.second}
    by_option: dict[int, list[AnswerQuantity]] = {}
    # Carries over: "Orle. It is 300 km long" gives Orle's number in the next part
    option = None
    for part in _PART_OF_SENTENCE.split(text):
        options_in_part = named_options(options, read_answer(part).tokens)
        if len(options_in_part) > 1:
            return None
        if options_in_part:
            option = options_in_part[0]

        numbers = [number for number in read_answer(part).quantities if f"{number.value:g}" not in option_tokens]
        if option is not None and numbers and option not in by_option:
            # "300 km in 1990": the year only dates the number
            by_option[option] = [number for number in numbers if not number.year_like] or numbers

    if len(by_option) < 2:
        return None
    return by_option[0], by_option[1]
