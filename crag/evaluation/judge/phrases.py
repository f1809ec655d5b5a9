"""Rules for answers in words: names, titles, phrases and sentences."""

import re

from crag.evaluation.judge.base import CLAUSE_VERB, ReadClaim, RuleDecision, sentences
from crag.text.matching import content, count_listed, found_in, normalise_text, position_of, recall, tokens, words

_HEDGE = re.compile(
    r"\bi (?:do not|don't|cannot|can't|could not|couldn't|am not able to|was not able to) "
    r"(?:have|find|determine|provide|confirm|verify|answer|know)"
    r"|\bnot (?:explicitly |directly |clearly )?(?:stated|provided|mentioned|specified|available)\b|\bunable to\b"
    r"|\bno (?:specific |clear |direct |explicit )?(?:information|mention|record|evidence)\b"
    r"|\b(?:context|source|text|article|passage|information|document|result|reference)s? (?:provided |above )?"
    r"(?:do|does|did) ?(?:not|n't)\b|\b(?:context|source|text|article|passage|document|reference)s? lacks?\b"
)
_HOWEVER = re.compile(r"\W{0,9}(?:however|but|unfortunately)\b")
_OF_ONESELF = re.compile(r"\bi\b")
_NAME = r"(?:[A-Z][\w.'’-]{0,60}|of|the|de|van|von)(?:\s{1,9}(?:[A-Z][\w.'’-]{0,60}|of|the|de|van|von)){0,4}"
_SERIES = re.compile(rf"{_NAME}(?:,\s{{1,9}}{_NAME}){{0,20}},?\s{{1,9}}and\s{{1,9}}{_NAME}")
_DENIAL = frozenset({"not", "unlike", "except", "than", "neither"})
_BEATEN = frozenset(words("beat beating defeat defeated defeating against versus vs"))
_ASKS_WINNER = re.compile(r"\bw[io]ns?\b|\bwinners?\b|\bchampions?\b|\bbeat\b|\bdefeat")
_NO_SECOND_NAME = frozenset(
    words("so more rather simply also sometimes just as known otherwise not later before after")
)
_SECOND_QUESTION = re.compile(r"\band (?:what|when|who|which|where|how)\b")
_TITLES = frozenset(
    words(
        "former president vice prime minister house senate speaker senator sen representative rep governor gov mayor "
        "judge justice secretary pope king queen prince princess sir dame lord lady saint general doctor dr professor "
        "mr mrs ms coach"
    )
)
NEEDED = 0.7
NEEDED_OF_EXPLANATION = 0.4
EXPLANATION = 9
"""With this many telling words a gold answer is an explanation, which nobody repeats word by word."""


def same_words(claim: ReadClaim) -> RuleDecision | None:
    """Equal except for case, accents, punctuation, articles, plurals and hyphens."""
    joined = "".join(claim.gold_tokens), "".join(claim.prediction_tokens)
    if joined[0] and joined[0] == joined[1]:
        return True, "the same words"
    return None


def hedged(claim: ReadClaim) -> RuleDecision | None:
    """A prediction that says it cannot tell is wrong, unless the gold answer says so too.

    One such sentence counts only if no other sentence has the gold answer. In the last sentence it also takes the
    answer back, unless it is only a note such as "I do not have newer data".
    """
    said = sentences(claim.prediction)
    hedges = [bool(_HEDGE.search(normalise_text(sentence))) for sentence in said]
    if not any(hedges) or _HEDGE.search(normalise_text(claim.gold)):
        return None
    answers = (sentence for sentence, hedge in zip(said, hedges, strict=True) if not hedge)
    wanted = claim.new_in_gold or claim.gold_tokens
    last = normalise_text(said[-1])
    takes_back = hedges[-1] and bool(_HOWEVER.match(last) or not _OF_ONESELF.search(last))
    if takes_back or not any(recall(wanted, tokens(sentence)) >= NEEDED for sentence in answers):
        return False, "the prediction says that it cannot tell"
    return None


def gold_phrase(claim: ReadClaim) -> RuleDecision | None:
    """The prediction contains the gold answer word by word, or all its words; slightly misspelt names count."""
    wanted = content(claim.gold_tokens) or list(claim.gold_tokens)
    if claim.is_sentence or not wanted:
        return None
    if count_listed(claim.prediction) > 1 or _one_of_several(claim):
        return False, "the prediction lists several answers where the gold answer is one"
    place = position_of(claim.gold_tokens, claim.prediction_tokens)
    if place >= 0 and (why := _taken_back(claim, place)):
        return False, why
    if place >= 0 or _close_together(wanted, claim.prediction_tokens) or _holds_joined(claim):
        return True, "the prediction holds the gold answer"
    if (
        3 <= len(wanted) <= 4
        and "," not in claim.gold
        and all(token.isalpha() for token in wanted)
        and position_of([wanted[0], wanted[-1]], claim.prediction_tokens) >= 0
    ):
        return True, "the prediction holds the name without its middle part"
    return None


def _close_together(wanted: list[str], said: tuple[str, ...]) -> bool:
    """All words are in a short part of the prediction, in any order."""
    span = 2 * len(wanted) + 3
    return any(recall(wanted, said[start : start + span]) == 1.0 for start in range(max(1, len(said) - span + 1)))


def _taken_back(claim: ReadClaim, place: int) -> str | None:
    """Why the gold answer at this position is not the prediction's answer."""
    before = claim.prediction_tokens[max(0, place - 3) : place]
    after = claim.prediction_tokens[place + len(claim.gold_tokens) :][:2]
    if _DENIAL.intersection(before):
        return "the prediction denies the gold answer"
    if before and before[-1] in _BEATEN and _ASKS_WINNER.search(claim.asked):
        return "the prediction names the gold answer as the loser"
    if len(after) == 1 and after[0].isdigit() and len(after[0]) < 3 and place == 0 and "(" not in claim.prediction:
        return f"the prediction continues with {after[0]}"
    if "or" in (*claim.gold_tokens, *claim.query_tokens):
        return None
    second = len(after) == 2 and after[0] == "or" and after[1] not in _NO_SECOND_NAME
    if "either" in before or (before and before[-1] == "or") or ("either" in claim.prediction_tokens and second):
        return "the prediction does not choose between the gold answer and another"
    return None


def _holds_joined(claim: ReadClaim) -> bool:
    """The prediction has the gold answer with other word boundaries: "spiderman" for "Spider-Man"."""
    wanted = "".join(claim.gold_tokens)
    if len(wanted) < 6:
        return False
    said = claim.prediction_tokens
    return any("".join(said[start:end]) == wanted for start in range(len(said)) for end in range(start + 1, start + 6))


def _one_of_several(claim: ReadClaim) -> bool:
    """The prediction starts with a series of names, "A, B and C ...", that includes the gold answer."""
    series = _SERIES.match(claim.prediction)
    if series is None:
        return False
    names = [tokens(name) for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", series[0]) if name.strip()]
    return len(names) > 1 and any(recall(claim.gold_tokens, name) == 1.0 for name in [*names[:-1], names[-1][:6]])


def nothing_but_gold(claim: ReadClaim) -> RuleDecision | None:
    """The gold answer contains everything that the prediction adds to the question.

    If the gold answer is not a sentence, the prediction must be its beginning: "Melbourne" of "Melbourne, Australia",
    but not the artist of "album by artist". A person's titles may be missing.
    """
    gold, said, new = claim.gold_tokens, claim.prediction_tokens, claim.new_in_prediction
    if 1 < len(said) < len(gold) and gold[-len(said) :] == said and _TITLES.issuperset(gold[: -len(said)]):
        return True, "the gold answer adds a title"
    sentence = claim.is_sentence or claim.gold.rstrip().endswith(".")
    if not sentence and gold[: len(said)] != said:
        return None
    if new and all(found_in(token, gold) for token in new):
        return True, "the gold answer contains all of the prediction"
    return None


def telling_words(claim: ReadClaim) -> RuleDecision | None:
    """The prediction has enough of the words that a gold sentence adds to the question."""
    wanted = _answer_part(claim) or claim.new_in_gold or content(claim.gold_tokens) or list(claim.gold_tokens)
    if not wanted:
        return None  # no letters and digits: only an identical text matches
    share = recall(wanted, claim.prediction_tokens)
    numerals = [token for token in wanted if token[0].isdigit()]
    others = [token for token in claim.new_in_prediction if token[0].isdigit() and token not in claim.gold_tokens]
    if others and not set(numerals) <= set(claim.prediction_tokens):
        return False, f"the gold answer says {', '.join(numerals)}, the prediction {', '.join(others[:3])}"
    needed = 1.0 if len(wanted) <= 2 else NEEDED if len(wanted) < EXPLANATION else NEEDED_OF_EXPLANATION
    return share >= needed, f"{share:.0%} of the gold answer's key words are in the prediction"


def _answer_part(claim: ReadClaim) -> list[str]:
    """The words of a gold sentence that answer: its subject if it is not in the question, else the words from the verb
    to the next comma. Empty if the sentence cannot be divided, or the question asks two things.
    """
    if not claim.is_sentence or _SECOND_QUESTION.search(claim.asked):
        return []
    text = normalise_text(claim.gold)
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return []
    subject, rest = re.split(r",(?!\d{3})", text[: verb.start()])[0], text[verb.end() :]
    for part in (subject, re.split(r",(?!\d{3})|\bwhich\b|\bwhile\b|\bbecause\b", rest)[0]):
        if new := claim.not_asked(tokens(part)):
            return new
    return []
