"""Checks that a program has the shape that its question asks for: the order of a sort, counts, means, totals.

A small model copies the shape of a similar example. Only general words are read; names are masked, because a title may
contain any word.
"""

import re
from collections.abc import Iterator

from agents.kg.language import Average, Call, Program, Sort
from agents.kg.masked_question import AVERAGE, HOW_MANY, TOTAL, YES_OR_NO, ask
from agents.kg.schema import Column, Domain, NumberKind, Table, Type, load_schema

_NO_SPAN = r"\b(?! (?:\w+ )?(?:day|week|month|quarter|year|decade|season|session)s?\b)"
_LATE = re.compile(r"\b(?:last|latest|newest|youngest|recent(?:ly)?|final)" + _NO_SPAN)
_EARLY = re.compile(r"\b(?:first|earliest|oldest|initial(?:ly)?|debut|original|start(?:ed)?|beg[ia]n)" + _NO_SPAN)
_HIGH = re.compile(r"\b(?:most|highs?|highest|largest|biggest|greatest|longest|top|best|max(?:imum)?|peak(?:ed)?)\b")
_LOW = re.compile(r"\b(?:least|lows?|lowest|smallest|fewest|shortest|worst|min(?:imum)?|cheapest)\b")
_COUNTED = re.compile(
    r"\b(?:more|fewer|less|most|fewest|least|times|often|ever|any|count|record|same|total|first|exceed\w*|prolific|top"
    r"|larger|bigger|smaller|higher|lower|longer|better)\b"
)
_NEVER = re.compile(r"(?!)")
_ENDS = dict.fromkeys((Type.DATE, Type.YEAR), (_EARLY, _LATE)) | dict.fromkeys((Type.NUMBER, Type.MONEY), (_LOW, _HIGH))
"""Of a type of key: the words for its low and its high end."""


def wrong_shapes(question: str, domain: Domain, program: Program) -> Iterator[str]:
    """What the program does and the question does not ask for, in words; nothing if the shape fits."""
    text, tables, table = ask(question, domain, program).text, load_schema(domain).tables, Table("", "", (), {})
    for statement in program.statements:
        if isinstance(statement, Average):
            if not AVERAGE.search(text):
                yield "a mean"
            continue
        if statement.count and not any(words.search(text) for words in (HOW_MANY, YES_OR_NO, _COUNTED)):
            yield "a count"
        if isinstance(statement, Call):
            table = tables[statement.table]
            inner = table.column(statement.select) if statement.select else None
            table = tables[inner.rows_of] if inner and inner.rows_of else table
        elif statement.key and statement.take != "all" and not statement.count:
            yield from _wrong_order(text, statement, table.column(statement.key))


def _wrong_order(text: str, sort: Sort, column: Column | None) -> Iterator[str]:
    """A sort that puts the other end first, or that gives one value where a total is asked for."""
    if column is None or column.kind is NumberKind.RANK:
        return
    other, own = _ENDS.get(column.type, (_NEVER, _NEVER))[:: 1 if sort.descending else -1]
    if other.search(text) and not own.search(text):
        yield f"the {'highest' if sort.descending else 'lowest'} {column.name} first"
    elif own in {_LOW, _HIGH} and TOTAL.search(text) and not own.search(text) and sort.take in {None, 1}:
        yield f"one {column.name} of several"
