"""Rules for questions with a choice: yes or no, this or that."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from crag.evaluation.judge.base import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.beside_numbers import ORDINARY_WORDS
from crag.evaluation.judge.reading import AnswerQuantity, plain_text, read_answer
from crag.evaluation.judge.reading.denial import without_denied
from crag.evaluation.judge.reading.polarity import read_leading_word, read_polarity
from crag.evaluation.judge.reading.units import in_base_unit
from crag.text.matching import content, found_in, position_of, recall, words

_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot|neither|fail(?:s|ed)?|refuse[sd]?|yet\sto)\b|n't\b")
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|most|least|than|first|1th|last|before|after|earlier|later|better|best|higher|highest|lower|larger|"
    r"largest|bigger|biggest|longer|longest|older|oldest|younger|taller|tallest|smaller|shorter|greater|win(?:s|ner)?)\b"
)
# Words that compare. Of two years `_EARLY` words pick the smaller one and `_LATE` words the larger;
# of two other numbers `_LITTLE` words pick the smaller one and `_MUCH` words the larger.
_EARLY = frozenset(words("older oldest longer longest 1th earlier before"))
_LATE = frozenset(words("younger youngest newer later latest after recently"))
_MUCH = frozenset(words("more most larger largest longer longest higher highest bigger biggest greater taller older"))
_LITTLE = frozenset(words("less fewer fewest least smaller smallest lower lowest shorter shortest younger cheaper"))

_OPPOSITES = (
    _MUCH | _EARLY | {"faster", "heavier", "better", "richer", "farther", "tallest"},
    (_LITTLE | _LATE | {"slower", "lighter", "worse", "poorer", "nearer", "newest"})
    # Their opposites, such as "dearer", are not in the first set
    - {"cheaper", "latest", "recently"},
)
"""A sentence that compares by the opposite word reverses the choice: B shorter than A is A longer than B."""

_QUESTION_WORDS = frozenset({"which", "who", "what", "how", "where", "when"})
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
_OPTION_EDGE = re.compile(r"[,;:?]|\bbetween\b|\bof these\b|\bis\b|\bdoes\b|\bdid\b|\bhas\b|\bwas\b|\bare\b|\bwere\b")
_BETWEEN = re.compile(r"\b(?:between|of|out of) (?P<first>[^,?]{1,200}) and (?P<second>[^,?]{1,200}?)(?=,|$)")
"""Two options that a question compares."""
_ASKS_WHICH = re.compile(r"\b(?:which|who|whose|what)\b")
_ENDS_HERE = re.compile(r"\s{0,9}(?:[,.;:!(-]|$)")
_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\bwhile\b|\bwhereas\b|\band\b")
"""What divides a text into parts about one option each; not the comma of "1, 204"."""

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
        "played:play"
    )
)
"""Irregular past forms of common verbs: "he won it" repeats "did he win it?"."""
RESTATED = 0.8
"""A prediction with so many of the question's words is about the question."""
LONGEST_OPTION = 8
"""Tokens; what is longer is a clause and no option."""


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
        return is_yes is gold_is_yes, f"the gold answer says {gold_word}, the prediction {_YES_OR_NO[is_yes]}"
    if not claim.asks_yes_or_no:
        return None

    if not gold_is_yes and (_says_opposite(claim) or _names_other_subject(claim)):
        return True, "the gold answer says no, the prediction says the opposite of the question"

    # No clear reply: "he won it" can still answer "did he win it?"
    is_negated = bool(_NEGATION.search(claim.prediction_reading.plain))
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


def _repeats_question(claim: ReadClaim) -> bool:
    """Whether the prediction has most words of the question, verbs in any tense."""
    # "can" and "still" do not survive in an answer
    question_words = [_in_present(token) for token in content(claim.query_tokens) if token not in _NOT_REPEATED]
    prediction_words = [_in_present(token) for token in claim.prediction_tokens]
    if _PRONOUN_SUBJECT.match(claim.prediction_reading.plain):
        # "She wrote it" and "it was not Ann": all that it says is in the question.
        new = [
            token
            for token in map(_in_present, content(claim.prediction_tokens))
            if not found_in(token, question_words) and token not in _NEGATED_TOKENS
        ]
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
    if _NEGATION.search(claim.prediction_reading.plain) or _PRONOUN_SUBJECT.match(claim.prediction_reading.plain):
        return False
    asked = [_in_present(token) for token in content(claim.query_tokens)]
    said = [_in_present(token) for token in claim.prediction_tokens]
    subject = list(takewhile(lambda token: not found_in(token, said), asked))
    predicate = asked[len(subject) :]
    is_other = bool(said) and not found_in(said[0], asked)
    return is_other and bool(subject) and len(predicate) > 1 and recall(predicate, said) == 1.0


def _says_opposite(claim: ReadClaim) -> bool:
    """Whether the prediction says of the same subject what excludes the question: "they lost" to "did they win?"."""
    if _NEGATION.search(claim.prediction_reading.plain):
        return False
    asked = {_in_present(token) for token in claim.query_tokens}
    said = {_in_present(token) for token in claim.prediction_tokens}
    if not _PRONOUN_SUBJECT.match(claim.prediction_reading.plain) and not said & set(content(claim.query_tokens)):
        return False
    for verbs, opposites in _OPPOSITE_VERBS:
        for one, other in ((verbs, opposites), (opposites, verbs)):
            if asked & one and not asked & other and said & other and not said & one:
                return True
    return False


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
    (_MUCH, _LITTLE),
)
"""Words of which one excludes the other: "she lost" says no to "did she win?"."""


# --- this or that -----------------------------------------------------------------------------------------------------


class Options(NamedTuple):
    """The tokens of the two options of a question."""

    first: list[str]
    second: list[str]


def this_or_that(claim: ReadClaim) -> RuleDecision | None:
    """For "which is longer, A or B?": both must pick the same option; a number for each may pick one."""
    options = _read_options(claim.query)
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


def _read_options(query: str) -> Options | None:
    """The options of a question: the words on both sides of its last "or", or of the "and" after "between", without
    shared words.
    """
    lowered = plain_text(query).strip(" ?.")
    # The last "or": an earlier one can be a part of the question
    before, _, after = lowered.rpartition(" or ")
    between = _BETWEEN.search(lowered)
    if between is not None and not before and _ASKS_WHICH.search(lowered) and _COMPARES.search(lowered):
        before = between["first"]
        after = between["second"]

    # The first option begins after the last edge, the second ends at the next one
    after_edge = _OPTION_EDGE.split(before)[-1]
    before_tokens = read_answer(after_edge if after_edge.strip() else before).tokens
    after_tokens = read_answer(_OPTION_EDGE.split(after)[0]).tokens
    # Of "the Orle river or the Tann river" only Orle and Tann tell
    shared = set(before_tokens) & set(after_tokens)
    first = [token for token in before_tokens if token not in shared]
    second = [token for token in after_tokens if token not in shared]

    # Before "or" there is more of the question than the option: as many words as the other option has.
    if len(first) > len(second) + 3:
        first = first[-len(second) :]
    if not first or not second or len(second) > LONGEST_OPTION or _QUESTION_WORDS.intersection(first):
        return None
    return Options(first, second)


def _find_pick(options: Options, text: str, query: str) -> int | None:
    """The option that the text picks: the only one it names, or the first in its last comparing sentence."""
    winner = _read_winner(options, text) if _ASKS_WINNER.search(query.lower()) else None
    if winner is not None:
        return winner

    # Options that are named at all, and those that are not denied
    picks = _named_options(options, read_answer(text).tokens)
    affirmed_text = without_denied(text)
    affirmed = picks if affirmed_text == text else _named_options(options, read_answer(affirmed_text).tokens)
    if not picks:
        return _read_ordinal_pick(text)
    if len(picks) == 1:
        # "Not the Nile" and "the Nile is shorter" are the other one
        is_short_opposite = len(read_answer(text).tokens) <= LONGEST_OPTION and _compares_by_opposite(query, text)
        return picks[0] if bool(affirmed) is not is_short_opposite else 1 - picks[0]
    if len(affirmed) == 1:
        return affirmed[0]

    # The conclusion comes last
    for sentence in reversed(_split_clauses(text)):
        reading = read_answer(sentence)
        picks = _named_options(options, reading.tokens)
        if picks and _COMPARES.search(reading.plain) and not _SAME.search(reading.plain):
            # "A is not longer than B" and "A is shorter than B" pick B, "A is not shorter than B" picks A.
            is_negated = bool(_NEGATION.search(reading.plain))
            is_reversed = _compares_by_opposite(query, reading.plain) is not is_negated
            return 1 - picks[0] if len(picks) == 2 and is_reversed else picks[0]
    return _pick_by_numbers(options, text, query)


def _read_winner(options: Options, text: str) -> int | None:
    """Who won by "Orle beat Tann", "Tann lost to Orle" or "Tann lost"; None for any other text."""
    tokens = read_answer(text).tokens
    named = _named_options(options, tokens)
    # "Not Orle" and "Orle never beat Tann" are for the general reading
    if not named or _NEGATION.search(plain_text(text)):
        return None

    first = named[0]
    start = _position_of_option(options[first], tokens)
    end = _position_of_option(options[1 - first], tokens) if len(named) == len(options) else len(tokens)
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
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+|;", text) if part.strip()]


def _compares_by_opposite(query: str, sentence: str) -> bool:
    """Whether the sentence compares by the opposite words of the question."""
    query_words = set(re.findall(r"[a-z]+", plain_text(query)))
    sentence_words = set(re.findall(r"[a-z]+", plain_text(sentence)))
    # A text with words of both sides says nothing clear
    query_sides = [bool(query_words & words) for words in _OPPOSITES]
    sentence_sides = [bool(sentence_words & words) for words in _OPPOSITES]
    return sorted(query_sides) == [False, True] and sentence_sides == query_sides[::-1]


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
    low_wins, high_wins = (_EARLY, _LATE) if first[0].year_like else (_LITTLE, _MUCH)
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
        options_in_part = _named_options(options, read_answer(part).tokens)
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


def _named_options(options: Options, text: tuple[str, ...]) -> list[int]:
    """The options that the text names, 0 and 1, in the order in which it names them."""
    positions: list[tuple[int, int]] = []
    for option_index, option in enumerate(options):
        position = _position_of_option(option, text)
        if position >= 0:
            positions.append((position, option_index))
    return [option_index for _, option_index in sorted(positions)]


def _position_of_option(option: Sequence[str], text: tuple[str, ...]) -> int:
    """Where the text has the option, or most of its longer words; -1 if it has not."""
    position = position_of(option, text)
    if position >= 0:
        return position

    # Short words such as "of" occur anywhere
    important = [token for token in option if len(token) > 2] or option
    hits = [text.index(token) for token in important if token in text]
    return min(hits) if len(hits) >= max(1, round(0.6 * len(important))) else -1
