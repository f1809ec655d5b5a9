"""The words of a question, for rules that ask what kind of answer it wants: no courtesies, no names, lower case.

Names are masked, since titles hold all words there are: "the more the merrier" compares nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.kg.language import Average, Call, Program
from agents.kg.schema import Domain, load_schema

_WH = r"(?:what|when|who|whose|whom|which|where|how|why)\b"
_COURTESIES = re.compile(
    r"^(?:(?:hey|hi|please|so|and|well|i'm curious|tell me|i(?:'d| would) like to know"
    r"|(?:do|would) you (?:happen to )?know|(?:do|did|can|could|would|will|are) you (?:[a-z']+ ){0,3}?[a-z']+(?= "
    + _WH
    + r")|(?:can|could|would|will|are) you (?:please |able to )?"
    r"(?:tell|give|name|list|share|provide|say|let|identify)(?: me| us)?(?: know)?(?: with)?)[,:]? +)+"
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|will|can|could)\b"
_CIRCUMSTANCE = re.compile(
    r"^(?:in|on|during|for|at|over|throughout|within|from|as|this|last|by)\b(?! (?:which|what|whose|how)\b)"
    r"[^,?]{1,80}, +(?=" + _AUXILIARY + "|" + _WH + ")"
    r"|^when\b(?! " + _AUXILIARY + r")[^,?]{1,80}?(?:, (?=" + _WH + r")| (?=(?:what|who|which \w+) " + _AUXILIARY + "))"
)
_DIGITS = re.compile(r"\b(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?\b")
_CHOICE = re.compile(r", (?:which|who|what|how)\b|^\w+ (?:the )?@[0-9]+ or (?:the )?@[0-9]+ ")
YES_OR_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should|if)\b|\bwhether\b|\bif\b"
)
HOW_MANY = re.compile(
    r"\bhow (?:many|much|often|frequently)\b|\b(?:number|amount|count|frequency|total) of\b"
    r"|\b\w+ frequency\b|\btotal \w+s\b"
)
TOTAL = re.compile(r"\b(?:total|combined|altogether|cumulative(?:ly)?|overall|sum)\b")
AVERAGE = re.compile(r"\b(?:average|mean)\b")
WHICH = re.compile(r"\b(?:which|what|who|whose)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: `text` has "@0", "@1" ... where names stand, `names` has them in the question's own words."""

    text: str
    names: tuple[str, ...] = ()

    @property
    def core(self) -> str:
        """The text without what stands before the question itself, such as "in 2022, ..."."""
        text = _CIRCUMSTANCE.sub("", self.text)
        return _COURTESIES.sub("", _CIRCUMSTANCE.sub("", text))

    @property
    def is_yes_or_no(self) -> bool:
        """Whether it wants a yes or a no; "if i compare them, which is brighter" and "does A or B have more" do not."""
        return bool(YES_OR_NO.search(self.core)) and not _CHOICE.search(self.core)

    def mark(self, name: str) -> str | None:
        """What stands for a name in `text`, or None where the question does not have it."""
        wanted = _pattern(name)
        return next((f"@{place}" for place, written in enumerate(self.names) if wanted.fullmatch(written)), None)

    def place(self, name: str) -> int | None:
        """Where a name stands first in `text`, or None."""
        mark = self.mark(name)
        return self.text.find(mark) if mark else None

    def written(self, name: str) -> str:
        """The name as the question writes it, or as it is."""
        return next((written for written in self.names if _pattern(name).fullmatch(written)), name)


def ask(question: str, domain: Domain, program: Program) -> Asked:
    """The question with the names that the program's calls hold."""
    text = _COURTESIES.sub("", " ".join(question.lower().replace("\u2019", "'").split()))
    names: list[str] = []
    for name in sorted(set(_names(domain, program)), key=len, reverse=True):
        found = _pattern(name).search(text)
        if found is None or not name.strip():
            continue
        text = _pattern(name).sub(f"@{len(names)}", text)
        names.append(found.group())
    return Asked(text, tuple(names))


def keeps_dates(question: str, program: Program) -> bool:
    """Whether the days and months that a question writes in digits, such as 2023-01, stand in the calls."""
    return all(date in repr(program) for date in _DIGITS.findall(question))


def _names(domain: Domain, program: Program) -> Iterator[str]:
    """Names of entities in arguments, and the words of conditions, such as an award's category."""
    tables = load_schema(domain).tables
    for statement in program.statements:
        if isinstance(statement, Call):
            for argument, parameter in zip(statement.arguments, tables[statement.table].parameters, strict=False):
                if parameter.kind.is_entity:
                    yield from (argument,) if isinstance(argument, str) else _several(argument)
        if not isinstance(statement, Average):
            for condition in statement.conditions:
                if isinstance(condition.value, str) and " " in condition.value:
                    yield condition.value


def _several(argument: object) -> Sequence[str]:
    return argument if isinstance(argument, tuple) else ()


def _pattern(name: str) -> re.Pattern[str]:
    """The name with any punctuation between its words."""
    words = re.findall(r"\w+", name.casefold())
    return re.compile(r"(?<![\w@])" + r"\W+".join(map(re.escape, words)) + r"(?!\w)" if words else r"(?!)")
