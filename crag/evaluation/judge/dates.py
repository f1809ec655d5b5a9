"""Rules for gold answers that are whole dates: one day, a span of days, a list of days."""

import datetime as dt
import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.text.matching import content, stem, tokens

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")
_ASKS_PART = re.compile(r"\b(?:what|which) (?P<part>year|month)\b")


def same_date(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a whole date or several days: the prediction must have the same, in any notation."""
    if claim.gold_reading.day_spans:
        return _same_days(claim)
    gold_dates = claim.gold_reading.dates
    if len(gold_dates) > 1:
        return _same_list_of_days(claim)
    # Words beside the date can be the answer, unless the question asks for a date
    rest = claim.not_asked(tokens(claim.gold_reading.undated))
    if not gold_dates or (rest and not _ASKS_DATE.search(claim.asked)):
        return None
    (gold_date,) = gold_dates
    return _same_day(claim, gold_date)


def _same_day(claim: ReadClaim, gold_date: dt.date) -> RuleDecision:
    """Compares a gold answer that is one day; its year alone answers "which year?"."""
    dates = claim.prediction_reading.dates
    asked_part = _ASKS_PART.search(claim.asked)
    if not dates and asked_part:
        part = gold_date.isoformat()[:4] if asked_part["part"] == "year" else stem(f"{gold_date:%B}".lower())
        is_there = part in claim.prediction_tokens
        place = "there" if is_there else "not there"
        return is_there, f"the question asks for the {asked_part['part']} of {gold_date}: {place}"

    if not dates and not claim.prediction_numbers:
        return False, f"the prediction holds no date, the gold answer is {gold_date}"
    if gold_date in dates:
        return True, f"the prediction holds {gold_date}"
    return False, f"the prediction does not hold {gold_date}"


def _same_days(claim: ReadClaim) -> RuleDecision | None:
    """Compares a gold answer such as "July 4-6, 1939", which is nothing else or answers a question for a date."""
    spans = claim.gold_reading.day_spans
    others = [token for token in content(claim.gold_tokens) if token.isalpha() and not _MONTHS.fullmatch(token)]
    if len(spans) != 1 or (others and not _ASKS_DATE.search(claim.asked)):
        return None

    (span,) = spans
    days = f"{span.first} to {span.last}"
    predicted_spans = claim.prediction_reading.day_spans
    predicted_days = claim.prediction_reading.dates
    if not predicted_spans and not predicted_days:
        return None
    # "July 4, 1939 to July 6, 1939" names both
    if span in predicted_spans or (not predicted_spans and {span.first, span.last} <= predicted_days):
        return True, f"the prediction holds {days}"
    return False, f"the prediction does not hold {days}"


def _same_list_of_days(claim: ReadClaim) -> RuleDecision | None:
    """Compares a gold answer of several days and nothing else, "2024-01-02, 2024-01-05": all of them and no others."""
    if content(tokens(claim.gold_reading.undated)):
        return None
    gold = claim.gold_reading.listed_days
    # Days of the question are only repeated: "from 2023-10-01 on: ..."
    predicted = claim.prediction_reading.listed_days - (claim.query_reading.dates - gold)
    if not predicted:
        return None
    missing = gold - predicted
    if missing:
        return False, f"of {len(gold)} days the prediction lacks {min(missing)}"
    if predicted - gold:
        return False, f"the prediction has all {len(gold)} days, but adds {min(predicted - gold)}"
    return True, f"the prediction has all {len(gold)} days"
