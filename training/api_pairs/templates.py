"""Question templates with their calls (`templates/`), and their wording in CRAG's style.

Questions are lower case, direct or indirect, with and without a question mark. In a wording ``[a|b|]`` is a choice,
``{name}`` a gap and ``a(n)`` the fitting article. A template has wordings of several kinds; `templates/wording.toml`
puts them into sentences.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from agents.kg.trainable import Domain

FOLDER = Path(__file__).with_name("templates")
TYPO_RATE = 0.04
"""Share of questions with a typo in a common word."""
NO_MARK_RATE = 0.12
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_ARTICLE = re.compile(r"\ba\(n\) +(\w)")
_GAP = re.compile(r"\{(\w+)\}")
_LEAST_LETTERS = 5
_FIELDS = {"about", "has", "weight", "calls", "source"}


class Gap(NamedTuple):
    """The text of a gap in the question, and in the calls."""

    asked: str
    called: str


class Wording(NamedTuple):
    """One way to put a question; `kind` is a key of `templates/wording.toml`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Template:
    """Calls with gaps and their wordings.

    `about` names the filler of the gaps, `has` the key that its record must hold; `weight` is the share among the
    domain's templates. `source` is "synthetic", or "near_miss" or "none" for questions that no table answers.
    """

    name: str
    domain: Domain
    about: str
    has: str
    weight: float
    calls: str
    source: str
    wordings: tuple[Wording, ...]


@cache
def load_templates(domain: Domain) -> tuple[Template, ...]:
    """The templates of a domain."""
    entries = _toml(str(domain))["template"]
    return tuple(
        Template(
            name=f"{domain} {number} ({entry['about']})",
            domain=domain,
            about=entry["about"],
            has=entry.get("has", ""),
            weight=float(entry.get("weight", 1)),
            calls=entry.get("calls", "None").strip(),
            source=entry.get("source", "synthetic"),
            wordings=tuple(Wording(kind, text) for kind in entry if kind not in _FIELDS for text in entry[kind]),
        )
        for number, entry in enumerate(entries, start=1)
    )


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def words() -> dict[str, dict[str, Any]]:
    """The word lists."""
    return _toml("words")


def shares() -> dict[str, dict[str, float]]:
    """Tables `domain` and `without_calls`: the share of each domain, and its share of unanswerable questions."""
    return _toml("shares")


class Phraser:
    """Words questions; prefers the least used forms, so that few rows show many forms."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._used: Counter[str] = Counter()

    def question(self, wordings: tuple[Wording, ...], gaps: dict[str, Gap]) -> str:
        """A question in one of the wordings, with the gaps filled."""
        wording = self._least_used(wordings)
        sentences = tuple(Wording(wording.kind, each) for each in _toml("wording")["frames"][wording.kind])
        text = self._chosen(self._least_used(sentences).text.replace("{}", wording.text))
        if self._rng.random() < TYPO_RATE:
            text = self._with_slip(text)
        said = _GAP.sub(lambda gap: gaps[gap.group(1)].asked, text)
        said = _ARTICLE.sub(lambda article: ("an " if article.group(1) in "aeiou" else "a ") + article.group(1), said)
        said = " ".join(said.split())
        return said.removesuffix("?").rstrip() if self._rng.random() < NO_MARK_RATE else said

    def _least_used(self, wordings: tuple[Wording, ...]) -> Wording:
        least = min(self._used[str(wording)] for wording in wordings)
        chosen = self._rng.choice([wording for wording in wordings if self._used[str(wording)] <= least + 1])
        self._used[str(chosen)] += 1
        return chosen

    def _chosen(self, text: str) -> str:
        while _CHOICE.search(text):
            text = _CHOICE.sub(lambda choice: self._rng.choice(choice.group(1).split("|")), text, count=1)
        return text

    def _with_slip(self, text: str) -> str:
        """Put a typo into a word outside the gaps."""
        places = [m for m in re.finditer(r"(?<![\w{])[a-z]+(?![\w}])", text) if len(m.group()) >= _LEAST_LETTERS]
        if not places:
            return text
        place = self._rng.choice(places)
        return text[: place.start()] + slip(place.group(), self._rng) + text[place.end() :]


def slip(word: str, rng: Random) -> str:
    """The word with two letters swapped, one dropped or one doubled, never the first."""
    at = rng.randrange(1, len(word) - 1)
    match rng.randrange(3):
        case 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case 1:
            return word[:at] + word[at + 1 :]
        case _:
            return word[:at] + word[at] + word[at:]


def filled(calls: str, gaps: dict[str, Gap]) -> str:
    """A program with its gaps filled; quotes and backslashes in names are escaped."""
    return _GAP.sub(lambda gap: gaps[gap.group(1)].called.replace("\\", "\\\\").replace('"', '\\"'), calls)
