"""Rules for answers in words: names, titles, phrases, and sentences that hold them."""

import re

from agents.matching import content, count_listed, found_in, normalise, position_of, recall, tokens, words
from evaluation.judge.case import CLAUSE_VERB, Case, Finding

_HEDGE = re.compile(
    r"\bi (?:do not|don't|cannot|can't|could not|couldn't|am not able to|was not able to) "
    r"(?:have|find|determine|provide|confirm|verify|answer|know)"
    r"|\bnot (?:explicitly |directly |clearly )?(?:stated|provided|mentioned|specified|available)\b|\bunable to\b"
    r"|\bno (?:specific |clear |direct |explicit )?(?:information|mention|record|evidence)\b"
    r"|\b(?:context|source|text|article|passage|information|document|result|reference)s? (?:provided |above )?"
    r"(?:do|does|did) ?(?:not|n't)\b|\b(?:context|source|text|article|passage|document|reference)s? lacks?\b"
)
_HOWEVER = re.compile(r"\W*(?:however|but|unfortunately)\b")
_OF_ONESELF = re.compile(r"\bi\b")
_NAME = r"(?:[A-Z][\w.'’-]*|of|the|de|van|von)(?:\s+(?:[A-Z][\w.'’-]*|of|the|de|van|von)){0,4}"
_SERIES = re.compile(rf"{_NAME}(?:,\s+{_NAME})*,?\s+and\s+{_NAME}")
_DENIAL = frozenset({"not", "unlike", "except", "than", "neither"})
_BEATEN = frozenset(words("beat beating defeat defeated defeating against versus vs"))
_ASKS_WINNER = re.compile(r"\bw[io]ns?\b|\bwinners?\b|\bchampions?\b|\bbeat\b|\bdefeat")
_NO_SECOND_NAME = frozenset(
    words("so more rather simply also sometimes just as known otherwise not later before after")
)
_SECOND_QUESTION = re.compile(r"\band (?:what|when|who|which|where|how)\b")
NEEDED = 0.7
NEEDED_OF_EXPLANATION = 0.4
EXPLANATION = 9
"""Telling words from which on a gold answer is an explanation, which nobody repeats word by word."""


def same_words(case: Case) -> Finding | None:
    """Equal but for case, accents, punctuation, articles, plurals and hyphens."""
    joined = "".join(case.gold_tokens), "".join(case.prediction_tokens)
    if joined[0] and joined[0] == joined[1]:
        return Finding(True, "the same words")
    return None


def hedged(case: Case) -> Finding | None:
    """A prediction that says it cannot tell is no answer, unless the gold answer says so too.

    What one sentence cannot tell matters where no other sentence holds the gold answer. The last sentence takes the
    answer back besides, unless it is a mere note of the kind "I do not have newer data".
    """
    hedges = [bool(_HEDGE.search(normalise(sentence))) for sentence in case.sentences]
    if not any(hedges) or _HEDGE.search(normalise(case.gold)):
        return None
    told = (sentence for sentence, hedge in zip(case.sentences, hedges, strict=True) if not hedge)
    wanted = case.new_in_gold or case.gold_tokens
    last = normalise(case.sentences[-1])
    takes_back = hedges[-1] and bool(_HOWEVER.match(last) or not _OF_ONESELF.search(last))
    if takes_back or not any(recall(wanted, tokens(sentence)) >= NEEDED for sentence in told):
        return Finding(False, "the prediction says that it cannot tell")
    return None


def gold_phrase(case: Case) -> Finding | None:
    """The gold answer stands in the prediction word by word, or all its words do; names slightly misspelt count."""
    wanted = content(case.gold_tokens) or list(case.gold_tokens)
    if case.is_sentence or not wanted:
        return None
    if count_listed(case.prediction) > 1 or _one_of_several(case):
        return Finding(False, "the prediction lists several answers where the gold answer is one")
    place = position_of(case.gold_tokens, case.prediction_tokens)
    if place >= 0 and (why := _longer_title(case) or _taken_back(case, place)):
        return Finding(False, why)
    if place >= 0 or _close_together(wanted, case.prediction_tokens) or _holds_joined(case):
        return Finding(True, "the prediction holds the gold answer")
    if (
        3 <= len(wanted) <= 4
        and "," not in case.gold
        and all(token.isalpha() for token in wanted)
        and position_of([wanted[0], wanted[-1]], case.prediction_tokens) >= 0
    ):
        return Finding(True, "the prediction holds the name without its middle part")
    return None


def _close_together(wanted: list[str], said: tuple[str, ...]) -> bool:
    """All the words are there, in any order, and some stretch of the prediction not much longer holds them."""
    span = 2 * len(wanted) + 3
    return any(recall(wanted, said[start : start + span]) == 1.0 for start in range(max(1, len(said) - span + 1)))


def _taken_back(case: Case, place: int) -> str | None:
    """Why the gold answer, which stands there in the prediction, is not what the prediction answers."""
    before = case.prediction_tokens[max(0, place - 3) : place]
    after = case.prediction_tokens[place + len(case.gold_tokens) :][:2]
    if _DENIAL.intersection(before):
        return "the prediction denies the gold answer"
    if before and before[-1] in _BEATEN and _ASKS_WINNER.search(case.query.lower()):
        return "the prediction names the gold answer as the loser"
    if len(after) == 1 and after[0].isdigit() and len(after[0]) < 3 and place == 0 and "(" not in case.prediction:
        return f"the prediction goes on with {after[0]}"
    if "or" in (*case.gold_tokens, *case.query_tokens):
        return None
    second = len(after) == 2 and after[0] == "or" and after[1] not in _NO_SECOND_NAME
    if "either" in before or (before and before[-1] == "or") or ("either" in case.prediction_tokens and second):
        return "the prediction leaves the gold answer and another one open"
    return None


def _longer_title(case: Case) -> str | None:
    """Why a bare title that begins with the gold title is another work: "The Glass Harbor Returns"."""
    if not case.asks_for_work or not _TITLE_WORDS.fullmatch(case.prediction.strip(" .\"'“”")):
        return None
    said, gold = case.prediction_tokens, case.gold_tokens
    goes_on = len(said) > len(gold) and position_of(gold, said[: len(gold)]) == 0
    return "the prediction is a longer title" if goes_on and said[len(gold)] != "by" else None


_CAPITALISED = r"[A-Z][\w'’-]*"
_TITLE_WORDS = re.compile(rf"{_CAPITALISED}(?::?\s(?:{_CAPITALISED}|of|the|and|a|in|to|for|on))*:?\s{_CAPITALISED}")
"""Two words or more, of which the first, the last and all important ones are capitalised."""


def _holds_joined(case: Case) -> bool:
    """The gold answer is there in another division into words: "spiderman" for "Spider-Man"."""
    wanted = "".join(case.gold_tokens)
    if len(wanted) < 6:
        return False
    said = case.prediction_tokens
    return any("".join(said[start:end]) == wanted for start in range(len(said)) for end in range(start + 1, start + 6))


def _one_of_several(case: Case) -> bool:
    """The prediction begins with a series of names, "A, B and C ...", and the gold answer is one of them."""
    series = _SERIES.match(case.prediction)
    if series is None:
        return False
    names = [tokens(name) for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", series[0]) if name.strip()]
    return len(names) > 1 and any(recall(case.gold_tokens, name) == 1.0 for name in [*names[:-1], names[-1][:6]])


def nothing_but_gold(case: Case) -> Finding | None:
    """The prediction tells something, and all that it tells is in the gold answer.

    Of a gold answer that is not a sentence only the beginning will do: "Melbourne" of "Melbourne, Australia", but not
    the artist of "album by artist".
    """
    told = case.new_in_prediction
    sentence = case.is_sentence or case.gold.rstrip().endswith(".")
    if not sentence and tuple(case.gold_tokens[: len(case.prediction_tokens)]) != tuple(case.prediction_tokens):
        return None
    if told and all(found_in(token, case.gold_tokens) for token in told):
        if not sentence and _shorter_title(case):
            return Finding(False, "the prediction is a shorter title")
        return Finding(True, "all that the prediction tells is in the gold answer")
    return None


def _shorter_title(case: Case) -> bool:
    """The gold title goes on after what the prediction has of it: not with "by its artist", nor in another part."""
    rest = normalise(case.gold)[len(normalise(case.prediction).strip(" .")) :]
    return case.asks_for_work and bool(re.match(r" (?!by\b|from\b|featuring\b|feat\b|with\b|and\b|or\b)\w", rest))


def telling_words(case: Case) -> Finding | None:
    """Of the words by which a gold sentence goes beyond the question, enough are in the prediction."""
    wanted = _answer_part(case) or case.new_in_gold or content(case.gold_tokens) or list(case.gold_tokens)
    if not wanted:
        return None  # no letter and no digit: only the very same text can meet it
    share = recall(wanted, case.prediction_tokens)
    numerals = [token for token in wanted if token[0].isdigit()]
    others = [token for token in case.new_in_prediction if token[0].isdigit() and token not in case.gold_tokens]
    if others and not set(numerals) <= set(case.prediction_tokens):
        return Finding(False, f"the gold answer tells {', '.join(numerals)}, the prediction {', '.join(others[:3])}")
    needed = 1.0 if len(wanted) <= 2 else NEEDED if len(wanted) < EXPLANATION else NEEDED_OF_EXPLANATION
    return Finding(share >= needed, f"{share:.0%} of the gold answer's telling words are in the prediction")


def _answer_part(case: Case) -> list[str]:
    """Of a gold sentence, the words that answer: its subject if the question does not name it, else what follows the
    verb up to the next comma. Empty where the sentence does not divide so, or the question asks two things.
    """
    if not case.is_sentence or _SECOND_QUESTION.search(case.query.lower()):
        return []
    text = normalise(case.gold)
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return []
    subject, rest = re.split(r",(?!\d{3})", text[: verb.start()])[0], text[verb.end() :]
    for part in (subject, re.split(r",(?!\d{3})|\bwhich\b|\bwhile\b|\bbecause\b", rest)[0]):
        new = [token for token in content(tokens(part)) if not found_in(token, case.query_tokens)]
        if new:
            return new
    return []
