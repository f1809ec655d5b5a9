"""Routes by trained classifiers (NEC 2.2 has three, one per field), with one forward pass of each per batch."""

from collections.abc import Sequence

from agents.common.contracts import Query, Route
from agents.common.deadline import Deadline
from agents.questions.base import QuestionRouter, field_entry
from agents.questions.classifier import Classifier, locate_classifier
from agents.settings import EncoderRouter, SettingsError


class EncoderQuestionRouter(QuestionRouter):
    """Asks each classifier of the settings; no two may predict the same field.

    Args:
        settings: Names of the classifiers, and the batch size.
        classifiers: The classifiers, if already loaded.
    """

    def __init__(self, settings: EncoderRouter, classifiers: Sequence[Classifier] | None = None) -> None:
        self._settings = settings
        self._given = classifiers
        self._classifiers: list[Classifier] | None = None

    def check_weights(self) -> None:
        """Raise `WeightsMissingError` for missing weights, `SettingsError` if two classifiers predict one field."""
        for classifier in self._opened():
            classifier.check_weights()

    def warm_up(self) -> None:
        """Load all classifiers; raises what `check_weights` raises."""
        for classifier in self._opened():
            classifier.warm_up()

    def close(self) -> None:
        """Release the weights."""
        for classifier in self._classifiers or ():
            classifier.close()

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query; empty for a query after the deadline."""
        routes: list[Route] = [{} for _ in queries]
        size = self._settings.batch_size
        for start in range(0, len(queries), size):
            if deadline.expired:
                break
            batch = slice(start, start + size)
            for classifier in self._opened():
                for field, rows in classifier.probabilities([query.text for query in queries[batch]]).items():
                    labels = classifier.config.fields[field].labels
                    for route, row in zip(routes[batch], rows, strict=True):
                        route[field] = field_entry(labels, row)
        return routes

    def _opened(self) -> list[Classifier]:
        if self._classifiers is None:
            opened = list(self._given or ()) or [
                Classifier(locate_classifier(name)) for name in self._settings.classifiers
            ]
            fields = [field for classifier in opened for field in classifier.config.fields]
            twice = sorted({field for field in fields if fields.count(field) > 1})
            if twice:
                raise SettingsError(f'key "classifiers": {", ".join(twice)}: several classifiers predict it')
            self._classifiers = opened
        return self._classifiers
