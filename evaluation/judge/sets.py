"""The rule for answers that are sets of items: the same items in any order, none missing, none added."""

import re

from agents.matching import content, count_listed, normalise, recall, split_list, tokens
from evaluation.judge.reading import CLAUSE_VERB, ReadClaim, RuleDecision

_ASKS_SET = re.compile(
    r"\b(?:which|what) (?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\b"
    r"|\b(?:what|who|which|who all) (?:are|were|have|has)\b|\b(?:list|names?|all|members|every|each|top \d+)\b"
    r"|\bwho (?:all )?(?:played|produced|wrote|directed|starred|held|won)\b"
    r"|\b(?:what|which) (?:\w+ ){0,3}(?!(?:was|is|has|does|this)\b)\w+[^s\W]s "
    r"(?:are|were|have|had|did|do|won|play|make)\b"
)
_RELATIVE = re.compile(r",\s*(?:who|which|whose|where)\b[^,]*(?:,|$)")
"""A clause between commas that only describes: "ann lee, who plays for rome, won"."""


def same_items(claim: ReadClaim) -> RuleDecision | None:
    """Every item of the gold set must be in the prediction, and the prediction may list no further ones.

    Items are what commas, semicolons and "and" separate. An item is in the prediction when its words are; a name also
    without its middle parts, and slightly misspelt.
    """
    items = gold_items(claim)
    if items is None:
        return None
    missing = [item for item in items if not _has(claim.prediction_tokens, item)]
    if missing:
        return RuleDecision(False, f'of {len(items)} items the prediction lacks "{" ".join(missing[0])}"')
    listed = max(count_listed(claim.prediction), _bare_items(claim.prediction))
    if listed > len(items):
        return RuleDecision(False, f"the prediction has all {len(items)} items, but lists {listed}")
    return RuleDecision(True, f"the prediction has all {len(items)} items")


def gold_items(claim: ReadClaim) -> list[list[str]] | None:
    """The items of the gold answer as tokens, or None where it is not a set."""
    if not _ASKS_SET.search(claim.asked):
        return None
    text = re.sub(r"\([^)]*\)", " ", normalise(claim.gold)).strip(" .")
    quoted = [item for item in re.findall(r'"([^"]+)"', text) if f'"{item}"' not in normalise(claim.query)]
    if len(quoted) > 1:
        return [content(tokens(item)) or list(tokens(item)) for item in quoted]
    if not claim.is_sentence:
        return _usable([content(tokens(part)) for part in split_list(text)])
    text = _RELATIVE.sub(" ", text)
    verb = CLAUSE_VERB.search(text)
    if verb is None:
        return None
    return _items_of_clause(claim, text[: verb.start()]) or _items_of_clause(claim, text[verb.end() :])


def _items_of_clause(claim: ReadClaim, text: str) -> list[list[str]] | None:
    """The items of one side of a sentence's verb: without words of the question, and none made of those alone."""
    parts = [tokens(part) for part in split_list(text)]
    new = [claim.not_asked(part) for part in parts if content(part)]
    new = [[token for token in item if not token[0].isdigit()] or item for item in new]  # years beside names
    return None if any(not item for item in new) else _usable(new)


def _usable(items: list[list[str]]) -> list[list[str]] | None:
    items = [item for item in items if item]
    return items if len(items) > 1 and all(len(item) <= 7 for item in items) else None


def _bare_items(prediction: str) -> int:
    """How many short items a prediction has that is nothing but a list: "red, white and blue"; 0 for a sentence."""
    text = re.sub(r"\([^)]*\)", " ", normalise(prediction)).strip(" .")
    parts = [content(tokens(part)) for part in split_list(text)]
    return len(parts) if not CLAUSE_VERB.search(text) and all(0 < len(part) <= 4 for part in parts) else 0


def _has(text: tuple[str, ...], item: list[str]) -> bool:
    if recall(item, text) == 1.0:
        return True
    return len(item) > 2 and recall([item[0], item[-1]], text) == 1.0
