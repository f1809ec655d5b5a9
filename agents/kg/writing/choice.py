"""Which examples a question is shown: the nearest ones of the bank, or the same for every question of a domain."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.encoders.base import DenseEncoder
from agents.kg.schema import Domain
from agents.kg.writing.bank import Example, load_bank, load_folder
from agents.kg.writing.similar import ExampleIndex, Neighbourhood
from agents.settings import KgWriterSettings

_ROOT = Path(__file__).parents[3]


class ExampleChoice:
    """Chooses as the settings say; the writer and the training of its adapter choose here alone.

    Raises:
        BankError: the folder of fixed examples cannot be used.
    """

    def __init__(self, settings: KgWriterSettings, dense: DenseEncoder | None) -> None:
        self._index = ExampleIndex(load_bank(), dense)
        self._fixed: dict[Domain, tuple[Example, ...]] | None = None
        if settings.selection == "fixed":
            self._fixed = load_folder(_ROOT / settings.fixed_examples)

    def warm_up(self) -> None:
        """Encode the bank, once; raises `models.manifest.WeightsMissingError`."""
        self._index.warm_up()

    def choose(
        self, questions: Sequence[str], domains: Sequence[Domain | None], count: int, *, own: bool = True
    ) -> list[Neighbourhood]:
        """For each question its domain, voted for by the nearest of the bank where it is None, and its examples.

        Args:
            questions: What is asked.
            domains: What is known of their domains.
            count: So many examples at most.
            own: Whether a question that is an example itself is shown with its calls; not where these are to be learnt.
        """
        if self._fixed is None:
            found = self._index.nearest(questions, domains, count if own else count + 1)
            found = [near if own else _without(question, near) for question, near in zip(questions, found, strict=True)]
            # The most similar one is the last.
            return [replace(near, examples=near.examples[max(0, len(near.examples) - count) :]) for near in found]
        unknown = [place for place, domain in enumerate(domains) if domain is None]
        voted = self._index.nearest([questions[place] for place in unknown], [None] * len(unknown), 0)
        of_place = dict(zip(unknown, (near.domain for near in voted), strict=True))
        chosen = [domain or of_place[place] for place, domain in enumerate(domains)]
        found = [Neighbourhood(domain, self._fixed[domain]) for domain in chosen]
        found = [near if own else _without(question, near) for question, near in zip(questions, found, strict=True)]
        return [replace(near, examples=near.examples[:count]) for near in found]


def _without(question: str, near: Neighbourhood) -> Neighbourhood:
    return replace(near, examples=tuple(example for example in near.examples if example.question != question))
