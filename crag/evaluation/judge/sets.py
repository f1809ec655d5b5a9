"""The rule for gold answers that are sets of items."""

import re
from collections.abc import Iterable, Sequence

from crag.evaluation.judge.read_claim import CLAUSE_VERB, ReadClaim, RuleDecision, first_sentence
from crag.evaluation.judge.reading import plain_text, read_answer
from crag.evaluation.judge.reading.name_series import name_series
from crag.evaluation.judge.short_names import names_siblings
from crag.text.matching import content, count_listed, position_of, recall, split_list

_AUXILIARY = r"(?:did|do|does|is|are|was|were|has|have|had|can|could|will|would)"
"""After it comes no plural that is asked for: "which city did chris leave"."""
_NOT_PLURAL = (
    "was|is|has|does|this|tennis|sports|business|news|physics|series|politics|economics|mathematics|arts|awards|games"
    "|olympics|species|states"
)
"""Words in -s that are often followed by the noun of a question, "which tennis player", or are verbs."""
_ASKS_SET = re.compile(
    rf"""
    \b(?:which|what)\ (?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\b
    | \b(?:what|who|which|who\ all)\ (?:are|were|have|has)\b
    | \b(?:list|names?|all|members|every|each|top\ \d+)\b
    | \bare\W*\Z    # "the three largest cities are ...?"
    | \bwho\ (?:all\ )?(?:played|produced|wrote|directed|starred|held|won)\b
    # A plural before the verb, "which french films won"; not "which boss has", "what was his".
    | \b(?:what|which)\ (?:(?!{_AUXILIARY}\b)\w+\ ){{0,3}}(?!(?:{_NOT_PLURAL})\b)\w+[^s\W]s
      \ (?!(?:is|was|has|does)\b)\w
    """,
    re.VERBOSE,
)
_RESPECTIVELY = re.compile(r",?\s(?:respectively|in that order)\b")
_EITHER = re.compile(r"\beither\b.{1,200}\bor\b", re.DOTALL)
LONGEST_ITEM = 7
"""Tokens; what is longer is a part of a sentence and no item."""


def same_items(claim: ReadClaim) -> RuleDecision | None:
    """The prediction must have every item of the gold set and no others.

    Items are separated by commas, semicolons and "and". An item is in the prediction if its words are; a name also
    without its middle parts or its last word of three or more ("Fiat Chrysler"), or slightly misspelt.
    """
    items = gold_items(claim)
    if items is None:
        return None

    if names_siblings(claim):
        return True, "the prediction names both by their surname"
    missing = [item for item in items if not _has_item(claim.prediction_tokens, item, items)]
    if missing:
        return False, f'of {len(items)} items the prediction lacks "{" ".join(missing[0])}"'

    if _EITHER.search(claim.prediction_reading.plain) and not _EITHER.search(claim.gold_reading.plain):
        return False, f"the prediction does not choose between the {len(items)} items"

    # Three ways to list, and the longest list counts: lines, a bare list, names in a sentence
    listed = max(count_listed(claim.prediction), _count_bare_items(claim.prediction), _count_named_items(claim, items))
    if listed > len(items):
        return False, f"the prediction has all {len(items)} items, but lists {listed}"
    return True, f"the prediction has all {len(items)} items"


def gold_items(claim: ReadClaim) -> list[list[str]] | None:
    """The items of the gold answer as tokens, or None if it is not a set."""
    if not _ASKS_SET.search(claim.asked):
        return None

    text = _without_parentheses(claim.gold)
    # Quoted titles may have commas and "and" of their own; those of the question are no items
    quoted = [item for item in re.findall(r'"([^"]+)"', text) if f'"{item}"' not in claim.query_reading.plain]
    if len(quoted) > 1:
        return [content(read_answer(item).tokens) or list(read_answer(item).tokens) for item in quoted]

    if not claim.is_sentence:
        return _usable_items([content(read_answer(part).tokens) for part in split_list(text)])

    # The items stand before the verb, "A and B won it", or after it, "the winners were A and B"
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return None
    return _clause_items(claim, text[: verb.start()]) or _clause_items(claim, text[verb.end() :])


def _clause_items(claim: ReadClaim, clause: str) -> list[list[str]] | None:
    """The items in a part of a gold sentence; None if one of its parts adds nothing to the question."""
    items: list[list[str]] = []
    for part in split_list(clause):
        part_tokens = read_answer(part).tokens
        # Nothing but stop words between two separators
        if not content(part_tokens):
            continue
        new = claim.not_asked(part_tokens)
        if not new:
            return None
        # Years beside names are not part of the names.
        items.append([token for token in new if not token[0].isdigit()] or new)
    return _usable_items(items)


def _usable_items(items: list[list[str]]) -> list[list[str]] | None:
    items = [item for item in items if item]
    if len(items) < 2 or any(len(item) > LONGEST_ITEM for item in items):
        return None
    return items


def _count_bare_items(prediction: str) -> int:
    """The number of short items in a prediction that is only a list: "red, white and blue"; 0 for a sentence."""
    text = _without_parentheses(prediction)
    if CLAUSE_VERB.search(text):
        return 0

    # Longer parts than four words are clauses
    parts = [content(read_answer(part).tokens) for part in split_list(text)]
    return len(set(map(tuple, parts))) if all(0 < len(part) <= 4 for part in parts) else 0


def _count_named_items(claim: ReadClaim, items: list[list[str]]) -> int:
    """The number of names in the series that has an item of the gold set, without names of the question."""
    longest = 0
    for names in name_series(first_sentence(claim.prediction)):
        new_names = [name for name in names if claim.not_asked(name)]
        if any(_is_among(item, new_names) for item in items):
            longest = max(longest, len(set(map(tuple, new_names))))
    return longest


def _is_among(item: Sequence[str], names: Iterable[Sequence[str]]) -> bool:
    return any(recall(item, name) == 1.0 for name in names)


def _without_parentheses(text: str) -> str:
    text = re.sub(r"\([^)]*\)", " ", plain_text(text))
    return _RESPECTIVELY.sub(" ", text).strip(" .")


def _has_item(text: tuple[str, ...], item: list[str], items: list[list[str]]) -> bool:
    if recall(item, text) == 1.0:
        return True
    if len(item) < 3:
        return False

    # A name without its middle parts, or without its last word, unless that is another item of the set.
    shorter = item[:-1] if item[-1].isalpha() and item[:-1] not in items else item
    return recall([item[0], item[-1]], text) == 1.0 or position_of(shorter, text) >= 0
