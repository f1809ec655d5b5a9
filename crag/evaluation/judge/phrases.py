"""Rules for answers in words: names, titles, phrases and sentences."""

import re
from collections.abc import Sequence

from crag.evaluation.judge.base import CLAUSE_VERB, ReadClaim, RuleDecision, first_sentence, sentences
from crag.evaluation.judge.reading import plain_text, read_answer, same_quantity
from crag.evaluation.judge.reading.names import differing_sign, is_signed_name, name_series, signed_names
from crag.text.matching import content, count_listed, found_in, position_of, recall, split_list, stem, tokens, words

_HEDGE = re.compile(
    r"""
    # "I could not find ..."
    \bi\ (?:do\ not|don't|cannot|can't|could\ not|couldn't|am\ not\ able\ to|was\ not\ able\ to)
      \ (?:have|find|determine|provide|confirm|verify|answer|know)
    | \bi\ (?:can't|cannot|could\ not|couldn't)\ (?:say|tell)\b
    # "I'm not sure"
    | \b(?:not|n't)\ (?:\w+\ )?(?:sure|certain)\b | \b(?:unsure|uncertain)\b
    | \bno\ (?:idea|clue)\b
    # "it is unclear", "that cannot be determined", "hard to say"
    | \b(?:unclear|not\ clear)\b
    | \b(?:cannot|can't|could\ not|couldn't)\ be\ (?:determined|answered|verified|confirmed|found|said|known)\b
    | \b(?:hard|difficult|impossible)\ to\ (?:say|tell|know|determine)\b
    | \b(?:not\ enough|insufficient)\ (?:information|context|data|evidence)\b
    # "it is not explicitly stated"
    | \bnot\ (?:explicitly\ |directly\ |clearly\ )?(?:stated|provided|mentioned|specified|available)\b
    | \bunable\ to\b
    | \bno\ (?:specific\ |clear\ |direct\ |explicit\ )?(?:information|mention|record|evidence)\b
    # "the text above does not ...", "the passage lacks ..."
    | \b(?:context|source|text|article|passage|information|document|result|reference)s?\ (?:provided\ |above\ )?
      (?:do|does|did)\ ?(?:not|n't)\b
    | \b(?:context|source|text|article|passage|document|reference)s?\ lacks?\b
    """,
    re.VERBOSE,
)
"""A sentence that says that it cannot tell."""
_HOWEVER = re.compile(r"\W{0,9}(?:however|but|unfortunately)\b")
_BUT_ANSWER = re.compile(
    r"""
    ,?\s(?:but|however),?\s
    # Not "but Ann is mentioned"
    (?=(?:i|it|he|she|they|my|perhaps|maybe|probably|likely|most\slikely|the\sanswer)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Parts a doubt from the answer that follows: "I am not sure, but I think it was Ann Lee"."""
_FIRST_PERSON = re.compile(r"\bi\b")
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
ASKS_WHOLE_NAME = re.compile(
    r"\b(?:full|whole|complete|first|given|middle|birth|real|legal|maiden|stage)\s(?:\w+\s)?names?\b"
)
"""A question that a part of a name does not answer."""
_INITIAL_IN_MIDDLE = re.compile(r"\b(?P<first>[a-z]{2,30})\s(?P<initial>[a-z])\.?\s(?P<last>[a-z]{2,30})\b")
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
_SECOND_QUESTION = re.compile(r"\band (?:what|when|who|which|where|how)\b")
_ASKS_STATE = re.compile(r"\b(?:state|country|nation)\b")
FEWEST_DIGITS = 7
"""Of a number of a telephone or book; fewer are a score or a range."""
_GROUPED_DIGITS = re.compile(r"\+?\(?\d[\d ()-]{0,30}\d")
LONGEST_NAME = 4
"""Tokens."""
_NAMES_WITHOUT_AND = 4
_ASKS_PLACE = re.compile(r"\bwhere\b|\b(?:city|town|village|country|state|county|province|region|place|location)\b")
_GENERATIONS = frozenset(words("junior senior 2 3 4"))
_PART_WORDS = frozenset(words("part pt volume vol chapter episode season"))
_BRACKETS = re.compile(r"\([^()]{0,200}\)")
_ARTICLE = re.compile(r"(?:an?|the)\b", re.IGNORECASE)
_WORD_AND_LETTER = re.compile(r"\b(?!and\b|or\b)(\w{2,})[\s\-('\"]{1,3}a\b")
_LAST_LETTER = re.compile(rf"{_WORD_AND_LETTER.pattern}\W*\Z")
"""A letter at the end is no article: "Serie A", "blood type A"."""
_LETTER_S_OR_T = re.compile(
    r"""
    (?: \b(?P<before>[a-z]{2,})\.?[\s\-(] | \A )    # "Model T", "Mr. T"
    (?P<letter>[st])(?![\w'&./])                    # not "A/S", "S&P", nor the initial of "Harry S. Truman"
    (?: (?P<space>[\s\-])(?P<after>[a-z]{2,}) )?    # "T cells", "S-Class"
    """,
    re.VERBOSE,
)
_BEFORE_LAST = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)
NEEDED = 0.7
"""A prediction with this share of the gold answer's telling words has the answer."""
NEEDED_OF_EXPLANATION = 0.4
EXPLANATION = 9
"""With this many telling words a gold answer is an explanation, which nobody repeats word by word."""


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
    """The gold answer ends with the numeral I, and the prediction has another numeral or letter there."""
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
    return (False, f"the gold answer is {claim.gold}") if others else None


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
    """Whether a text is digits in groups, such as a telephone number: people divide them differently."""
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


def hedged_abstention(claim: ReadClaim) -> RuleDecision | None:
    """A prediction that says it cannot tell is wrong, unless the gold answer says so too.

    Only the words "i don't know" count as missing (CRAG, section 3.1): `judge_claims`. One such sentence counts only if
    no other sentence has the gold answer. In the last sentence it also takes the answer back, unless it is only a note
    such as "I do not have newer data".
    """
    if _HEDGE.search(claim.gold_reading.plain) or not _HEDGE.search(claim.prediction_reading.plain):
        return None

    hedges: list[str] = []
    answers: list[str] = []
    is_hedge = False
    for sentence in sentences(claim.prediction):
        # "I am not sure, but I think it was Ann Lee" is a hedge and an answer
        for clause in _BUT_ANSWER.split(sentence):
            is_hedge = bool(_HEDGE.search(plain_text(clause)))
            if is_hedge:
                hedges.append(clause)
            else:
                answers.append(clause)
    if not hedges:
        return None

    # `is_hedge` is that of the last clause: nothing takes the doubt back after it
    final_hedge = plain_text(hedges[-1]) if is_hedge else None
    if final_hedge and (_HOWEVER.match(final_hedge) or not _FIRST_PERSON.search(final_hedge)):
        return False, "the prediction says that it cannot tell"

    # A real answer beside the doubt is left to the later rules
    expected = claim.new_in_gold or claim.gold_tokens
    if any(recall(expected, read_answer(answer).tokens) >= NEEDED for answer in answers):
        return None
    return False, "the prediction says that it cannot tell"


# --- a gold answer that is a phrase -----------------------------------------------------------------------------------


def gold_phrase(claim: ReadClaim) -> RuleDecision | None:
    """The prediction contains the gold answer word by word, or all its words; slightly misspelt names count."""
    gold_words = content(claim.gold_tokens) or list(claim.gold_tokens)
    if claim.is_sentence or not gold_words:
        return None

    # Naming several candidates would make every guess right
    if count_listed(claim.prediction) > 1 or _is_one_of_several(claim):
        return False, "the prediction lists several answers where the gold answer is one"
    if _has_other_initial(claim):
        return False, "the prediction has another initial in the middle of the name"

    # Word by word first: only there can the words around it take it back
    position = position_of(claim.gold_tokens, claim.prediction_tokens)
    if position >= 0:
        retraction = _find_retraction(claim, position)
        return (False, retraction) if retraction else (True, "the prediction holds the gold answer")

    if _are_close_together(gold_words, claim.prediction_tokens) or _has_joined_words(claim):
        return True, "the prediction holds the gold answer"
    is_without_middle = _has_name_without_middle(claim, gold_words)
    return (True, "the prediction holds the name without its middle part") if is_without_middle else None


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
    if ASKS_WHOLE_NAME.search(claim.asked):
        return False
    return position_of([gold_words[0], gold_words[-1]], claim.prediction_tokens) >= 0


def _find_retraction(claim: ReadClaim, position: int) -> str | None:
    """Why the gold answer at this position is not the prediction's answer."""
    # Three words before and two after are enough for "not", "either" and "or"
    before = claim.prediction_tokens[max(0, position - 3) : position]
    after = claim.prediction_tokens[position + len(claim.gold_tokens) :][:2]
    if _DENIAL.intersection(before):
        return "the prediction denies the gold answer"
    another = _find_another(claim, before)
    if another:
        return another

    # "Rocky 2" is another film than "Rocky"; "Rocky (2 hours)" is not.
    goes_on_with_number = len(after) == 1 and after[0].isdigit() and len(after[0]) < 3
    if goes_on_with_number and position == 0 and "(" not in claim.prediction:
        return f"the prediction continues with {after[0]}"

    # The choice is the gold answer's or the question's own
    if "or" in (*claim.gold_tokens, *claim.query_tokens):
        return None
    goes_on_with_other = len(after) == 2 and after[0] == "or" and after[1] not in _NO_SECOND_NAME
    # "Ash (or Oak in the north)" and "Ann Lee, or Annie" give another name of the same
    is_aside = _OR_ASIDE.search(claim.prediction_reading.plain) is not None
    goes_on_with_other = goes_on_with_other and (not is_aside or "either" in claim.prediction_tokens)
    if "either" in before or (before and before[-1] == "or") or goes_on_with_other:
        return "the prediction does not choose between the gold answer and another"
    return None


def _names_another_holder(claim: ReadClaim, before: Sequence[str]) -> bool:
    """Whether a question for who is something is answered by who was: "Bo Chan succeeded Ann Lee"."""
    if not _ASKS_HOLDER.search(claim.asked) or _ASKS_SUCCESSION.search(claim.asked):
        return False
    if "former" in before or _SUCCEEDED.search(" ".join(before)):
        return True
    text = claim.prediction_reading.plain
    gold = claim.gold_reading.plain.strip(" .")
    return gold in text and _SUCCEEDED_BY.match(text, text.find(gold) + len(gold)) is not None


def _says_that_gold_lost(claim: ReadClaim) -> bool:
    """Whether "Orle lost to Tann" answers a question for the winner; not if somebody won in it too."""
    if not ASKS_WINNER.search(claim.asked):
        return False
    text = claim.prediction_reading.plain
    gold = claim.gold_reading.plain.strip(" .")
    end = text.find(gold) + len(gold)
    return gold in text and _LOST_AFTER.match(text, end) is not None and not _WON.search(text)


def _find_another(claim: ReadClaim, before: Sequence[str]) -> str | None:
    """Whom or what the prediction names instead, by the words beside the gold answer."""
    word = before[-1] if before else ""
    is_loser = word in BEATEN and ASKS_WINNER.search(claim.asked)
    if is_loser or _says_that_gold_lost(claim):
        return "the prediction names the gold answer as the loser"
    if _names_another_holder(claim, before):
        return "the prediction names somebody who came after the gold answer"
    if word in _FORMERLY and not _ASKS_PAST.search(claim.asked):
        return f"the prediction says that it was {word} {claim.gold}"
    if word in _words_of_other_places(claim) and _begins_name(claim, word):
        return f"the prediction says {word} {claim.gold}"
    return None


def _words_of_other_places(claim: ReadClaim) -> frozenset[str]:
    """Words that make another name of a name: New York is not York, West Virginia is another state than Virginia."""
    # West London is in London, and so an answer to "in which city?"
    if _ASKS_STATE.search(claim.asked):
        return frozenset({"new", "north", "south", "east", "west", "equatorial"})
    return frozenset({"new"})


def _begins_name(claim: ReadClaim, word: str) -> bool:
    """Whether the word is written as the beginning of a name, "New York", or the text has no capitals to tell."""
    text = claim.prediction
    return text.islower() or re.search(rf"\b{word.capitalize()}\s[A-Z]", text) is not None


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


def _is_one_of_several(claim: ReadClaim) -> bool:
    """The first sentence answers by a series of names, "A, B and C ...", that includes the gold answer."""
    for names in name_series(first_sentence(claim.prediction)):
        if any(recall(claim.gold_tokens, name) == 1.0 for name in names):
            return True
    return _is_item_of_bare_list(claim)


def _is_item_of_bare_list(claim: ReadClaim) -> bool:
    """Whether the prediction is nothing but names, "ann lee, bo chan and cy dean", and the gold answer one of them.

    "Orle, Kessa, Varn" is a place, and "ann lee, actress, writer and director" one person: without "and" there must be
    four names or more, and each must have two words if the gold answer has.
    """
    items = [tokens(item) for item in split_list(claim.prediction.strip(" ."))]
    if claim.gold_tokens not in items or "," in claim.gold:
        return False
    if not _is_list_of_names(claim.prediction) and (len(items) < _NAMES_WITHOUT_AND or _ASKS_PLACE.search(claim.asked)):
        return False
    fewest = min(2, len(claim.gold_tokens))
    return all(fewest <= len(item) <= LONGEST_NAME for item in items)


# --- a gold answer that says more than the prediction -----------------------------------------------------------------


def nothing_but_gold(claim: ReadClaim) -> RuleDecision | None:
    """The gold answer contains everything that the prediction adds to the question.

    If the gold answer is not a sentence, the prediction must be its beginning: "Melbourne" of "Melbourne, Australia",
    but not the artist of "album by artist", nor "Rocky" of "Rocky 2".
    """
    gold = claim.gold_tokens
    predicted = claim.prediction_tokens
    is_sentence = claim.is_sentence or claim.gold.rstrip().endswith(".")
    if not is_sentence and gold[: len(predicted)] != predicted:
        return None
    if not is_sentence and _leaves_out_part(claim):
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
    number = rest[1] if len(rest) > 1 and rest[0] in _PART_WORDS else rest[0]
    is_numbered = number.isdigit() and len(number) < len("100")
    return is_numbered or ("(" not in claim.gold and (rest[0] == "and" or _is_list_of_names(claim.gold)))


def _is_list_of_names(text: str) -> bool:
    """Whether a text lists names, as "A, B and C" does, but not "Oslo, Norway" or "A, a film about B and C"."""
    items = [item.strip() for item in split_list(text)]
    are_short = all(0 < len(tokens(item)) <= LONGEST_NAME and not _ARTICLE.match(item) for item in items)
    return len(items) > 2 and are_short and _BEFORE_LAST.search(text) is not None


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
    if len(expected) <= 2:
        needed = 1.0
    elif len(expected) < EXPLANATION:
        needed = NEEDED
    else:
        needed = NEEDED_OF_EXPLANATION
    share = recall(expected, claim.prediction_tokens)
    return share >= needed, f"{share:.0%} of the gold answer's key words are in the prediction"


def _names_other_generation(claim: ReadClaim) -> bool:
    """Whether the gold name ends with "Jr.", "Sr." or "III" and the prediction has another of these."""
    if claim.gold_tokens[-1:] == () or claim.gold_tokens[-1] not in _GENERATIONS:
        return False
    predicted = _GENERATIONS.intersection(claim.prediction_tokens)
    return bool(predicted) and claim.gold_tokens[-1] not in predicted


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
